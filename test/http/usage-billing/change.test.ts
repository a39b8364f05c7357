// A change of plan closes what was used and bills it with the change: nothing twice, nothing lost.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { USAGE_CHECKS } from '../../../src/database/audit-usage.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { DAY_MS, type Json, type Plan } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

/** Of the last invoice, as text: without the time that is prorated. */
async function usageOf(subscription: Json): Promise<string[]> {
  const { lines } = await market.bill(subscription);
  return lines
    .filter(({ type }: Json) => type.startsWith('usage'))
    .map(({ type, quantity, amount }: Json) => `${type} ${quantity} ${amount}`);
}

const change = (subscription: Json, to: Plan) =>
  market.act(subscription.id, 'change', { price_id: to.priceId });

test('an upgrade bills the usage so far with it, and later usage at its price', async () => {
  const plan = await market.sale();
  const big = await market.sale({
    feature: plan.feature,
    price: { amount: '60.00' },
    gives: { limit: 20 },
    sells: { model: 'per_unit', unit_amount: '0.20' },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 25);
  await market.advance('P10D');
  await change(subscription, big);
  expect(await market.bill(subscription)).toMatchObject({
    billing_reason: 'subscription_update',
    status: 'paid',
  });
  expect(await usageOf(subscription)).toEqual(['usage 15 7.50']);
  const { lines, period_start: at } = await market.bill(subscription);
  expect(lines.at(-1).period).toEqual({ start: subscription.current_period_start, end: at });
  // 25 were used, and 15 of them paid: 10 of 20.
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual(['usage 4 0.80']);
  expect((await market.bill(subscription)).total).toBe('60.80');
});

test("an upgrade's new allowance is used up before usage is billed again", async () => {
  const plan = await market.sale();
  const big = await market.sale({
    feature: plan.feature,
    price: { amount: '60.00' },
    gives: { limit: 20 },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  await market.advance('P10D');
  await change(subscription, big);
  expect(await usageOf(subscription)).toEqual(['usage 2 1.00']);
  await market.track(subscription, plan, 8);
  await market.track(subscription, plan, 3);
  await market.toEnd(subscription);
  // 23 of 20, of which 2 were paid.
  expect(await usageOf(subscription)).toEqual(['usage 1 0.50']);
});

test('an upgrade that is declined bills no usage, and the renewal bills the whole period', async () => {
  const plan = await market.sale({
    price: { interval: 'week' },
    gives: { reset_interval: 'week' },
    // 4 at 1.00 and the rest at 0.10: two spans would cost more than one.
    sells: {
      model: 'graduated',
      tiers: [
        { up_to: 4, unit_amount: '1' },
        { up_to: null, unit_amount: '0.1' },
      ],
    },
  });
  const big = await market.sale({
    feature: plan.feature,
    price: { amount: '60.00', interval: 'week' },
    gives: { reset_interval: 'week' },
  });
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 15);
  await market.advance('P2D');
  const [status, type] = await market.refused(subscription.id, 'change', {
    price_id: big.priceId,
  });
  expect([status, type]).toEqual([402, 'payment_failed']);
  expect((await market.bill(subscription)).status).toBe('void');
  await market.track(subscription, plan, 3);
  await market.toEnd(subscription);
  expect((await market.bill(subscription)).billing_reason).toBe('subscription_cycle');
  // 18 of 10: 4 x 1.00 and 4 x 0.10.
  expect(await usageOf(subscription)).toEqual(['usage 8 4.40']);
});

test.each(['paid', 'refused'])(
  'usage goes on while an upgrade is under way, then %s',
  async (answer) => {
    const plan = await market.sale();
    const big = await market.sale({
      feature: plan.feature,
      price: { amount: '60.00' },
      gives: { limit: 20 },
      sells: { model: 'per_unit', unit_amount: '0.20' },
    });
    const subscription = await market.buyer(plan);
    await market.payBy(subscription, answer === 'paid' ? 'iban' : 'ibanFails');
    await market.track(subscription, plan, 12);
    await market.advance('P1D');
    expect((await change(subscription, big)).price_id).toBe(plan.priceId);
    await market.track(subscription, plan, 13);
    await market.advance('PT1H');
    const isPaid = answer === 'paid';
    const { price_id } = await market.subscription(subscription.id);
    expect(price_id).toBe(isPaid ? big.priceId : plan.priceId);
    expect((await market.bill(subscription)).status).toBe(isPaid ? 'paid' : 'void');
    expect(await usageOf(subscription)).toEqual(['usage 2 1.00']);
    await market.toEnd(subscription);
    // Of the dearer plan: 25 of 20, of which 2 were paid. Of the first: 25 of 10.
    expect(await usageOf(subscription)).toEqual([isPaid ? 'usage 3 0.60' : 'usage 15 7.50']);
  },
);

test.each([
  ['paid', ['usage_adjustment 2 1.00', 'usage 1 0.50']],
  ['refused', ['usage 7 3.50']],
])('late usage while an upgrade is under way counts before it: %s', async (answer, expected) => {
  const plan = await market.sale();
  const big = await market.sale({ feature: plan.feature, price: { amount: '60.00' } });
  const subscription = await market.buyer(plan);
  await market.payBy(subscription, answer === 'paid' ? 'iban' : 'ibanFails');
  await market.track(subscription, plan, 14);
  await market.advance('P5D');
  await change(subscription, big);
  await market.use(subscription, plan, 2, Date.parse(subscription.current_period_start) + DAY_MS);
  await market.track(subscription, plan, 1);
  await market.advance('PT1H');
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual(expected);
});

test("an upgrade refused after the period's end: the renewal bills one span, with corrections", async () => {
  const plan = await market.sale();
  const big = await market.sale({ feature: plan.feature, price: { amount: '60.00' } });
  const subscription = await market.buyer(plan);
  await market.payBy(subscription, 'ibanFails');
  await market.track(subscription, plan, 15);
  await market.advanceTo(Date.parse(subscription.current_period_end) - 30_000);
  await change(subscription, big);
  await market.track(subscription, plan, -3);
  // The bank says no a minute after it was asked.
  await market.advance('PT2M');
  expect((await market.bill(subscription)).billing_reason).toBe('subscription_cycle');
  expect(await usageOf(subscription)).toEqual(['usage 2 1.00']);
});

test("a downgrade's credit pays for the usage so far", async () => {
  const plan = await market.sale({ price: { amount: '90.00' }, gives: { limit: 20 } });
  const small = await market.sale({ feature: plan.feature, price: { amount: '10.00' } });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 24);
  await market.advance('P10D');
  await change(subscription, small);
  const invoice = await market.bill(subscription);
  expect(invoice).toMatchObject({
    billing_reason: 'subscription_update',
    status: 'paid',
    total: '0.00',
  });
  expect(await usageOf(subscription)).toEqual(['usage 4 2.00']);
  expect(await market.payments(subscription.id)).toHaveLength(1);
  // 24 of 10: what is past the limit at its start is not billed again.
  await market.track(subscription, plan, 1);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual(['usage 1 0.50']);
});

test('a downgrade whose usage costs more than its credit is charged first', async () => {
  const plan = await market.sale();
  const small = await market.sale({ feature: plan.feature, price: { amount: '20.00' } });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 110);
  await market.advance('P10D');
  await change(subscription, small);
  expect(await usageOf(subscription)).toEqual(['usage 100 50.00']);
  const [, paid] = await market.payments(subscription.id);
  expect([paid.status, paid.amount]).toEqual([
    'succeeded',
    (await market.bill(subscription)).total,
  ]);
});

