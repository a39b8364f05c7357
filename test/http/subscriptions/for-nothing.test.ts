// Ways to get something without paying for it, and requests that cannot be billed.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { GOOD, portalOf } from '../portal/customer.ts';
import { Club, DAY_MS, type PlanWish } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

const TOO_LARGE = 'makes the price, or what the product gives, more than there can be';

test('a subscription paused over a period is not free to resume: a new period begins, and is paid', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id } = subscription;
  await club.advanceTo(Date.parse(subscription.current_period_end) - DAY_MS);
  await club.act(id, 'pause', { keep_invoices: true });
  await club.act(id, 'cancel');
  await club.act(id, 'uncancel');
  await club.advance('P2D');
  await club.act(id, 'cancel');
  const before = await club.now();
  const resumed = await club.act(id, 'resume');
  expect(Date.parse(resumed.current_period_start)).toBeGreaterThanOrEqual(before);
  // The paid period is kept until its end.
  expect(resumed.cancellation_effective_at).toBe(resumed.current_period_end);
  expect((await club.invoices(id)).map(({ status, total }) => [status, total])).toEqual([
    ['paid', '30.00'],
    ['void', '30.00'],
    ['paid', '30.00'],
  ]);
  await club.advanceTo(Date.parse(resumed.current_period_end) - DAY_MS);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true, balance: 10_000 });
  await club.advanceTo(resumed.current_period_end);
  expect(await club.check(subscription, plan)).toMatchObject({ reason: 'expired' });
});

test('a resume that is declined leaves the subscription paused, with its draft', async () => {
  const plan = await club.plan();
  const { id, current_period_end: end } = await club.signUp(plan, 'renewalFails');
  await club.act(id, 'pause', { keep_invoices: true });
  await club.advanceTo(end);
  expect((await club.refused(id, 'resume'))[0]).toBe(402);
  expect(await club.subscription(id)).toMatchObject({ status: 'paused', keep_invoices: true });
  expect((await club.invoices(id)).map(({ status }) => status)).toEqual(['paid', 'draft', 'void']);
});

test('a subscription paid after being blocked past its period begins anew, without billing that time', async () => {
  const plan = await club.plan({ interval: 'day', amount: '1.00' });
  const subscription = await club.signUp(plan, 'renewalFails');
  const { id, customer_id } = subscription;
  await club.advance('P18D');
  expect(await club.check(subscription, plan)).toMatchObject({ reason: 'blocked' });
  const { length } = await club.invoices(id);
  const before = await club.now();
  await (await portalOf(club.shop.server, customer_id)).saveCard(GOOD);
  await club.advance('PT1M');
  const again = await club.subscription(id);
  expect(Date.parse(again.current_period_start)).toBeGreaterThanOrEqual(before);
  const invoices = await club.invoices(id);
  expect(invoices.map(({ status }) => status)).toEqual(Array(length + 1).fill('paid'));
  expect(invoices.at(-1)).toMatchObject({
    total: '1.00',
    period_start: again.current_period_start,
  });
  expect(await club.check(subscription, plan)).toMatchObject({
    balance: 10_000,
    resets_at: again.current_period_end,
  });
});

test('an invoice that its merchant voided gives no credit when the plan changes', async () => {
  const plan = await club.plan();
  const small = await club.plan({ amount: '1.00', feature: plan.feature });
  const { id, current_period_end: end } = await club.signUp(plan, 'renewalFails');
  await club.advanceTo(end);
  const [, renewal] = await club.invoices(id);
  expect((await club.post(`/invoices/${renewal.id}/void`)).status).toBe(200);
  // Nothing comes back, so the cheaper one costs something.
  expect((await club.refused(id, 'change', { price_id: small.priceId }))[0]).toBe(402);
  const [, , update] = await club.invoices(id);
  expect(update.lines[0]).toMatchObject({ type: 'proration', amount: '0.00' });
});

