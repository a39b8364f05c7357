// A change that a bank debit pays, while the period of an allowance ends: what has ended is of the
// old plan.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import type { Json } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(async () => {
  await market.expectSound();
  await market.close();
});

const perUnit = (unit_amount: string) => ({ model: 'per_unit', unit_amount }) as const;

const usageOf = ({ lines }: Json): string[] =>
  lines
    .filter(({ type }: Json) => type.startsWith('usage'))
    .map(({ type, quantity, amount }: Json) => `${type} ${quantity} ${amount}`);

/** Daily allowances, of which the larger costs more for what is beyond it. */
async function buyer(reset_interval: 'day' | 'month') {
  const small = await market.sale({ gives: { limit: 10, reset_interval }, sells: perUnit('1.00') });
  const large = await market.sale({
    feature: small.feature,
    price: { amount: '60.00' },
    gives: { limit: 100, reset_interval },
    sells: perUnit('7.00'),
  });
  const subscription = await market.buyer(small);
  await market.payBy(subscription, 'iban');
  const change = async (plan: typeof small) =>
    market.act(subscription.id, 'change', { price_id: plan.priceId });
  return { small, large, subscription, change };
}

test('a day that ends while a larger plan waits has the old limit and the old price', async () => {
  const { small, large, subscription, change } = await buyer('day');
  await market.advance('P3DT1H');
  const { period_end: end } = await market.check(subscription, small);
  await market.advanceTo(Date.parse(end) - 30_000);
  await change(large);
  await market.track(subscription, small, 17);
  await market.advanceTo(Date.parse(end) + 5000);
  expect((await market.subscription(subscription.id)).pending_change).not.toBeNull();
  await market.track(subscription, small, 130);
  const upcoming = () => market.shop.read(`/subscriptions/${subscription.id}/upcoming-invoice`);
  const told = usageOf(await upcoming());
  await market.advance('PT1H');
  expect((await market.subscription(subscription.id)).price_id).toBe(large.priceId);
  expect(usageOf(await upcoming())).toEqual(told);
  await market.toEnd(subscription);
  expect(usageOf(await market.bill(subscription))).toEqual(told);
  // 17 of 10 at 1.00; of the day in which it was paid 130 of 100 at 7.00.
  expect(told.toSorted()).toEqual(['usage 30 210.00', 'usage 7 7.00']);
  await market.stop(subscription);
});

test('a larger plan that was waited for, and back, leaves no debt to what is bought', async () => {
  const { small, large, subscription, change } = await buyer('month');
  await market.track(subscription, small, 12);
  await market.advance('P2D');
  await change(large);
  await market.track(subscription, small, 5);
  await market.advance('PT1H');
  await change(small);
  await market.advance('PT1H');
  const grant = { feature_key: small.feature, amount: 50 };
  const { customer_id } = subscription;
  expect((await market.post(`/customers/${customer_id}/grants`, grant)).status).toBe(201);
  expect(await market.check(subscription, small)).toMatchObject({ balance: 50, billed: 2 });
  await market.stop(subscription);
});
