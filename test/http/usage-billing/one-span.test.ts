// What a price sells in one period is rated as one, however often a change cuts it
// (docs/spec/balance.md#what-usage-costs).
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

const WEEKLY = {
  price: { interval: 'week' },
  gives: { limit: 0, reset_interval: 'week' },
} as const;
const GRADUATED = {
  model: 'graduated',
  tiers: [
    { up_to: 10, unit_amount: '10.00' },
    { up_to: null, unit_amount: '5.00' },
  ],
};

/** Of each invoice its lines of usage, as text. */
async function usageOf(subscription: Json): Promise<string[]> {
  const invoices = await market.invoices(subscription.id);
  return invoices.map(({ lines }: Json) =>
    lines
      .filter(({ type }: Json) => type.startsWith('usage'))
      .map(({ type, quantity, amount }: Json) => `${type} ${quantity} ${amount}`)
      .join(', '),
  );
}

test('a minimum is billed once, however often the quantity changes', async () => {
  const plan = await market.sale({ ...WEEKLY, sells: { minimum_amount: '30.00' } });
  const subscription = await market.buyer(plan);
  for (const quantity of [2, 3, 1]) {
    await market.advance('P1D');
    await market.act(subscription.id, 'change', { quantity });
  }
  await market.toEnd(subscription);
  const billed = (await usageOf(subscription)).filter((lines) => lines !== '');
  expect(billed).toEqual(['usage 0 0.00', 'usage 0 30.00']);
  await market.expectSound();
});

test('a minimum is for the share of a period that a cancellation cuts', async () => {
  const plan = await market.sale({ ...WEEKLY, sells: { minimum_amount: '31.00' } });
  const subscription = await market.buyer(plan);
  await market.advance('PT84H');
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect((await usageOf(subscription)).at(-1)).toBe('usage 0 15.50');
  await market.expectSound();
});

test('tiers go on over a change of quantity', async () => {
  const plan = await market.sale({ ...WEEKLY, sells: GRADUATED });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  await market.advance('P1D');
  await market.act(subscription.id, 'change', { quantity: 2 });
  await market.track(subscription, plan, 10);
  const line = await market.usageToCome(subscription);
  await market.toEnd(subscription);
  expect((await usageOf(subscription)).slice(-2)).toEqual(['usage 12 110.00', 'usage 10 50.00']);
  expect([line.quantity, line.amount]).toEqual([10, '50.00']);
  await market.expectSound();
});

test('tiers go on where a price comes back within its period', async () => {
  const plan = await market.sale({ ...WEEKLY, sells: GRADUATED });
  const other = await market.sale({
    ...WEEKLY,
    feature: plan.feature,
    price: { interval: 'week', amount: '31.00' },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  for (const { priceId } of [other, plan]) {
    await market.advance('P1D');
    await market.act(subscription.id, 'change', { price_id: priceId });
  }
  await market.track(subscription, plan, 10);
  await market.toEnd(subscription);
  const billed = (await usageOf(subscription)).filter((lines) => lines !== '');
  expect(billed).toEqual(['usage 12 110.00', 'usage 0 0.00', 'usage 10 50.00']);
  await market.expectSound();
});

test('late usage of a period that was billed in part is in what is left of it', async () => {
  const plan = await market.sale({ ...WEEKLY, sells: GRADUATED });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 8);
  await market.advance('P1D');
  await market.act(subscription.id, 'change', { quantity: 2 });
  await market.use(subscription, plan, 4, subscription.current_period_start);
  await market.toEnd(subscription);
  expect((await usageOf(subscription)).slice(-2)).toEqual(['usage 8 80.00', 'usage 4 30.00']);
  await market.use(subscription, plan, 1, subscription.current_period_start);
  await market.toEnd(subscription);
  expect((await usageOf(subscription)).at(-1)).toBe('usage_adjustment 1 5.00, usage 0 0.00');
  await market.expectSound();
});

test('a change that is not paid leaves its period as it was', async () => {
  const plan = await market.sale({ ...WEEKLY, sells: { ...GRADUATED, minimum_amount: '200.00' } });
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 12);
  await market.advance('P1D');
  expect((await market.refused(subscription.id, 'change', { quantity: 2 }))[0]).toBe(402);
  await market.track(subscription, plan, 10);
  await market.payBy(subscription, 'good');
  await market.toEnd(subscription);
  expect((await usageOf(subscription)).at(-1)).toBe('usage 22 200.00');
  await market.expectSound();
});
