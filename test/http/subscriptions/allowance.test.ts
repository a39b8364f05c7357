// The allowance of a subscription: where it shows, which events announce it, and how it combines
// with other grants.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { Club, type Json, type Plan } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

/** The grants of the plan's feature, oldest first. */
async function granted({ feature }: Plan, customerId: string): Promise<Json[]> {
  const { data } = await club.shop.read('/events?type=entitlement.granted&limit=200');
  return data
    .toReversed()
    .filter(({ data: said }: Json) => said.featureKey === feature && said.customerId === customerId)
    .map(({ data: said }: Json) => said);
}

test("a plan's allowance is announced at the start and at each plan change", async () => {
  const plan = await club.plan();
  const big = await club.plan({ limit: 50_000, feature: plan.feature });
  const subscription = await club.signUp(plan);
  const { id, customer_id: customerId } = subscription;
  await club.track(subscription, plan, 500);
  await club.act(id, 'change', { price_id: big.priceId });
  const [start, change, ...others] = await granted(plan, customerId);
  expect(others).toEqual([]);
  expect(start).toMatchObject({
    source: 'subscription_start',
    subscriptionId: id,
    amount: 10_000,
    limit: 10_000,
    balance: 10_000,
    periodStart: subscription.current_period_start,
    periodEnd: subscription.current_period_end,
    externalCustomerId: subscription.external_customer_id,
  });
  expect(change).toMatchObject({
    source: 'plan_change',
    subscriptionId: id,
    limit: 50_000,
    balance: 49_500,
    periodEnd: subscription.current_period_end,
  });
});

test('a plan without the feature and back within a period gives nothing anew', async () => {
  const plan = await club.plan({ limit: 100 });
  const other = await club.plan();
  const subscription = await club.signUp(plan);
  const { id, customer_id: customerId } = subscription;
  await club.track(subscription, plan, 90);
  await club.advance('P10D');
  await club.act(id, 'change', { price_id: other.priceId });
  const row = async (): Promise<Json> => {
    const { data } = await club.shop.read(`/customers/${customerId}/balances`);
    return data.find(({ feature_key: feature }: Json) => feature === plan.feature);
  };
  const lacking = { limit: 90, balance: 0 };
  expect(await club.check(subscription, plan)).toMatchObject({
    ...lacking,
    allowed: false,
    reason: 'not_entitled',
  });
  expect(await row()).toMatchObject({ ...lacking, consumed: 90, breakdown: [] });
  const { data: grants } = await club.shop.read(`/customers/${customerId}/grants`);
  expect(grants.map(({ feature_key: feature }: Json) => feature)).toEqual([other.feature]);
  await club.advance('P10D');
  await club.act(id, 'change', { price_id: plan.priceId });
  expect(await club.check(subscription, plan)).toMatchObject({ limit: 100, balance: 10 });
  const more = { customer_id: customerId, feature_key: plan.feature, value: 90 };
  const refused = await club.post('/track', { ...more, overage: 'reject' });
  expect([refused.status, refused.json.error.type]).toEqual([402, 'insufficient_balance']);
  expect((await granted(plan, customerId)).map(({ source, balance }) => [source, balance])).toEqual(
    [
      ['subscription_start', 100],
      ['plan_change', 10],
    ],
  );
  await club.advanceTo(subscription.current_period_end);
  expect(await club.check(subscription, plan)).toMatchObject({ limit: 100, balance: 100 });
});

test('a balance names the subscription that its allowance is of', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { customer_id: customerId } = subscription;
  const top = { feature_key: plan.feature, amount: 5 };
  made(await club.post(`/customers/${customerId}/grants`, top));
  await club.track(subscription, plan, 1);
  const { data } = await club.shop.read(`/customers/${customerId}/balances`);
  const [row] = data.filter(({ feature_key: feature }: Json) => feature === plan.feature);
  expect(row).toMatchObject({ limit: 10_005, consumed: 1, balance: 10_004 });
  expect(
    row.breakdown.map(({ source, product_id: product, subscription_id: of, remaining }: Json) => [
      source,
      product,
      of,
      remaining,
    ]),
  ).toEqual([
    ['subscription', plan.productId, subscription.id, 9999],
    ['top_up', null, null, 5],
  ]);
  // A top-up does not belong to the subscription, and stays when that ends.
  await club.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true, balance: 5 });
});

