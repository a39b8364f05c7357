// What a subscription grants, as /check, /track and the balances show it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, Setting, testBooksClose } from './setting.ts';

let setting: Setting;
let product: string;
beforeAll(async () => {
  setting = await Setting.open();
  for (const slug of ['api', 'daily', 'sso']) await setting.meter(slug, { scale: 2 });
  const prices = [{ amount: '10.00', currency: 'USD', type: 'recurring', interval: 'month' }];
  product = await made('/products', { name: 'Team', prices });
  const attach = (fields: Fields) => made(`/products/${product}/entitlements`, fields);
  await attach({ feature_key: 'api', limit: 10, rollover: { max: 6, expires_after_periods: 1 } });
  await attach({ feature_key: 'daily', limit: 5, reset_interval: 'day' });
  await attach({ feature_key: 'sso', type: 'boolean' });
});
afterAll(() => setting.stop());

async function made(path: string, fields: Fields): Promise<string> {
  const { status, json, text } = await setting.post(path, fields);
  if (status !== 201) throw new Error(`${status} ${text}`);
  return json.id as string;
}

/** A customer in a trial of two weeks, so that nothing is charged. */
async function subscribed(): Promise<{ customer: string; subscription: string }> {
  const customer = await setting.customer();
  const fields = { customer_id: customer, product_id: product, trial_days: 14 };
  return { customer, subscription: await made('/subscriptions', fields) };
}

async function act(subscription: string, action: string, fields: Fields = {}): Promise<void> {
  const { status, text } = await setting.post(`/subscriptions/${subscription}/${action}`, fields);
  expect([status, text]).toEqual([200, text]);
}

const asked = async (customer: string, feature: string, fields: Fields = {}) => {
  const { json } = await setting.check(customer, feature, fields);
  return [json.allowed, json.reason, json.limit, json.balance, json.remaining];
};

const reason = async (customer: string, feature: string) =>
  (await setting.check(customer, feature)).json.reason;

test('GET /balances names the plan, and the period of each feature', async () => {
  const { customer, subscription } = await subscribed();
  const api = await setting.balance(customer, 'api');
  expect(api).toMatchObject({ limit: 10, balance: 10, unlimited: false });
  expect(api?.breakdown).toEqual([
    expect.objectContaining({
      source: 'subscription',
      product_id: product,
      subscription_id: subscription,
      granted: 10,
      remaining: 10,
      expires_at: null,
    }),
  ]);
  const lasts = async (feature: string): Promise<number> => {
    const row = await setting.balance(customer, feature);
    const [start, end] = [row?.period_start, row?.period_end].map((at) => Date.parse(at as string));
    return Math.round((end! - start!) / 86_400_000);
  };
  expect([await lasts('api'), await lasts('daily')]).toEqual([14, 1]);
  expect(await setting.balance(customer, 'sso')).toMatchObject({
    limit: null,
    balance: null,
    resets_at: null,
  });
});

test('a boolean feature is checked without numbers, and its usage is recorded', async () => {
  const { customer } = await subscribed();
  expect(await asked(customer, 'sso', { value: 1_000_000 })).toEqual([
    true,
    'boolean',
    null,
    null,
    null,
  ]);
  const consumed = await setting.check(customer, 'sso', { value: 3, consume: true });
  expect(consumed.json).toMatchObject({ allowed: true, reason: 'boolean', consumed: 3 });
  const tracked = await setting.track(customer, 'sso', { value: 2, overage: 'reject' });
  expect([tracked.status, tracked.json.consumed, tracked.json.balance]).toEqual([200, 5, null]);
});

test('a paused plan keeps its numbers, and only grants from elsewhere may be used', async () => {
  const { customer, subscription } = await subscribed();
  await setting.track(customer, 'api', { value: 4 });
  await act(subscription, 'pause');
  expect(await asked(customer, 'api')).toEqual([false, 'subscription_paused', 10, 6, 6]);
  expect(await asked(customer, 'api', { value: 7 })).toEqual([
    false,
    'insufficient_balance',
    10,
    6,
    6,
  ]);
  expect(await reason(customer, 'sso')).toBe('subscription_paused');
  const rejected = await setting.track(customer, 'api', { value: 1, overage: 'reject' });
  expect([rejected.status, rejected.json.error]).toMatchObject([
    402,
    { type: 'insufficient_balance' },
  ]);
  expect(rejected.text).toContain('the subscription is paused');
  const consumed = await setting.check(customer, 'api', { consume: true });
  expect(consumed.json).toMatchObject({
    allowed: false,
    reason: 'subscription_paused',
    consumed: 4,
  });
  await setting.grant(customer, 'api', { amount: 3 });
  expect(await asked(customer, 'api', { value: 3 })).toEqual([true, 'ok', 13, 9, 9]);
  expect((await setting.track(customer, 'api', { value: 3 })).json).toMatchObject({ balance: 6 });
  expect(await asked(customer, 'api')).toEqual([false, 'subscription_paused', 13, 6, 6]);
  await act(subscription, 'resume');
  expect(await asked(customer, 'api', { value: 6 })).toEqual([true, 'ok', 13, 6, 6]);
});

test('an ended plan is expired, but not where a top-up is left', async () => {
  const { customer, subscription } = await subscribed();
  await setting.track(customer, 'api', { value: 4 });
  await setting.grant(customer, 'daily', { amount: 2 });
  await act(subscription, 'cancel', { mode: 'immediate' });
  expect(await reason(customer, 'api')).toBe('expired');
  expect(await reason(customer, 'sso')).toBe('expired');
  expect(await asked(customer, 'daily', { value: 2 })).toEqual([true, 'ok', 2, 2, 2]);
  expect((await setting.balance(customer, 'api'))?.breakdown).toEqual([]);
});

testBooksClose(() => setting);
