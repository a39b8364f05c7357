import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const create = async (body: object) => (await server.call('POST', '/customers', { body })).json;
const eventsOf = (id: string) => server.sql`
  select type, object_type as "objectType", account_id as "accountId", sequence, at, data, mode
  from events where object_id = ${id} order by sequence`;

test('POST /customers answers 201 with every field', async () => {
  const reply = await server.call('POST', '/customers', { body: {} });
  expect(reply.status).toBe(201);
  expect(reply.json).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    external_customer_id: null,
    email: null,
    name: null,
    billing_address: null,
    metadata: {},
    created_at: expect.stringMatching(ISO),
    updated_at: expect.stringMatching(ISO),
  });
});

test('POST /customers writes customer.created in the same transaction', async () => {
  const made = await create({
    email: 'ada@example.com',
    name: 'Ada',
    external_customer_id: 'u_1',
    metadata: { a: 'b' },
  });
  const [event, ...rest] = await eventsOf(made.id);
  expect(rest).toEqual([]);
  expect(event).toEqual({
    type: 'customer.created',
    objectType: 'CUSTOMER',
    accountId: made.id,
    sequence: 1n,
    at: new Date(made.created_at),
    data: {
      externalCustomerId: 'u_1',
      email: 'ada@example.com',
      name: 'Ada',
      metadata: { a: 'b' },
    },
    mode: 'test',
  });
});

test('GET finds a customer by id and external id; where one is the id of another, the id wins', async () => {
  const first = await create({ external_customer_id: 'a/b c?é' });
  const shadow = await create({ external_customer_id: first.id });
  expect((await server.call('GET', `/customers/${encodeURIComponent('a/b c?é')}`)).json).toEqual(
    first,
  );
  expect((await server.call('GET', `/customers/${first.id}`)).json).toEqual(first);
  expect((await server.call('GET', `/customers/${shadow.id}`)).json).toEqual(shadow);
});

test('an external id that looks like a UUID names its customer where no customer has that id', async () => {
  const id = '01890000-0000-7000-8000-00000000abcd';
  const made = await create({ external_customer_id: id });
  expect((await server.call('GET', `/customers/${id}`)).json).toEqual(made);
});

test('PATCH of a customer writes an event with the changed fields in order, and none without change', async () => {
  const made = await create({ email: 'a@example.com', external_customer_id: 'u_2' });
  const path = '/customers/u_2';
  await server.call('PATCH', path, { body: { email: 'b@example.com', name: 'B' } });
  await server.call('PATCH', path, { body: { email: 'b@example.com' } });
  await server.call('PATCH', path, { body: { metadata: { only: 'this' } } });
  await server.call('PATCH', path, { body: {} });
  const last = await server.call('PATCH', path, {
    body: { external_customer_id: null, name: null },
  });
  expect(last.status).toBe(200);
  expect(last.json).toMatchObject({
    id: made.id,
    external_customer_id: null,
    email: 'b@example.com',
    name: null,
    metadata: { only: 'this' },
  });
  const events = await eventsOf(made.id);
  expect(events.map(({ type, sequence, data }) => [type, sequence, data.changes])).toEqual([
    ['customer.created', 1n, undefined],
    ['customer.updated', 2n, ['email', 'name']],
    ['customer.updated', 3n, ['externalCustomerId', 'name']],
  ]);
  expect(events[2]!.data).toMatchObject({
    externalCustomerId: null,
    email: 'b@example.com',
    name: null,
  });
});

const ADDRESS = {
  line1: '12 Straße “Z”',
  line2: null,
  city: 'Zürich',
  state: null,
  postal_code: '8001',
  country: 'CH',
};

