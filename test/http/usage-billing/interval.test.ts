// A change to another interval: what was used in the old period counts against the new allowance
// until the old period would have ended (docs/spec/balance.md#plans).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import type { Json, Plan } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

const DAY_MS = 86_400_000;
const YEAR = {
  price: { interval: 'year', amount: '600.00' },
  gives: { limit: 20, reset_interval: 'year' },
  sells: { unit_amount: '1.00', model: 'per_unit' },
} as const;

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

async function balanceOf({ customer_id }: Json, { feature }: Plan): Promise<unknown[]> {
  const body = { feature_key: feature, customer_id };
  const { json } = await market.post('/check', body);
  return [json.balance, json.limit, json.consumed];
}

test('what was used of the month counts against the year until the month would have ended', async () => {
  const month = await market.sale({ sells: null });
  const year = await market.sale({ ...YEAR, feature: month.feature });
  const subscription = await market.buyer(month);
  const end = Date.parse(subscription.current_period_end);
  await market.use(subscription, month, 10);
  await market.advanceTo(new Date(end - DAY_MS).toISOString());
  await market.act(subscription.id, 'change', { price_id: year.priceId });
  expect(await balanceOf(subscription, month)).toEqual([10, 10, 0]);
  await market.use(subscription, month, 15);
  expect((await market.usageToCome(subscription)).amount).toBe('0.00');
  // The customer is loaded again.
  market.shop.server.ledger.forget(subscription.customer_id);
  await market.advanceTo(new Date(end + 1000).toISOString());
  expect(await balanceOf(subscription, month)).toEqual([5, 20, 15]);
  expect((await market.usageToCome(subscription)).amount).toBe('0.00');
  await market.expectSound();
  expect(await audit(market.shop.server.sql)).toEqual([]);
});

test('a month to a year and back to a month does not bill the first month’s units again', async () => {
  const month = await market.sale();
  const year = await market.sale({ ...YEAR, feature: month.feature, sells: null });
  const subscription = await market.buyer(month);
  const end = Date.parse(subscription.current_period_end);
  await market.use(subscription, month, 8);
  await market.advanceTo(new Date(end - DAY_MS).toISOString());
  await market.act(subscription.id, 'change', { price_id: year.priceId });
  await market.act(subscription.id, 'change', { price_id: month.priceId });
  expect((await balanceOf(subscription, month))[0]).toBe(2);
  await market.advanceTo(new Date(end + 1000).toISOString());
  expect((await balanceOf(subscription, month))[0]).toBe(10);
  await market.expectSound();
});
