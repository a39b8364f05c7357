// A level (`last`, `max`, `unique`) is used for a time: what is above the limit at the end of a
// span costs the share of the period for which it was sold (docs/spec/balance.md#levels).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Fields, PATIENCE_MS } from '../../payments/shop.ts';
import type { Json, Plan } from '../subscriptions/subscribing.ts';
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
  gives: { limit: 0, reset_interval: 'week' },
  meter: { aggregation: 'last' },
  sells: { unit_amount: '10.00', model: 'per_unit' },
} as const;
const GRADUATED = {
  model: 'graduated',
  tiers: [
    { up_to: 10, unit_amount: '10.00' },
    { up_to: null, unit_amount: '5.00' },
  ],
};

/** Another plan of the same feature. */
function beside({ feature }: Plan, sells: Fields) {
  return market.sale({ ...SEATS, feature, sells, price: { interval: 'week', amount: '31.00' } });
}

const changeTo = (subscription: Json, { priceId }: Plan) =>
  market.act(subscription.id, 'change', { price_id: priceId });

/** The lines of usage of all invoices, those that say nothing left out. */
async function usageOf({ id }: Json): Promise<string[]> {
  const lines: Json[] = (await market.invoices(id)).flatMap(({ lines: all }: Json) => all);
  return lines
    .filter(
      ({ type, quantity, amount }) =>
        type.startsWith('usage') && `${quantity} ${amount}` !== '0 0.00',
    )
    .map(({ type, quantity, amount }) => `${type} ${quantity} ${amount}`);
}

test('five seats at 10.00, from half of the period on at 20.00, are 75.00', async () => {
  const plan = await market.sale(SEATS);
  const dearer = await beside(plan, { unit_amount: '20.00', model: 'per_unit' });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 5);
  await market.advance(HALF);
  await changeTo(subscription, dearer);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual(['usage 5 25.00', 'usage 5 50.00']);
  await market.expectSound();
});

test('a change of quantity bills the level of now for the time so far', async () => {
  const plan = await market.sale(SEATS);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 4);
  await market.advance(HALF);
  await market.act(subscription.id, 'change', { quantity: 2 });
  await market.track(subscription, plan, 6);
  const line = await market.usageToCome(subscription);
  await market.toEnd(subscription);
  // Six for the whole week, of which 20.00 were billed.
  expect(await usageOf(subscription)).toEqual(['usage 4 20.00', 'usage 2 40.00']);
  expect([line.quantity, line.amount]).toEqual([2, '40.00']);
  await market.expectSound();
});

test('fewer seats at the end give back what was billed for more', async () => {
  const plan = await market.sale(SEATS);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 10);
  await market.advance(HALF);
  await market.act(subscription.id, 'change', { quantity: 2 });
  await market.track(subscription, plan, 2);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual(['usage 10 50.00', 'usage_adjustment -8 -30.00']);
  await market.expectSound();
});

test.each([
  ['minimum', { minimum_amount: '31.00' }, 0, '15.50'],
  ['maximum', { maximum_amount: '31.00' }, 9, '15.50'],
])('a %s is for the share of the period', async (_what, bound, level, amount) => {
  const plan = await market.sale({ ...SEATS, sells: { ...SEATS.sells, ...bound } });
  const subscription = await market.buyer(plan);
  if (level > 0) await market.track(subscription, plan, level);
  await market.advance(HALF);
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect(await usageOf(subscription)).toEqual([`usage ${level} ${amount}`]);
  await market.expectSound();
});

test('a price that comes back begins a new span', async () => {
  const plan = await market.sale({ ...SEATS, sells: GRADUATED });
  const other = await beside(plan, { unit_amount: '1.00', model: 'per_unit' });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  for (const next of [other, plan]) {
    await market.advance('PT42H');
    await changeTo(subscription, next);
  }
  await market.track(subscription, plan, 2);
  await market.toEnd(subscription);
  // A quarter of 110.00, a quarter of 12.00, and half of 20.00.
  expect(await usageOf(subscription)).toEqual(['usage 12 27.50', 'usage 12 3.00', 'usage 2 10.00']);
  await market.expectSound();
});

test('a late level of a period that is over is an adjustment', async () => {
  const plan = await market.sale(SEATS);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 4);
  await market.toEnd(subscription);
  const late = Date.parse(subscription.current_period_end) - 1000;
  await market.use(subscription, plan, 7, late);
  await market.toEnd(subscription);
  expect(await usageOf(subscription)).toEqual(['usage 4 40.00', 'usage_adjustment 3 30.00']);
  await market.expectSound();
});

test('a spend cap counts a level as what it costs for a whole period', async () => {
  const plan = await market.sale({ ...SEATS, sells: GRADUATED });
  const subscription = await market.buyer(plan);
  const { customer_id } = subscription;
  const cap = { body: { amount: '110.00', currency: 'USD' } };
  const path = `/customers/${customer_id}/spend-cap`;
  expect((await market.shop.server.call('PUT', path, cap)).status).toBe(200);
  const use = async (value: number): Promise<number> => {
    const body = { customer_id, feature_key: plan.feature, value, overage: 'reject' };
    return (await market.post('/track', body)).status;
  };
  expect([await use(13), await use(12)]).toEqual([402, 200]);
  await market.advance(HALF);
  await market.act(subscription.id, 'change', { quantity: 2 });
  // Half of 110.00 is billed.
  expect([await use(13), await use(12)]).toEqual([402, 200]);
  await market.expectSound();
});
