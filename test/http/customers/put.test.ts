// PUT /customers/{external_customer_id}: for scripts that declare the wanted state and run any
// number of times.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const put = (name: string, body: unknown = {}, call: object = {}) =>
  server.call('PUT', `/customers/${encodeURIComponent(name)}`, { body, ...call });

/** The events of a customer, oldest first. */
const told = (id: string) =>
  server.sql<{ type: string; data: Record<string, unknown> }[]>`
    select type, data from events where account_id = ${id} order by sequence`;

test('PUT makes a customer, then changes the given fields, then changes nothing', async () => {
  const body = { email: 'a@example.com', name: 'Ada', metadata: { a: 'b' } };
  const made = await put('one', body);
  expect([made.status, made.json]).toMatchObject([201, { external_customer_id: 'one', ...body }]);
  const changed = await put('one', { name: 'Ada L.' });
  expect([changed.status, changed.json]).toMatchObject([
    200,
    { ...body, id: made.json.id, name: 'Ada L.' },
  ]);
  const same = await put('one', { ...body, name: 'Ada L.', external_customer_id: 'one' });
  expect([same.status, same.text]).toEqual([200, changed.text]);
  const cleared = await put('one', { email: null });
  expect(cleared.json).toMatchObject({ email: null, name: 'Ada L.' });
  expect((await told(made.json.id)).map(({ type, data }) => [type, data['changes']])).toEqual([
    ['customer.created', undefined],
    ['customer.updated', ['name']],
    ['customer.updated', ['email']],
  ]);
});

test('of many PUTs of one customer at once, one makes it', async () => {
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, index) => put('at once', { name: `name ${index % 3}` })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([...Array.from({ length: 11 }, () => 200), 201]);
  expect(new Set(replies.map(({ json }) => json.id)).size).toBe(1);
});

test('of a PUT and a POST of one customer at once, one makes it', async () => {
  const body = { external_customer_id: 'both' };
  const [posted, ...replies] = await Promise.all([
    server.call('POST', '/customers', { body }),
    put('both'),
    put('both'),
  ]);
  const made = [posted, ...replies].filter(({ status }) => status === 201);
  expect(made).toHaveLength(1);
  expect(replies.every(({ status }) => status < 300)).toBe(true);
});

// prettier-ignore
const NAMES = ['a/b', 'a b', 'a?b#c', 'ä€😀', '100%', '%2F', '..a', "o'hare", 'a+b', 'x'.repeat(255)];

test.each(NAMES)('PUT takes %p as an external id', async (name) => {
  const made = await put(name);
  expect([made.status, made.json.external_customer_id]).toEqual([201, name]);
  expect((await put(name)).status).toBe(200);
  const { json } = await server.call('GET', `/customers/${encodeURIComponent(name)}`);
  expect(json.id).toBe(made.json.id);
});

test('PUT takes a UUID as the external id, even the id of another customer', async () => {
  const other = await put('other');
  const made = await put(other.json.id, { name: 'B' });
  expect([made.status, made.json.external_customer_id]).toEqual([201, other.json.id]);
  expect(made.json.id).not.toBe(other.json.id);
  const again = await put(other.json.id, { name: 'C' });
  expect([again.status, again.json.id]).toEqual([200, made.json.id]);
  expect((await server.call('GET', `/customers/${other.json.id}`)).json.name).toBeNull();
});

// prettier-ignore
const REFUSED: [string, string, unknown, string[]][] = [
  ['another name in the body', 'x',             { external_customer_id: 'y' },  ['external_customer_id']],
  ['no name in the body',      'x',             { external_customer_id: null }, ['external_customer_id']],
  ['a name of 256',            'x'.repeat(256), {},                             ['external_customer_id']],
  ['a NUL in the name',        'x\0',           {},                             ['external_customer_id']],
  ['an unknown field',         'x',             { nam: 'x' },                   ['nam']],
  ['an id',                    'x',             { id: 'x' },                    ['id']],
];

test.each(REFUSED)('PUT of a customer with %s is refused', async (_what, name, body, path) => {
  const { status, json } = await put(name, body);
  expect([status, json.error.issues?.[0].path]).toEqual([400, path]);
  expect((await server.call('GET', '/customers/x')).status).toBe(404);
});

test('PUT refuses external ids in another encoding, which would all be one customer', async () => {
  for (const name of ['andr%E9', 'andr%E8', '%ff', '%ed%a0%80']) {
    const { status, json } = await server.call('PUT', `/customers/${name}`, { body: {} });
    expect([name, status, json.error?.issues]).toEqual([
      name,
      400,
      [{ path: ['external_customer_id'], message: 'is not valid UTF-8' }],
    ]);
  }
});

test('an Idempotency-Key has no effect on PUT of a customer', async () => {
  const headers = { 'idempotency-key': 'k' };
  expect((await put('keyed', { name: 'A' }, { headers })).status).toBe(201);
  const { status, json } = await put('keyed', { name: 'B' }, { headers });
  expect([status, json.name]).toEqual([200, 'B']);
});

test('PUT makes a customer in the mode and organisation of the key', async () => {
  await put('shared');
  for (const key of [server.organisation.liveKey, server.other.testKey]) {
    expect((await put('shared', {}, { key })).status).toBe(201);
  }
  expect((await put('shared', {}, { key: 'none' })).status).toBe(401);
  expect((await put('shared', {}, { key: server.group.testKey })).status).toBe(403);
});
