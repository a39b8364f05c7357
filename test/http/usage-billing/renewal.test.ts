// What a renewal bills for the usage of the period that has ended: every model, and its bounds.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

test('a renewal bills usage past the allowance as a line, for the period that has ended', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 10);
  await market.track(subscription, plan, 5);
  expect(await market.check(subscription, plan)).toMatchObject({
    allowed: true,
    reason: 'overage_allowed',
    overage_allowed: true,
    limit: 10,
    balance: -5,
  });
  const renewed = await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 32.50: recurring 30.00, usage 5 2.50',
  ]);
  const { lines, period_start: start, period_end: end } = await market.bill(subscription);
  expect([start, end]).toEqual([renewed.current_period_start, renewed.current_period_end]);
  expect(lines[1]).toMatchObject({
    feature_key: plan.feature,
    quantity: 5,
    amount: '2.50',
    tiers: [{ quantity: 5, unit_amount: '0.50', flat_amount: null, amount: '2.50' }],
    period: {
      start: subscription.current_period_start,
      end: subscription.current_period_end,
    },
  });
  const paid = (await market.payments(subscription.id)).at(-1);
  expect([paid.amount, paid.status]).toEqual(['32.50', 'succeeded']);
  expect(await market.check(subscription, plan)).toMatchObject({ reason: 'ok', balance: 10 });
  // The next one begins at nothing.
  await market.toEnd(subscription);
  expect((await market.bills(subscription)).at(-1)).toBe(
    'subscription_cycle paid 30.00: recurring 30.00, usage 0 0.00',
  );
});

const TIERS = [
  { up_to: 2, unit_amount: '1' },
  { up_to: 4, unit_amount: '0.4', flat_amount: '3' },
  { up_to: null, unit_amount: '0.25', flat_amount: '1' },
];
// Beyond the allowance of 10. By hand:
// graduated 5: 2 x 1 + (3 + 2 x 0.4) + (1 + 1 x 0.25) = 7.05; 4: 5.80; volume 5: 5 x 0.25 + 1 =
// 2.25; 4: 4.60.
test.each([
  ['per_unit', { unit_amount: '0.003' }, 5, '0.02'],
  ['per_unit', { unit_amount: '0.003' }, 1, '0.00'],
  ['graduated', { tiers: TIERS }, 5, '7.05'],
  ['graduated', { tiers: TIERS }, 4, '5.80'],
  ['graduated', { tiers: TIERS }, 0, '0.00'],
  ['volume', { tiers: TIERS }, 5, '2.25'],
  ['volume', { tiers: TIERS }, 4, '4.60'],
  ['volume', { tiers: TIERS }, 2, '2.00'],
  ['package', { package_size: 3, package_amount: '0.70' }, 5, '1.40'],
  ['package', { package_size: 3, package_amount: '0.70' }, 6, '1.40'],
  ['package', { package_size: 3, package_amount: '0.70' }, 0, '0.00'],
  ['per_unit', { unit_amount: '1', minimum_amount: '4.00' }, 3, '4.00'],
  ['per_unit', { unit_amount: '1', minimum_amount: '4.00' }, 5, '5.00'],
  ['per_unit', { unit_amount: '1', minimum_amount: '4.00' }, 0, '4.00'],
  ['per_unit', { unit_amount: '1', maximum_amount: '4.00' }, 5, '4.00'],
])('a renewal with %s %j: %d units cost %s', async (model, fields, units, amount) => {
  const plan = await market.sale({ sells: { model, ...fields } });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 10 + units);
  await market.toEnd(subscription);
  expect((await market.bill(subscription)).lines[1]).toMatchObject({
    type: 'usage',
    quantity: units,
    amount,
  });
  await market.stop(subscription);
});

test('a renewal bills a minimum for a period without usage', async () => {
  const plan = await market.sale({ sells: { minimum_amount: '4.00' } });
  const subscription = await market.buyer(plan);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 34.00: recurring 30.00, usage 0 4.00',
  ]);
});

test('a renewal bills fractions of units as they are', async () => {
  const plan = await market.sale({
    meter: { scale: 6 },
    gives: { limit: '1.5' },
    sells: { model: 'per_unit', unit_amount: '10.000001' },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 2.000001);
  await market.track(subscription, plan, 0.25);
  await market.toEnd(subscription);
  const [, line] = (await market.bill(subscription)).lines;
  // 0.750001 x 10.000001 = 7.500010750001
  expect(line).toMatchObject({ quantity: 0.750001, amount: '7.50' });
  expect(line.tiers).toEqual([
    { quantity: 0.750001, unit_amount: '10.000001', flat_amount: null, amount: '7.500010750001' },
  ]);
});

test('a renewal bills two features as two lines, each beyond its own allowance', async () => {
  const plan = await market.sale();
  const other = { ...plan, feature: (await market.sale({ sells: null })).feature };
  await market.sell(other, { model: 'package', package_size: 4, package_amount: '2.00' });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  // Nothing of it is included.
  await market.track(subscription, other, 5);
  await market.toEnd(subscription);
  const { lines, total } = await market.bill(subscription);
  expect(total).toBe('35.00');
  const sold = lines
    .slice(1)
    .map(({ feature_key, quantity, amount }: Record<string, unknown>) => [
      feature_key,
      quantity,
      amount,
    ]);
  expect(sold).toContainEqual([plan.feature, 2, '1.00']);
  expect(sold).toContainEqual([other.feature, 5, '4.00']);
  expect(sold).toHaveLength(2);
});

test("a renewal's discount on the subscription does not cover usage", async () => {
  const code = `d-${ids.next()}`;
  await market.shop.discount(code, { percent_off: 50 });
  const plan = await market.sale();
  const subscription = await market.buyer(plan, 'good', { discount_code: code });
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  const [first, second] = await market.invoices(subscription.id);
  expect([first.total, second.lines.at(-1).amount]).toEqual(['15.00', '2.00']);
});

test('a renewal of a free plan bills usage', async () => {
  const plan = await market.sale({ price: { amount: '0' }, gives: null });
  const subscription = await market.subscribe(plan, await market.cardholder());
  await market.track(subscription, plan, 7);
  await market.toEnd(subscription);
  const [created, renewed] = await market.invoices(subscription.id);
  expect([created.total, created.status]).toEqual(['0.00', 'paid']);
  expect([renewed.total, renewed.status]).toEqual(['3.50', 'paid']);
  await market.toEnd(subscription);
  expect(await market.bill(subscription)).toMatchObject({ total: '0.00', status: 'paid' });
});

test('a renewal in a currency without decimals is rounded to its coin', async () => {
  const plan = await market.sale({
    price: { currency: 'JPY', amount: '300' },
    sells: { currency: 'JPY', model: 'per_unit', unit_amount: '0.5' },
  });
  const subscription = await market.buyer(plan, 'good', { currency: 'JPY' });
  await market.track(subscription, plan, 13);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 302: recurring 300, usage 3 2',
  ]);
});
