import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, invalidAt, refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('seats', { aggregation: 'last', scale: 0 });
});
afterAll(() => setting.stop());

const rowsOf = async (path: string): Promise<Fields[]> =>
  (await setting.server.call('GET', path)).json.data as Fields[];

test('GET /balances has no rows without grants, and a row from the first grant on', async () => {
  const customer = await setting.customer();
  expect(await rowsOf(`/customers/${customer}/balances`)).toEqual([]);
  await setting.grant(customer, 'seats');
  await setting.grant(customer, 'api');
  const rows = await rowsOf(`/customers/${customer}/balances`);
  expect(rows.map((row) => row['feature_key'])).toEqual(['api', 'seats']);
});

test('GET /balances answers a row with every field, and its parts in burn order', async () => {
  const customer = await setting.customer({ external_customer_id: 'a/b 客' });
  const second = await setting.grant(customer, 'api', { amount: 2.5 });
  const first = await setting.grant(customer, 'api', { priority: 1, overage_allowed: true });
  await setting.track(customer, 'api', { value: 4 });
  const [row] = await rowsOf(`/customers/${encodeURIComponent('a/b 客')}/balances`);
  expect(row).toEqual({
    customer_id: customer,
    external_customer_id: 'a/b 客',
    meter_id: first['meter_id'],
    feature_key: 'api',
    balance: 8.5,
    limit: 12.5,
    consumed: 4,
    remaining: 8.5,
    reserved: 0,
    overage: 0,
    unlimited: false,
    period_start: second['effective_at'],
    period_end: null,
    resets_at: null,
    updated_at: expect.stringMatching(/Z$/) as unknown,
    breakdown: [
      { ...part(first), granted: 10, remaining: 6, priority: 1 },
      { ...part(second), granted: 2.5, remaining: 2.5, priority: 100 },
    ],
    breakdown_has_more: false,
  });
});

const part = (grant: Fields) => ({
  grant_id: grant['id'],
  source: 'top_up',
  product_id: null,
  subscription_id: null,
  expires_at: null,
});

// prettier-ignore
const NUMBERS: [string, Fields[], number, Fields, (number | null)[]][] = [
  ['overdrawn',             [{}],                    14,  { balance: -4, remaining: 0, overage: 4, unlimited: false },         [0]],
  ['unlimited',             [{ unlimited: true }],   14,  { balance: null, limit: null, remaining: null, overage: 0, unlimited: true },  [null]],
  ['unlimited beside ten',  [{ priority: 1 }, { unlimited: true }],  14,  { balance: null, limit: null, consumed: 14 },         [10, null]],
  ['used up, then more',    [{}, {}],                10,  { balance: 10, limit: 20, consumed: 10, overage: 0 },                 [0, 10]],
];

test.each(NUMBERS)(
  'GET /balances has the numbers of %s',
  async (_what, grants, used, numbers, parts) => {
    const customer = await setting.customer();
    for (const fields of grants) await setting.grant(customer, 'api', fields);
    await setting.track(customer, 'api', { value: used });
    const row = await setting.balance(customer, 'api');
    expect(row).toMatchObject(numbers);
    const breakdown = row?.['breakdown'] as { remaining: number | null }[];
    expect(breakdown.map(({ remaining }) => remaining)).toEqual(parts);
  },
);

test('GET /balances?feature_key= answers that row alone, and none for an unknown feature', async () => {
  const customer = await setting.customer();
  await setting.grant(customer, 'api');
  await setting.grant(customer, 'seats');
  const path = `/customers/${customer}/balances`;
  expect(await rowsOf(`${path}?feature_key=seats`)).toHaveLength(1);
  expect(await rowsOf(`${path}?feature_key=nothing`)).toEqual([]);
});

// prettier-ignore
const QUERIES: [string, string][] = [
  ['feature_key=',                    'feature_key'],
  ['feature_key=a&feature_key=b',     'feature_key'],
  ['feature=api',                     'feature'],
  [`feature_key=${'x'.repeat(65)}`,   'feature_key'],
];

test.each(QUERIES)('GET /balances?%s is 400', async (query, at) => {
  const customer = await setting.customer();
  const reply = await setting.server.call('GET', `/customers/${customer}/balances?${query}`);
  expect(refusal(reply)).toEqual(invalidAt([at]));
});

test('GET /balances has no row of a deleted meter, whose usage history stays', async () => {
  await setting.meter('doomed');
  const customer = await setting.customer();
  const grant = await setting.grant(customer, 'doomed');
  await setting.track(customer, 'doomed');
  await setting.server.call('POST', `/grants/${String(grant['id'])}/void`);
  expect((await setting.server.call('DELETE', '/meters/doomed')).status).toBe(204);
  expect(await rowsOf(`/customers/${customer}/balances`)).toEqual([]);
  expect(await setting.consumed(customer, 'doomed')).toEqual([1]);
  // The slug is free again, and the new meter starts at zero.
  await setting.meter('doomed');
  expect((await setting.check(customer, 'doomed')).json).toMatchObject({
    reason: 'not_entitled',
    consumed: 0,
  });
});

testBooksClose(() => setting);
