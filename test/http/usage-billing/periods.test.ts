// Periods of the meter that are not those of the subscription, and allowances from elsewhere.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { DAY_MS } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

/** One package of three a day costs 1.00. */
const PACKAGE = { model: 'package', package_size: 3, package_amount: '1.00' } as const;

test('days under a weekly plan are rated one by one, and are one line', async () => {
  const plan = await market.sale({
    price: { interval: 'week' },
    gives: { limit: 2, reset_interval: 'day' },
    sells: PACKAGE,
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 3);
  await market.advance('P1D');
  await market.track(subscription, plan, 6);
  await market.advance('P2D');
  await market.track(subscription, plan, 2);
  await market.toEnd(subscription);
  // 1 past 2, then 4 past 2: one package and two.
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 33.00: recurring 30.00, usage 5 3.00',
  ]);
  const [, line] = (await market.bill(subscription)).lines;
  expect(line.period).toEqual({
    start: subscription.current_period_start,
    end: subscription.current_period_end,
  });
  // Two more on the first day are still within its package; on the second they begin another.
  const first = Date.parse(subscription.current_period_start) + 1000;
  await market.use(subscription, plan, 2, first);
  await market.use(subscription, plan, 3, first + DAY_MS);
  await market.toEnd(subscription);
  expect((await market.bills(subscription)).at(-1)).toBe(
    'subscription_cycle paid 31.00: recurring 30.00, usage_adjustment 5 1.00, usage 0 0.00',
  );
  await market.stop(subscription);
});

test('a minimum is of each day of a meter with daily periods', async () => {
  const plan = await market.sale({
    price: { interval: 'week' },
    gives: { limit: 2, reset_interval: 'day' },
    sells: { minimum_amount: '0.20' },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 5);
  await market.toEnd(subscription);
  // 1.50 on the first day, and six times 0.20.
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 32.70: recurring 30.00, usage 3 2.70',
  ]);
  await market.stop(subscription);
});

test('hours under a daily plan are rated one by one', async () => {
  const plan = await market.sale({
    price: { interval: 'day' },
    gives: { limit: 1, reset_interval: 'hour' },
  });
  const subscription = await market.buyer(plan);
  for (let hour = 0; hour < 3; hour += 1) {
    await market.track(subscription, plan, 2);
    await market.advance('PT1H');
  }
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 31.50: recurring 30.00, usage 3 1.50',
  ]);
  await market.stop(subscription);
});

test('weeks under a monthly plan: a week that goes on is billed when it is over', async () => {
  const plan = await market.sale({ gives: { reset_interval: 'week' } });
  const subscription = await market.buyer(plan);
  const start = Date.parse(subscription.current_period_start);
  await market.track(subscription, plan, 11);
  await market.advanceTo(start + 29 * DAY_MS);
  // In the fifth week, which ends after the month.
  await market.track(subscription, plan, 12);
  const renewed = await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 30.50: recurring 30.00, usage 1 0.50',
  ]);
  await market.track(subscription, plan, 3);
  await market.toEnd(subscription);
  // The fifth week has 15.
  expect((await market.bills(subscription)).at(-1)).toBe(
    'subscription_cycle paid 32.50: recurring 30.00, usage 5 2.50',
  );
  const [, line] = (await market.bill(subscription)).lines;
  expect(Date.parse(line.period.start)).toBe(start + 28 * DAY_MS);
  expect(Date.parse(line.period.end)).toBeLessThanOrEqual(Date.parse(renewed.current_period_end));
});

test('a feature without an entitlement is billed in full, by the subscription’s period', async () => {
  const plan = await market.sale({ gives: null, price: { interval: 'week', interval_count: 2 } });
  const subscription = await market.buyer(plan);
  expect(await market.check(subscription, plan)).toMatchObject({
    allowed: true,
    reason: 'overage_allowed',
    limit: 0,
    period_end: subscription.current_period_end,
  });
  await market.track(subscription, plan, 3);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 31.50: recurring 30.00, usage 3 1.50',
  ]);
});