test("a customer's billing address is kept as sent, replaced as a whole and cleared", async () => {
  const { line2: _, state: __, ...given } = ADDRESS;
  const made = await create({ billing_address: given });
  expect(made.billing_address).toEqual(ADDRESS);
  const path = `/customers/${made.id}`;
  const patch = async (billing_address: object | null) =>
    (await server.call('PATCH', path, { body: { billing_address } })).json.billing_address;
  // What a GET returns can be sent back.
  expect(await patch(made.billing_address)).toEqual(ADDRESS);
  const moved = await patch({ country: 'DE' });
  expect(moved).toEqual({
    line1: null,
    line2: null,
    city: null,
    state: null,
    postal_code: null,
    country: 'DE',
  });
  expect((await server.call('GET', path)).json.billing_address).toEqual(moved);
  expect(await patch({ line1: null })).toBeNull();
  expect(await patch({ city: null, country: null })).toBeNull();
  expect((await server.call('GET', path)).json.billing_address).toBeNull();
});

test("PATCH of a customer's billing address writes one event", async () => {
  const made = await create({ billing_address: { line1: 'a', country: 'CH' } });
  const patch = (body: object) => server.call('PATCH', `/customers/${made.id}`, { body });
  await patch({ billing_address: { country: 'CH', line1: 'a', city: null } });
  await patch({ billing_address: { line1: 'b', postal_code: '1' }, name: 'B' });
  await patch({ name: 'C' });
  await patch({ billing_address: null });
  await patch({ billing_address: null });
  const events = await eventsOf(made.id);
  const nowhere = { line2: null, city: null, state: null, country: null };
  const moved = { ...nowhere, line1: 'b', postalCode: '1' };
  expect(events.map(({ sequence, data }) => [sequence, data.changes, data.billingAddress])).toEqual(
    [
      // The contract has no address in customer.created.
      [1n, undefined, undefined],
      [2n, ['name', 'billingAddress'], moved],
      [3n, ['name'], moved],
      [4n, ['billingAddress'], null],
    ],
  );
});

test("timestamps of a customer's changes ascend strictly, however fast they come", async () => {
  const made = await create({});
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      server.call('PATCH', `/customers/${made.id}`, { body: { name: `n${i}` } }),
    ),
  );
  const events = await eventsOf(made.id);
  expect(events.map(({ sequence }) => Number(sequence))).toEqual(
    Array.from({ length: 21 }, (_, i) => i + 1),
  );
  const times = events.map(({ at }) => at.getTime());
  for (const [i, time] of times.entries()) if (i > 0) expect(time).toBeGreaterThan(times[i - 1]);
});

test('GET /customers lists newest first, and filters', async () => {
  const key = server.other.testKey;
  for (const n of [1, 2, 3]) {
    const body = { external_customer_id: `x${n}`, email: `${n === 2 ? 'b' : 'a'}@example.com` };
    await server.call('POST', '/customers', { key, body });
  }
  const list = async (query: string) => {
    const { json } = await server.call('GET', `/customers${query}`, { key });
    const names = json.data.map(
      (customer: { external_customer_id: string }) => customer.external_customer_id,
    );
    return [names.join(' '), json.has_more];
  };
  expect(await list('')).toEqual(['x3 x2 x1', false]);
  expect(await list('?limit=2')).toEqual(['x3 x2', true]);
  expect(await list('?limit=2&offset=1')).toEqual(['x2 x1', false]);
  expect(await list('?email=a%40example.com')).toEqual(['x3 x1', false]);
  expect(await list('?external_customer_id=x2')).toEqual(['x2', false]);
  expect(await list('?external_customer_id=x2&email=a%40example.com')).toEqual(['', false]);
  expect(await list('?email_prefix=A')).toEqual(['x3 x1', false]);
  expect(await list('?email_prefix=a&limit=1')).toEqual(['x3', true]);
  expect(await list('?email_prefix=a%40example.com')).toEqual(['x3 x1', false]);
  // No pattern: each character is itself.
  for (const none of ['%25', '_', 'example', 'c']) {
    expect(await list(`?email_prefix=${none}`)).toEqual(['', false]);
  }
});
