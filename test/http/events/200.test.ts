import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { issue } from '../invoices/issuing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

type Envelope = {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown> & { sequence: number; objectId: string };
};

const create = async (body: object, key = server.organisation.testKey) =>
  (await server.call('POST', '/customers', { body, key })).json;

const list = async (query: string, key = server.organisation.testKey): Promise<Envelope[]> =>
  (await server.call('GET', `/events?${query}`, { key })).json.data;

test("an event has the fields of the contract's envelope, in the list as alone", async () => {
  const customer = await create({ email: 'ada@example.com', external_customer_id: 'u_1' });
  const [event, ...rest] = await list(`object_id=${customer.id}`);
  expect(rest).toEqual([]);
  const { id } = event!;
  expect(event!).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    type: 'customer.created',
    timestamp: customer.created_at,
    data: {
      id,
      eventType: 'customer.created',
      objectId: customer.id,
      objectType: 'CUSTOMER',
      accountId: customer.id,
      organizationId: server.organisation.id,
      timestamp: customer.created_at,
      mode: 'test',
      sequence: 1,
      externalCustomerId: 'u_1',
      email: 'ada@example.com',
      name: null,
      metadata: {},
    },
  });
  const reply = await server.call('GET', `/events/${id}`);
  expect([reply.status, reply.json]).toEqual([200, event]);
});

test("events of the ledger and of records are in one list, with their own types' fields", async () => {
  const key = server.other.testKey;
  const customer = await create({ external_customer_id: 'u_2' }, key);
  await server.call('POST', '/meters', {
    key,
    body: { slug: 'calls', name: 'C', aggregation: 'sum' },
  });
  const grant = { feature_key: 'calls', amount: 2 };
  await server.call('POST', '/customers/u_2/grants', { key, body: grant });
  await server.call('POST', '/track', {
    key,
    body: { feature_key: 'calls', external_customer_id: 'u_2', value: 2 },
  });
  const scope = { organisationId: server.other.id, mode: 'test' } as const;
  const invoice = await issue(server.sql, scope, {
    customerId: customer.id,
    now: Date.now() + 1000,
  });
  const events = await list('', key);
  expect(
    events.map(({ type, data }) => [type, data['objectType'], data['accountId'], data.sequence]),
  ).toEqual([
    ['invoice.created', 'INVOICE', customer.id, 1],
    ['entitlement.exhausted', 'ENTITLEMENT', customer.id, 2],
    ['entitlement.granted', 'ENTITLEMENT', customer.id, 1],
    ['customer.created', 'CUSTOMER', customer.id, 1],
  ]);
  expect(events[0]!.data).toMatchObject({
    objectId: invoice.id,
    number: 'INV-2026-000001',
    amount: '20.00',
  });
  expect(events[2]!.data).toMatchObject({ featureKey: 'calls', customerId: customer.id });
});

test('GET /events lists newest first, and filters', async () => {
  const { id } = await create({ name: 'a' });
  for (const name of ['b', 'c']) {
    await server.call('PATCH', `/customers/${id}`, { body: { name } });
  }
  const page = async (query: string) => {
    const { json } = await server.call('GET', `/events?object_id=${id}${query}`);
    return [json.data.map(({ data }: Envelope) => data['name']).join(' '), json.has_more];
  };
  const [last, middle, first] = await list(`object_id=${id}`);
  expect(await page('')).toEqual(['c b a', false]);
  expect(await page('&limit=2')).toEqual(['c b', true]);
  expect(await page('&limit=2&offset=1')).toEqual(['b a', false]);
  expect(await page('&type=customer.created')).toEqual(['a', false]);
  expect(await page('&type=customer.updated')).toEqual(['c b', false]);
  expect(await page('&type=payment.succeeded')).toEqual(['', false]);
  // `since` is inclusive, `until` is exclusive.
  expect(await page(`&since=${middle!.timestamp}`)).toEqual(['c b', false]);
  expect(await page(`&until=${middle!.timestamp}`)).toEqual(['a', false]);
  expect(await page(`&since=${first!.timestamp}&until=${last!.timestamp}`)).toEqual(['b a', false]);
  const zoned = middle!.timestamp.replace('Z', encodeURIComponent('+00:00'));
  expect(await page(`&since=${zoned}`)).toEqual(['c b', false]);
});

test('events of changes at once have a sequence without a gap and strictly ascending timestamps', async () => {
  const customers = await Promise.all([create({}), create({}), create({})]);
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => {
      const body = { name: `n${i}` };
      return server.call('PATCH', `/customers/${customers[i % 3].id}`, { body });
    }),
  );
  for (const { id } of customers) {
    const events = (await list(`object_id=${id}&limit=200`)).toReversed();
    expect(events.map(({ data }) => data.sequence)).toEqual(
      Array.from({ length: 21 }, (_, i) => i + 1),
    );
    const times = events.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...new Set(times)].sort());
  }
});

test('no field of an event type takes the place of one that all events have', async () => {
  const { id } = await create({});
  await server.sql`
    update events set data = data || '{"id": "x", "mode": "live", "timestamp": "x", "sequence": 7, "organizationId": "x"}'
    where object_id = ${id}`;
  const [event] = await list(`object_id=${id}`);
  expect(event!.data).toMatchObject({
    id: event!.id,
    mode: 'test',
    timestamp: event!.timestamp,
    sequence: 1,
    organizationId: server.organisation.id,
  });
});