test('of two subscriptions that sell a feature the leading one bills; when it ends, the other', async () => {
  const first = await market.sale();
  const second = await market.sale({
    feature: first.feature,
    sells: { model: 'per_unit', unit_amount: '0.20' },
  });
  const leading = await market.buyer(first);
  await market.advance('P1D');
  const other = await market.subscribe(second, leading.customer_id);
  // Both allowances cover it.
  await market.track(leading, first, 24);
  await market.toEnd(leading);
  expect(await market.bills(leading)).toEqual([
    'subscription_cycle paid 32.00: recurring 30.00, usage 4 2.00',
  ]);
  await market.toEnd(other);
  expect(await market.bills(other)).toEqual(['subscription_cycle paid 30.00: recurring 30.00']);
  await market.track(leading, first, 21);
  await market.act(leading.id, 'cancel', { mode: 'immediate' });
  const ended = await market.bill(leading);
  expect([ended.billing_reason, ended.lines[0].amount]).toEqual(['usage', '0.50']);
  // The other's ten of this month were used as well.
  await market.track(leading, first, 13);
  await market.toEnd(other);
  expect((await market.bills(other)).at(-1)).toBe(
    'subscription_cycle paid 32.60: recurring 30.00, usage 13 2.60',
  );
});

test('when the leading subscription ends with its period, the other’s days go on', async () => {
  const daily = (limit: number) => ({ limit, reset_interval: 'day' });
  const first = await market.sale({ price: { interval: 'week' }, gives: daily(2) });
  const second = await market.sale({
    feature: first.feature,
    price: { interval: 'week' },
    gives: daily(3),
    sells: { model: 'per_unit', unit_amount: '0.20' },
  });
  const leading = await market.buyer(first);
  await market.advance('PT6H');
  const other = await market.subscribe(second, leading.customer_id);
  await market.act(leading.id, 'cancel');
  await market.advance('P1D');
  await market.track(leading, first, 9);
  await market.toEnd(leading);
  // Of the other's day six hours are left, and all three units.
  await market.track(leading, first, 5);
  await market.toEnd(other);
  expect(await market.bills(leading)).toEqual(['usage paid 2.00: usage 4 2.00']);
  expect(await market.bills(other)).toEqual([
    'subscription_cycle paid 30.40: recurring 30.00, usage 2 0.40',
  ]);
  await market.stop(other);
});

test('a top-up is used before usage is billed, and its rest stays', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await grant(subscription.customer_id, plan.feature, { amount: 5 });
  await market.track(subscription, plan, 13);
  await market.toEnd(subscription);
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 30.00: recurring 30.00, usage 0 0.00',
    // Two were left.
    'subscription_cycle paid 31.00: recurring 30.00, usage 2 1.00',
  ]);
});

test('units that roll over are used before usage is billed', async () => {
  const plan = await market.sale({ gives: { rollover: { max: 4, expires_after_periods: 1 } } });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 7);
  await market.toEnd(subscription);
  await market.track(subscription, plan, 15);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 30.00: recurring 30.00, usage 0 0.00',
    'subscription_cycle paid 31.00: recurring 30.00, usage 2 1.00',
  ]);
});

test('an allowance granted by hand may lead with periods of its own', async () => {
  const plan = await market.sale();
  const { customer_id: customerId } = await market.buyer(await market.sale());
  await grant(customerId, plan.feature, { amount: 2, priority: 1, reset_interval: 'week' });
  const subscription = await market.subscribe(plan, customerId);
  // 12 in the first week: the plan's ten are used up for the month.
  await market.track(subscription, plan, 13);
  await market.advance('P8D');
  await market.track(subscription, plan, 5);
  await market.toEnd(subscription);
  // 1 past 12, and 3 past 2.
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 32.00: recurring 30.00, usage 4 2.00',
  ]);
});

test('a usage price archived by the merchant holds until the renewal, a new one from then on', async () => {
  const plan = await market.sale({ sells: null });
  const before = await market.sell(plan);
  const subscription = await market.buyer(plan);
  await market.post(`/products/${plan.productId}/usage-prices/${before}/archive`);
  const after = await market.sell(plan, { model: 'per_unit', unit_amount: '2' });
  await market.track(subscription, plan, 12);
  await market.toEnd(subscription);
  await market.track(subscription, plan, 13);
  await market.post(`/products/${plan.productId}/usage-prices/${after}/archive`);
  await market.toEnd(subscription);
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 31.00: recurring 30.00, usage 2 1.00',
    'subscription_cycle paid 36.00: recurring 30.00, usage 3 6.00',
    'subscription_cycle paid 30.00: recurring 30.00',
  ]);
});

async function grant(customerId: string, feature: string, fields: object): Promise<void> {
  const body = { feature_key: feature, ...fields };
  made(await market.post(`/customers/${customerId}/grants`, body));
}