test('an entitlement new to the product cannot be used by a paused subscription', async () => {
  const plan = await club.plan();
  const other = await club.plan();
  const subscription = await club.signUp(plan);
  await club.act(subscription.id, 'pause', { keep_invoices: true });
  const added = { feature_key: other.feature, limit: 7 };
  expect((await club.post(`/products/${plan.productId}/entitlements`, added)).status).toBe(201);
  await club.advanceTo(subscription.current_period_end);
  expect(await club.check(subscription, other)).toMatchObject({
    allowed: false,
    reason: 'subscription_paused',
    limit: 7,
  });
});

test('a paused unlimited allowance stays paused in another period', async () => {
  const plan = await club.plan({ limit: null });
  const subscription = await club.signUp(plan);
  for (const used of [5, 3]) {
    await club.track(subscription, plan, used);
    await club.act(subscription.id, 'pause');
    expect(await club.check(subscription, plan)).toMatchObject({
      reason: 'subscription_paused',
      consumed: used,
    });
    await club.act(subscription.id, 'resume');
    await club.advanceTo((await club.subscription(subscription.id)).current_period_end);
  }
  expect(await club.check(subscription, plan)).toMatchObject({ reason: 'unlimited', consumed: 0 });
});

test("plan changes at once all happen, and the allowance is the last one's", async () => {
  const plan = await club.plan({ amount: '0' });
  const { id, customer_id } = await club.subscribe(plan, await club.customer());
  const change = (quantity: number) => club.post(`/subscriptions/${id}/change`, { quantity });
  for (let round = 0; round < 5; round += 1) {
    const replies = await Promise.all([5, 2, 9, 1, 7, 3, 8, 4].map(change));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const { quantity } = await club.subscription(id);
    expect(await club.check({ customer_id }, plan)).toMatchObject({ limit: quantity * 10_000 });
  }
});

// prettier-ignore
const DETOURS: [string, PlanWish][] = [
  ['less',                { limit: 100 }],
  ['unlimited',           { limit: null }],
  ['less, by the week',   { limit: 100, interval: 'week' }],
];

test.each(DETOURS)(
  'an allowance used up is not given again by a plan change to %s and back',
  async (_what, other) => {
    const plan = await club.plan({ amount: '100.00', limit: 10_000 });
    const detour = await club.plan({ amount: '10.00', feature: plan.feature, ...other });
    const subscription = await club.signUp(plan);
    await club.track(subscription, plan, 10_000);
    for (const { priceId } of [detour, plan]) {
      await club.act(subscription.id, 'change', { price_id: priceId });
    }
    expect(await club.check(subscription, plan)).toMatchObject({ allowed: false, balance: 0 });
  },
);

test('an allowance used up is not given again by changing the quantity down and up', async () => {
  const plan = await club.plan({ limit: 100 });
  const subscription = await club.signUp(plan);
  await club.act(subscription.id, 'change', { quantity: 10 });
  await club.track(subscription, plan, 1000);
  for (const quantity of [1, 10]) await club.act(subscription.id, 'change', { quantity });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: false, balance: 0 });
});

// prettier-ignore
const TOO_MANY: [string, PlanWish, number][] = [
  ['a price beyond what an amount can be',     { amount: '999999999999.99' }, 2],
  ['a price beyond what can be stored',        { amount: '999999999999.99' }, 1_000_000],
  ['more units than a meter counts',           { limit: 500_000_000 },        2],
];

test.each(TOO_MANY)(
  'a quantity that makes %s is refused, and nothing is done',
  async (_what, wish, quantity) => {
    const plan = await club.plan(wish);
    const subscription = await club.signUp(plan);
    const { id, customer_id } = subscription;
    const issue = { path: ['quantity'], message: TOO_LARGE };
    for (const [path, body] of [
      ['/subscriptions', { customer_id, product_id: plan.productId, quantity }],
      [`/subscriptions/${id}/change`, { quantity }],
    ] as const) {
      const { status, json } = await club.post(path, body);
      expect([status, json.error.issues]).toEqual([400, [issue]]);
    }
    expect(await club.subscription(id)).toEqual(subscription);
    expect(await club.invoices(id)).toHaveLength(1);
  },
);