test('a downgrade declined where usage costs more than its credit changes nothing', async () => {
  const plan = await market.sale();
  const small = await market.sale({ feature: plan.feature, price: { amount: '20.00' } });
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 110);
  await market.advance('P10D');
  const [status] = await market.refused(subscription.id, 'change', { price_id: small.priceId });
  expect(status).toBe(402);
  const early = Date.parse(subscription.current_period_start) + DAY_MS;
  await market.use(subscription, plan, 1, early);
  await market.act(subscription.id, 'cancel');
  await market.act(subscription.id, 'uncancel');
  await market.toEnd(subscription);
  expect((await market.bills(subscription)).at(-1)).toBe(
    'subscription_cycle open 80.50: recurring 30.00, usage 101 50.50',
  );
});

test('a plan change with a scheduled cancellation leaves later usage to the last invoice', async () => {
  const plan = await market.sale({ meter: { aggregation: 'max' } });
  const big = await market.sale({ feature: plan.feature, price: { amount: '60.00' } });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.act(subscription.id, 'cancel');
  await market.advance('P10D');
  await change(subscription, big);
  const { current_period_start: start, current_period_end: end } = subscription;
  const days = (Date.parse(end) - Date.parse(start)) / DAY_MS;
  const part = (dollars: number, of: number): string => ((dollars * of) / days).toFixed(2);
  expect(await usageOf(subscription)).toEqual([`usage 4 ${part(2, 10)}`]);
  await market.track(subscription, plan, 12);
  await market.track(subscription, plan, 17);
  await market.toEnd(subscription);
  // The greatest value of the period, for the days of each price.
  const rest = part(3.5, days - 10);
  expect((await market.bills(subscription)).at(-1)).toBe(`usage paid ${rest}: usage 7 ${rest}`);
});

