// A pool of credits pays for what its members use beyond their own limits.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { until } from '../../../support/until.ts';
import { type Fields, Setting, testBooksClose, times } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('tokens', { scale: 0, value_property: 'n' });
  await setting.meter('images', { aggregation: 'count' });
  const credit_costs = [
    { feature_key: 'tokens', cost: '0.002' },
    { feature_key: 'images', cost: '4' },
  ];
  await setting.meter('credits', { aggregation: 'sum', credit_costs });
});
beforeEach(async () => {
  customer = await setting.customer();
});
afterAll(() => setting.stop());

/** `limit`, `consumed`, `reserved`, `balance` of the features. */
async function seen(...features: string[]): Promise<unknown[]> {
  const rows = await Promise.all(features.map((feature) => setting.balance(customer, feature)));
  return rows.map((row) => row && [row['limit'], row['consumed'], row['reserved'], row['balance']]);
}

const check = async (feature: string, fields: Fields = {}) => {
  const { allowed, reason, paid_by } = (await setting.check(customer, feature, fields)).json;
  return [allowed, reason, paid_by];
};

const tokens = (amount: number) => ({ feature_key: 'tokens', amount });
const credits = (amount: number) => ({ feature_key: 'credits', amount });
const reserve = async (feature: string, amount: number, fields: Fields = {}) => {
  const body = { customer_id: customer, feature_key: feature, amount, ...fields };
  return setting.post('/reservations', body);
};

test('a feature uses its own grants first, then credits, in one answer', async () => {
  await setting.grant(customer, 'tokens', { amount: 100 });
  await setting.grant(customer, 'credits', { amount: 1 });
  expect(await check('tokens', { value: 100 })).toEqual([true, 'ok', [tokens(100)]]);
  expect(await check('tokens', { value: 300 })).toEqual([true, 'ok', [tokens(100), credits(0.4)]]);
  expect(await check('tokens', { value: 600 })).toEqual([true, 'ok', [tokens(100), credits(1)]]);
  expect(await check('tokens', { value: 601 })).toEqual([false, 'insufficient_balance', []]);
  expect(await check('tokens', { value: 0 })).toEqual([true, 'ok', []]);
  await setting.track(customer, 'tokens', { value: 300 });
  expect(await seen('tokens', 'credits')).toEqual([
    [100, 300, 0, 0],
    [1, 0.4, 0, 0.6],
  ]);
  expect(await check('tokens', { value: 300 })).toEqual([true, 'ok', [credits(0.6)]]);
  expect(await check('images')).toEqual([false, 'insufficient_balance', []]);
});

test('a customer without a credit pool has the balance it had', async () => {
  expect(await check('tokens')).toEqual([false, 'not_entitled', []]);
  await setting.grant(customer, 'tokens', { amount: 5 });
  expect(await check('tokens', { value: 5 })).toEqual([true, 'ok', [tokens(5)]]);
  expect(await check('tokens', { value: 6 })).toEqual([false, 'insufficient_balance', []]);
});

test("usage before a credit pool was granted is the pool's debt", async () => {
  await setting.track(customer, 'tokens', { value: 1000 });
  await setting.track(customer, 'images');
  await setting.grant(customer, 'credits', { amount: 10 });
  expect(await seen('tokens', 'images', 'credits')).toEqual([
    [0, 1000, 0, 0],
    [0, 1, 0, 0],
    [10, 6, 0, 4],
  ]);
  // A grant of its own takes it back.
  await setting.grant(customer, 'tokens', { amount: 400 });
  expect(await seen('credits')).toEqual([[10, 5.2, 0, 4.8]]);
  await setting.track(customer, 'tokens', { value: -700 });
  expect(await seen('tokens', 'credits')).toEqual([
    [400, 300, 0, 100],
    [10, 4, 0, 6],
  ]);
});

test('POST /check with consume draws the credits it says, and replays its answer', async () => {
  await setting.grant(customer, 'tokens', { amount: 1 });
  await setting.grant(customer, 'credits', { amount: 1 });
  const body = { value: 401, consume: true, idempotency_key: 'once' };
  const first = await setting.check(customer, 'tokens', body);
  expect(first.json).toMatchObject({
    allowed: true,
    paid_by: [tokens(1), credits(0.8)],
    balance: 0,
  });
  await setting.track(customer, 'tokens', { value: 50 });
  const again = await setting.check(customer, 'tokens', body);
  expect(again.json).toEqual(first.json);
  const refused = { value: 51, consume: true };
  expect(await check('tokens', refused)).toEqual([false, 'insufficient_balance', []]);
  expect(await seen('tokens', 'credits')).toEqual([
    [1, 451, 0, 0],
    [1, 0.9, 0, 0.1],
  ]);
});

