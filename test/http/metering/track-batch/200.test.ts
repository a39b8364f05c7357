import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, Setting, testBooksClose, times } from '../setting.ts';
import { batchOf, type Result } from './batch.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('seats', { aggregation: 'last', scale: 0 });
  await setting.meter('users', { aggregation: 'unique', unique_property: 'user' });
});
afterAll(() => setting.stop());

const { batch, results } = batchOf(() => setting);

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

const item = (fields: Fields = {}): Fields => ({
  feature_key: 'api',
  customer_id: customer,
  ...fields,
});

async function fresh(amount = 10): Promise<string> {
  customer = await setting.customer();
  await setting.grant(customer, 'api', { amount });
  return customer;
}

const sum = async (id = customer, feature = 'api'): Promise<number> =>
  (await setting.consumed(id, feature)).reduce((total, part) => total + part, 0);

test('POST /track/batch answers each item in its place as /track would, once it is on disk', async () => {
  await fresh();
  const given = await results([item({ value: 2 }), item({ value: '0.5' }), item({ value: -1 })]);
  expect(given.map(({ consumed, balance, duplicate }) => [consumed, balance, duplicate])).toEqual([
    [2, 8, false],
    [2.5, 7.5, false],
    [1.5, 8.5, false],
  ]);
  const single = await setting.track(customer, 'api');
  expect(Object.keys(given[0]!)).toEqual(Object.keys(single.json));
  const ids = given.map(({ id }) => id);
  const rows = await setting.server
    .sql`select from transfers where id in ${setting.server.sql(ids)}`;
  expect(rows).toHaveLength(3);
});

test('POST /track/batch answers an invalid item with its own error, and records the others', async () => {
  await fresh(3);
  const tracks = [
    item({ value: 2 }),
    7,
    item({ valeu: 1 }),
    item({ feature_key: 'nothing' }),
    item({ customer_id: UNKNOWN }),
    { feature_key: 'api' },
    item({ value: '0.0000001' }),
    item({ value: 5, overage: 'reject' }),
    item({ value: '999999999.999999' }),
    item({ value: 1, overage: 'reject' }),
  ];
  const { results: given } = (await batch(tracks)).json as { results: Result[] };
  expect(given.map(({ error, consumed }) => error?.type ?? consumed)).toEqual([
    2,
    'invalid_request',
    'invalid_request',
    'not_found',
    'not_found',
    'invalid_request',
    'invalid_request',
    'insufficient_balance',
    'invalid_request',
    3,
  ]);
  const paths = given.map(({ error }) => error?.issues?.map(({ path }) => path.join('.')));
  expect(paths).toEqual([
    undefined,
    [''],
    ['valeu'],
    undefined,
    undefined,
    ['customer_id'],
    ['value'],
    undefined,
    ['value'],
    undefined,
  ]);
  expect(await sum()).toBe(3);
});

test('POST /track/batch takes null for an optional field as left out', async () => {
  await fresh();
  const [one] = await results([item({ value: null, metadata: null, overage: null })]);
  expect(one).toMatchObject({ value: 1, consumed: 1 });
});

test('POST /track/batch takes an empty list, and 500 items of 500 customers', async () => {
  expect((await batch([])).json).toEqual({ results: [] });
  const customers = await times(500, () => setting.customer());
  const given = await results(customers.map((id) => item({ customer_id: id })));
  expect(given.map(({ customer_id }) => customer_id)).toEqual(customers);
  expect(given.every(({ consumed }) => consumed === 1)).toBe(true);
});

test('POST /track/batch: a `last` meter has the last item, a `unique` one knows who was counted', async () => {
  await fresh();
  const seats = (value: number) =>
    item({ feature_key: 'seats', value, idempotency_key: `${value}` });
  const given = await results(Array.from({ length: 40 }, (_, index) => seats(index)));
  expect(given.map(({ consumed }) => consumed)).toEqual(given.map((_, index) => index));
  const user = (name: string) => item({ feature_key: 'users', metadata: { user: name } });
  const users = await results([user('a'), user('b'), user('a'), user('c'), user('b')]);
  expect(users.map(({ consumed }) => consumed)).toEqual([1, 2, 2, 3, 3]);
});

test('POST /track/batch with more metadata than one write holds is written in turn, in order', async () => {
  await fresh();
  const hook = { url: 'https://example.com/hook', event_types: ['usage.recorded'] };
  const endpoint = await setting.post('/webhook-endpoints', hook);
  const metadata = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [`key-${index}`, 'x'.repeat(440)]),
  );
  // Each is written twice: with the usage, and with the event that tells of it.
  const values = Array.from({ length: 500 }, (_, index) => 1 + (index % 3));
  const given = await results(values.map((value) => item({ value, metadata })));
  await setting.server.call('DELETE', `/webhook-endpoints/${endpoint.json.id}`);
  let total = 0;
  const totals = values.map((value) => (total += value));
  expect(given.map(({ consumed }) => consumed)).toEqual(totals);
  // Each is told once. What is written together has no order among itself.
  const told = await setting.server.sql<{ consumed: number }[]>`
    select (data ->> 'consumed')::float8 as consumed from events
    where account_id = ${customer} and type = 'usage.recorded' order by consumed`;
  expect(told.map(({ consumed }) => consumed)).toEqual(totals);
});

test('POST /track/batch does not find customers of another organisation or mode', async () => {
  await fresh();
  const { organisation, other } = setting.server;
  for (const key of [organisation.liveKey, other.testKey]) {
    const { json } = await batch([item()], { key });
    expect(json.results[0].error.type).toBe('not_found');
  }
  expect(await sum()).toBe(0);
});

testBooksClose(() => setting);
