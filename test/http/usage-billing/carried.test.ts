// Sold levels that go on: a period without an event bills the level that it began with
// (docs/spec/balance.md#levels).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import type { Json } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

const HALF = 'PT84H';
const SEATS = {
  price: { interval: 'week' },
  gives: { limit: 1, reset_interval: 'week' },
  meter: { aggregation: 'last', carry: true },
  sells: { unit_amount: '10.00', model: 'per_unit' },
} as const;

/** The lines of usage of all invoices, those that say nothing left out. */
async function usageOf({ id }: Json): Promise<string[]> {
  const lines: Json[] = (await market.invoices(id)).flatMap(({ lines: all }: Json) => all);
  return lines
    .filter(({ type, quantity }) => type.startsWith('usage') && quantity !== 0)
    .map(({ type, quantity, amount }) => `${type} ${quantity} ${amount}`);
}

test('a week without an event bills the level of the week before, as it was previewed', async () => {
  const plan = await market.sale(SEATS);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 5);
  await market.toEnd(subscription);
  const coming = await market.usageToCome(subscription);
  expect([coming.quantity, coming.amount]).toEqual([4, '40.00']);
  await market.toEnd(subscription);
  await market.track(subscription, plan, 3);
  await market.toEnd(subscription);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual([
    'usage 4 40.00',
    'usage 4 40.00',
    'usage 2 20.00',
    'usage 2 20.00',
  ]);
  await market.expectSound();
});

test('a late event adjusts each week that it sets the level of', async () => {
  const plan = await market.sale(SEATS);
  const subscription = await market.buyer(plan);
  const start = await market.now();
  await market.track(subscription, plan, 5);
  for (let week = 0; week < 3; week += 1) await market.toEnd(subscription);
  await market.use(subscription, plan, 7, start + 3_600_000);
  await market.expectSound();
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual([
    'usage 4 40.00',
    'usage 4 40.00',
    'usage 4 40.00',
    'usage_adjustment 2 20.00',
    'usage_adjustment 2 20.00',
    'usage_adjustment 2 20.00',
    'usage 6 60.00',
  ]);
  await market.expectSound();
});

test('a carried level is sold by the price of each part of its week', async () => {
  const plan = await market.sale(SEATS);
  const { feature } = plan;
  const dearer = await market.sale({
    ...SEATS,
    feature,
    sells: { unit_amount: '20.00', model: 'per_unit' },
    price: { interval: 'week', amount: '31.00' },
  });
  const subscription = await market.buyer(plan);
  const start = await market.now();
  await market.track(subscription, plan, 5);
  await market.toEnd(subscription);
  await market.advance(HALF);
  await market.act(subscription.id, 'change', { price_id: dearer.priceId });
  await market.advance('PT1H');
  await market.track(subscription, plan, 2);
  // Of the first week: it sets the level of the half that was billed, too.
  await market.use(subscription, plan, 3, start + 3_600_000);
  await market.expectSound();
  await market.toEnd(subscription);
  const lines = await usageOf(subscription);
  expect(lines.toSorted()).toEqual(
    [
      'usage 4 40.00',
      'usage 4 20.00',
      'usage 1 10.00',
      'usage_adjustment -2 -20.00',
      'usage_adjustment -2 -10.00',
    ].toSorted(),
  );
  await market.expectSound();
});

test('the CSV of usage has no event for a level that is carried', async () => {
  const plan = await market.sale(SEATS);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 5);
  await market.toEnd(subscription);
  await market.toEnd(subscription);
  const rows = async (invoice: Json): Promise<number> => {
    const path = `/invoices/${invoice.id}/usage.csv`;
    const { status, text } = await market.shop.server.call('GET', path);
    expect(status).toBe(200);
    return text.trim().split('\r\n').length - 1;
  };
  const [, first, second] = await market.invoices(subscription.id);
  expect([await rows(first), await rows(second)]).toEqual([1, 0]);
});