test('a reservation holds own units and credits, and its commit draws both', async () => {
  await setting.grant(customer, 'tokens', { amount: 100 });
  await setting.grant(customer, 'credits', { amount: 1 });
  const held = await reserve('tokens', 300);
  expect(held.json.paid_by).toEqual([tokens(100), credits(0.4)]);
  expect(await seen('tokens', 'credits')).toEqual([
    [100, 0, 300, 0],
    [1, 0, 0.4, 0.6],
  ]);
  expect((await reserve('tokens', 301)).status).toBe(402);
  expect((await reserve('credits', 0.7)).status).toBe(402);
  const other = await reserve('tokens', 300);
  expect(await seen('credits')).toEqual([[1, 0, 1, 0]]);
  await setting.post(`/reservations/${held.json.id}/commit`, { value: 150 });
  const { json: events } = await setting.server.call('GET', '/events?type=entitlement.exhausted');
  const exhausted = events.data.filter(
    ({ data }: { data: Fields }) => data['customerId'] === customer,
  );
  expect(exhausted.map(({ data }: { data: Fields }) => data['featureKey'])).toEqual(['tokens']);
  // 50 were beyond; all of the other one still is.
  expect(await seen('tokens', 'credits')).toEqual([
    [100, 150, 300, 0],
    [1, 0.1, 0.6, 0.3],
  ]);
  await setting.post(`/reservations/${other.json.id}/release`, {});
  expect(await seen('tokens', 'credits')).toEqual([
    [100, 150, 0, 0],
    [1, 0.1, 0, 0.9],
  ]);
  expect(
    (await setting.check(customer, 'tokens', { value: 10, reserve: true })).json,
  ).toMatchObject({ allowed: true, paid_by: [credits(0.02)], reservation: { amount: 10 } });
});

test('a check that costs more credits than any meter holds is denied', async () => {
  await setting.grant(customer, 'credits', { unlimited: true });
  const all = { value: 2_000_000_000 };
  expect(await check('tokens', { value: 10 })).toEqual([true, 'unlimited', [credits(0.02)]]);
  expect(await check('tokens', all)).toEqual([false, 'insufficient_balance', []]);
  const refused = [
    await setting.check(customer, 'tokens', { ...all, consume: true }),
    await reserve('tokens', all.value),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400]);
});

test('direct usage of a credit pool works, and leaves its members the rest', async () => {
  await setting.grant(customer, 'credits', { amount: 2 });
  expect((await setting.track(customer, 'credits', { value: 0.5 })).status).toBe(200);
  expect(await check('images')).toEqual([false, 'insufficient_balance', []]);
  expect(await check('tokens', { value: 750 })).toEqual([true, 'ok', [credits(1.5)]]);
});

test('no credit is spent twice by calls at once', async () => {
  await setting.grant(customer, 'credits', { amount: 100 });
  const replies = await times(60, (index) =>
    index % 2 === 0
      ? setting.check(customer, 'images', { consume: true })
      : reserve('tokens', 2000, { expires_in: 60 }),
  );
  const granted = replies.filter(({ status, json }) => status === 201 || json.allowed === true);
  expect(granted).toHaveLength(25);
  expect(await seen('credits')).toMatchObject([[100, expect.anything(), expect.anything(), 0]]);
});

test('late events and usage over time draw credits', async () => {
  await setting.grant(customer, 'credits', { amount: 100 });
  await setting.track(customer, 'tokens', { value: 500 });
  const timestamp = new Date(Date.now() - 3_600_000).toISOString();
  const late = {
    name: 'tokens',
    customer_id: customer,
    metadata: { n: 500 },
    timestamp,
  };
  expect((await setting.ingest([late])).status).toBeLessThan(300);
  expect(await seen('tokens', 'credits')).toEqual([
    [0, 1000, 0, 0],
    [100, 2, 0, 98],
  ]);
  await until('the credits are in the series', async () => {
    const { json } = await setting.server.call(
      'GET',
      `/usage?feature_key=credits&customer_id=${customer}`,
    );
    return json.data?.some?.(({ value }: { value: number }) => value === 2) === true;
  });
});

test.each([
  ['credits', 'tokens'],
  ['tokens', 'credits'],
])(
  'a credit pool with an allowance of %s gives one of %s the same reset',
  async (first, second) => {
    const grant = (feature: string, reset_interval?: string) =>
      setting.post(`/customers/${customer}/grants`, {
        feature_key: feature,
        amount: 5,
        ...(reset_interval && { reset_interval }),
      });
    expect((await grant(first, 'month')).status).toBe(201);
    const refused = await setting.withoutTrace(() => grant(second, 'day'));
    expect([refused.status, refused.json.error.type]).toEqual([409, 'conflict']);
    expect((await grant(second, 'month')).status).toBe(201);
    expect((await grant(second)).status).toBe(201);
  },
);

testBooksClose(() => setting);