test("two subscriptions to one plan give its allowance twice; a paused one leaves the other's", async () => {
  const plan = await club.plan({ amount: '0' });
  const customer_id = await club.customer();
  const [one, two] = [
    await club.subscribe(plan, customer_id),
    await club.subscribe(plan, customer_id),
  ];
  expect(await club.check({ customer_id }, plan)).toMatchObject({ limit: 20_000 });
  await club.act(one.id, 'pause');
  const usable = async (value: number): Promise<boolean> => {
    const body = { customer_id, feature_key: plan.feature, value };
    return (await club.post('/check', body)).json.allowed;
  };
  expect([await usable(10_000), await usable(10_001)]).toEqual([true, false]);
  await club.act(two.id, 'cancel', { mode: 'immediate' });
  expect(await club.check({ customer_id }, plan)).toMatchObject({ reason: 'subscription_paused' });
  await club.act(one.id, 'resume');
  expect([await usable(10_000), await usable(10_001)]).toEqual([true, false]);
});

test('a subscriber keeps the allowance of a product that is not sold any more', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id } = subscription;
  await club.post(`/products/${plan.productId}/archive`);
  await club.advanceTo(subscription.current_period_end);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true, balance: 10_000 });
  expect((await club.payments(id)).at(-1)).toMatchObject({ amount: '30.00', status: 'succeeded' });
  expect(await club.act(id, 'change', { quantity: 2 })).toMatchObject({ quantity: 2 });
});

test('a boolean entitlement is there or not', async () => {
  const plan = await club.plan({ amount: '0' });
  const slug = `flag-${plan.feature}`;
  made(await club.post('/meters', { slug }));
  const flag = { feature_key: slug, type: 'boolean' };
  made(await club.post(`/products/${plan.productId}/entitlements`, flag));
  const customer_id = await club.customer();
  const on = { ...plan, feature: slug };
  expect(await club.check({ customer_id }, on)).toMatchObject({ reason: 'not_entitled' });
  const { id } = await club.subscribe(plan, customer_id);
  expect(await club.check({ customer_id }, on)).toMatchObject({ allowed: true, reason: 'boolean' });
  await club.act(id, 'pause');
  expect(await club.check({ customer_id }, on)).toMatchObject({ reason: 'subscription_paused' });
  await club.act(id, 'cancel', { mode: 'immediate' });
  expect(await club.check({ customer_id }, on)).toMatchObject({ reason: 'expired' });
});

test('a discount is off the first period; with a trial it is off the one that follows', async () => {
  const code = await club.shop.discount('HALF', { percent_off: 50 });
  const [plan, tried] = [await club.plan(), await club.plan({ trial_days: 5 })];
  const paid = await club.signUp(plan, 'good', { discount_code: code });
  const trial = await club.signUp(tried, 'good', { discount_code: code });
  await club.advanceTo(trial.trial_end);
  await club.advanceTo(paid.current_period_end);
  const charged = async ({ id }: Json): Promise<string[]> =>
    (await club.payments(id)).map(({ amount }) => amount);
  expect(await charged(paid)).toEqual(['15.00', '30.00']);
  expect(await charged(trial)).toEqual(['0.00', '15.00']);
  await club.advance('P1M');
  expect(await charged(trial)).toEqual(['0.00', '15.00', '30.00']);
});

test('a subscription to a free plan needs no payment method', async () => {
  const plan = await club.plan({ amount: '0' });
  const subscription = await club.signUp(plan);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
  const [, paid] = await club.events(subscription.id);
  expect(paid).toMatchObject({ type: 'payment.succeeded', data: { amount: '0.00' } });
  await club.advanceTo(subscription.current_period_end);
  expect(await club.subscription(subscription.id)).toMatchObject({ overdue_state: 'clear' });
});

// prettier-ignore
const CURRENCIES: [string, string, string][] = [
  // currency  amount      twice as many, half way
  ['JPY',      '3000',     '1500'],
  ['KWD',      '10.001',   '5.001'],
  ['USD',      '10.01',    '5.01'],
];
test.each(CURRENCIES)(
  'a proration is exact to the smallest coin: %s',
  async (currency, amount, about) => {
    const plan = await club.plan({ currency, amount, interval: 'day', interval_count: 10 });
    const subscription = await club.signUp(plan, 'good', { currency });
    const { id } = subscription;
    await club.advance('P5D');
    await club.act(id, 'change', { quantity: 2 });
    const [, invoice] = await club.invoices(id);
    const [unused, rest] = invoice.lines.map(({ amount: line }: Json) => line);
    const decimals = about.split('.')[1]?.length ?? 0;
    expect(invoice.total).toMatch(
      decimals === 0 ? /^\d+$/ : new RegExp(`^\\d+\\.\\d{${decimals}}$`),
    );
    const coin = 10 ** -decimals;
    expect(Math.abs(Number(invoice.total) - Number(about))).toBeLessThan(3 * coin);
    expect(Math.abs(Number(rest) + Number(unused) - Number(invoice.total))).toBeLessThan(coin / 2);
  },
);

test('a buy link sells a subscription with its allowance', async () => {
  const plan = await club.plan();
  const { json } = await club.post(`/buy-links/${plan.productId}/checkout`, {}, { key: null });
  expect(json).toMatchObject({ type: 'recurring', amount: '30.00' });
});
