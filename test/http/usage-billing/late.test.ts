// Events that come after their period was billed, and corrections of it: the next invoice has the
// difference, whatever comes in which order.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { DAY_MS, type Json } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

/** A day after the start of its first period. */
const early = ({ current_period_start }: Json): number => Date.parse(current_period_start) + DAY_MS;

test('a late event is an adjustment of the next invoice, for its own period', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  await market.use(subscription, plan, 3, early(subscription));
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 32.00: recurring 30.00, usage 4 2.00',
    'subscription_cycle paid 31.50: recurring 30.00, usage_adjustment 3 1.50, usage 0 0.00',
  ]);
  const [, adjustment] = (await market.bill(subscription)).lines;
  expect(adjustment).toMatchObject({
    feature_key: plan.feature,
    period: { start: subscription.current_period_start, end: subscription.current_period_end },
    // Of the whole quantity.
    tiers: [{ quantity: 7, amount: '3.50' }],
  });
});

test('a late event below the allowance costs nothing, and past it only the rest', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 6);
  await market.toEnd(subscription);
  await market.use(subscription, plan, 3, early(subscription));
  await market.toEnd(subscription);
  await market.use(subscription, plan, 5, early(subscription) + 30 * DAY_MS);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 30.00: recurring 30.00, usage 0 0.00',
    'subscription_cycle paid 30.00: recurring 30.00, usage 0 0.00',
  ]);
});

test('a correction of billed usage gives it back', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 20);
  await market.toEnd(subscription);
  // Eight are left, which are within the allowance: all ten that were billed come back.
  await market.use(subscription, plan, -12, early(subscription));
  await market.track(subscription, plan, 11);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 35.00: recurring 30.00, usage 10 5.00',
    'subscription_cycle paid 25.50: recurring 30.00, usage_adjustment -10 -5.00, usage 1 0.50',
  ]);
});

test("an adjustment beyond the invoice's total is a credit, which the next invoices use", async () => {
  const plan = await market.sale({ price: { amount: '3.00' } });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 26);
  await market.toEnd(subscription);
  await market.use(subscription, plan, -20, early(subscription));
  await market.toEnd(subscription);
  await market.toEnd(subscription);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 11.00: recurring 3.00, usage 16 8.00',
    'subscription_cycle paid 0.00: recurring 3.00, usage_adjustment -16 -8.00, usage 0 0.00, credit 5.00',
    'subscription_cycle paid 0.00: recurring 3.00, usage 0 0.00, credit -3.00',
    'subscription_cycle paid 1.00: recurring 3.00, usage 0 0.00, credit -2.00',
  ]);
  const paid = await market.payments(subscription.id);
  expect(paid.map(({ amount }) => amount)).toEqual(['3.00', '11.00', '1.00']);
});

test('a credit that an ended subscription leaves is used by the customer’s other one', async () => {
  const plan = await market.sale({ price: { amount: '1.00' } });
  const other = await market.sale({ price: { amount: '4.00', interval: 'week' } });
  const subscription = await market.buyer(plan);
  const second = await market.subscribe(other, subscription.customer_id);
  await market.track(subscription, plan, 22);
  await market.toEnd(subscription);
  await market.use(subscription, plan, -22, early(subscription));
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 7.00: recurring 1.00, usage 12 6.00',
    'usage paid 0.00: usage_adjustment -12 -6.00, usage 0 0.00, credit 6.00',
  ]);
  const before = (await market.bills(second)).length;
  for (let renewals = 0; renewals < 2; renewals += 1) await market.toEnd(second);
  expect((await market.bills(second)).slice(before)).toEqual([
    'subscription_cycle paid 0.00: recurring 4.00, usage 0 0.00, credit -4.00',
    'subscription_cycle paid 2.00: recurring 4.00, usage 0 0.00, credit -2.00',
  ]);
});

test('late usage with tiers and packages rates the period again as a whole', async () => {
  const plan = await market.sale({
    price: { interval: 'week' },
    gives: { reset_interval: 'week' },
    sells: { model: 'package', package_size: 5, package_amount: '1.00', minimum_amount: '1.50' },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  await market.use(subscription, plan, 1, early(subscription));
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    // 4: one package, at least 1.50.
    'subscription_cycle paid 31.50: recurring 30.00, usage 4 1.50',
    // 5: one package still. A change that costs nothing is said as well.
    'subscription_cycle paid 31.50: recurring 30.00, usage_adjustment 1 0.00, usage 0 1.50',
  ]);
  await market.use(subscription, plan, 1, early(subscription));
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  // 6: two packages, 2.00; the period that ends has just begun, so its minimum is nothing.
  expect((await market.bills(subscription)).at(-1)).toBe(
    'usage paid 0.50: usage_adjustment 1 0.50, usage 0 0.00',
  );
});

test('usage after the last invoice is recorded and not billed', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  await market.advance('P2D');
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  await market.use(subscription, plan, 8, early(subscription));
  await market.use(subscription, plan, 8);
  await market.advance('P2M');
  expect(await market.bills(subscription)).toEqual(['usage paid 1.00: usage 2 1.00']);
});

test('usage on a voided invoice is waived: only later usage is billed', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  const { id } = await market.bill(subscription);
  expect((await market.post(`/invoices/${id}/void`)).status).toBe(200);
  await market.use(subscription, plan, 1, early(subscription));
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle void 32.00: recurring 30.00, usage 4 2.00',
    'subscription_cycle open 30.50: recurring 30.00, usage_adjustment 1 0.50, usage 0 0.00',
  ]);
});

test('usage that the merchant has waived is neither given back nor billed again', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan, 'renewalFails');
  const used = await market.now();
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  const { id } = await market.bill(subscription);
  expect((await market.post(`/invoices/${id}/void`)).status).toBe(200);
  await market.payBy(subscription, 'good');
  await market.use(subscription, plan, -4, used);
  await market.toEnd(subscription);
  // 20 of 10 cost 5.00, of which 2.00 are waived.
  await market.use(subscription, plan, 10, used + 28 * DAY_MS);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle void 32.00: recurring 30.00, usage 4 2.00',
    'subscription_cycle paid 30.00: recurring 30.00, usage 0 0.00',
    'subscription_cycle paid 33.00: recurring 30.00, usage_adjustment 6 3.00, usage 0 0.00',
  ]);
});