test('a greater quantity bills the usage so far, and gives more', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.advance('P10D');
  await market.act(subscription.id, 'change', { quantity: 2 });
  expect(await usageOf(subscription)).toEqual(['usage 4 2.00']);
  await market.track(subscription, plan, 13);
  await market.toEnd(subscription);
  // 27 of 20, of which 4 were paid.
  expect(await usageOf(subscription)).toEqual(['usage 3 1.50']);
});

test('a change of interval begins a new period with no usage', async () => {
  const plan = await market.sale();
  const yearly = {
    ...plan,
    priceId: await market.price(plan, { interval: 'year', amount: '300.00' }),
  };
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.advance('P10D');
  await change(subscription, yearly);
  expect(await usageOf(subscription)).toEqual(['usage 4 2.00']);
  // What was used of the allowance counts until the month of before would have ended: then ten
  // units cover these three.
  await market.track(subscription, plan, 3);
  await market.advance('P40D');
  await market.track(subscription, plan, 12);
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect(await usageOf(subscription)).toEqual(['usage 2 1.00']);
});

test('a change to a plan that does not sell the feature bills no more usage of it', async () => {
  const plan = await market.sale();
  const free = await market.sale({
    feature: plan.feature,
    price: { amount: '60.00' },
    sells: null,
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.advance('P10D');
  await change(subscription, free);
  expect(await usageOf(subscription)).toEqual(['usage 4 2.00']);
  expect(await market.check(subscription, plan)).toMatchObject({ allowed: false });
  await market.track(subscription, plan, 5);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual([]);
  // And back: what was used in between stays free.
  await market.track(subscription, plan, 13);
  await change(subscription, plan);
  await market.track(subscription, plan, 2);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual(['usage 2 1.00']);
});

test('a change to the same price bills nothing', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await change(subscription, plan);
  await market.act(subscription.id, 'change', { quantity: 1 });
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 32.00: recurring 30.00, usage 4 2.00',
  ]);
});

test('a late event from before a plan change has the price of that time', async () => {
  const plan = await market.sale();
  const big = await market.sale({
    feature: plan.feature,
    price: { amount: '60.00' },
    sells: { model: 'per_unit', unit_amount: '0.20' },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.advance('P10D');
  await change(subscription, big);
  await market.track(subscription, plan, 5);
  const early = Date.parse(subscription.current_period_start) + DAY_MS;
  await market.use(subscription, plan, 3, early);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual(['usage_adjustment 3 1.50', 'usage 5 1.00']);
});

test('a plan change in a trial bills no usage', async () => {
  const plan = await market.sale({ price: { trial_days: 10 } });
  const big = await market.sale({ feature: plan.feature, price: { amount: '60.00' } });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.advance('P5D');
  await change(subscription, big);
  await market.track(subscription, plan, 3);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual([]);
});

test('a change to a cheaper interval has an invoice, on which usage of nothing is settled', async () => {
  const price = { amount: '1000.00', interval: 'year' };
  const yearly = await market.sale({ price, gives: { limit: 10, reset_interval: 'month' } });
  const subscription = await market.buyer(yearly);
  const { id, current_period_start: from, current_period_end: to } = subscription;
  await market.advance('P73D');
  const monthly = await market.price(yearly, { amount: '100.00' });
  const changed = await market.act(id, 'change', { price_id: monthly });
  const invoice = await market.bill(subscription);
  const at = invoice.period_start;
  expect(at).toBe(changed.current_period_start);
  const [whole, rest] = [Date.parse(to) - Date.parse(from), Date.parse(to) - Date.parse(at)];
  const unused = (Math.round((100_000 * rest) / whole) / 100).toFixed(2);
  const kept = (Number(unused) - 100).toFixed(2);
  expect(Number(kept)).toBeCloseTo(700, 0);
  expect(invoice).toMatchObject({ status: 'paid', total: '0.00', payment_id: null });
  expect(invoice.lines).toMatchObject([
    { type: 'proration', amount: `-${unused}`, period: { start: at, end: to } },
    { type: 'recurring', amount: '100.00', period: { start: at } },
    { type: 'usage', quantity: 0, amount: '0.00', period: { start: from, end: at } },
    { type: 'credit', amount: kept, period: null },
  ]);
  const { sql } = market.shop.server;
  const name = 'a span of usage is billed when it is over';
  const late = await sql.unsafe(must(USAGE_CHECKS[name], name));
  expect(late.filter((row) => row['subscription'] === id)).toEqual([]);
});
