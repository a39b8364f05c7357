// Paused time has no share of a minimum, nor of the price of a level. What was used in it is
// billed.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { USAGE_CHECKS } from '../../../src/database/audit-usage.ts';
import { type Fields, PATIENCE_MS } from '../../payments/shop.ts';
import type { Json } from '../subscriptions/subscribing.ts';
import { Market, type SaleWish } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(async () => {
  await market.expectSound();
  await market.close();
});

/** Half of a period, which is a week. */
const HALF = 'PT84H';
const QUARTER = 'PT42H';

/**
 * 30.00 a week with 10 units, 1.00 for each further one, and at least 10.00 a period of the
 * allowance.
 */
function sale(wish: SaleWish = {}) {
  return market.sale({
    price: { interval: 'week' },
    gives: { limit: 10, reset_interval: 'week' },
    sells: { model: 'per_unit', unit_amount: '1.00', minimum_amount: '10.00' },
    ...wish,
  });
}

/** Five seats at 10.00 each for a whole week. */
const SEATS: SaleWish = {
  gives: null,
  meter: { aggregation: 'last' },
  sells: { model: 'per_unit', unit_amount: '10.00' },
};

const pause = (subscription: Json, fields: Fields = {}) =>
  market.act(subscription.id, 'pause', fields);
const resume = (subscription: Json) => market.act(subscription.id, 'resume');
const cancel = (subscription: Json) => market.act(subscription.id, 'cancel', { mode: 'immediate' });

/** What usage cost on all invoices, in cents. */
const cost = async (subscription: Json): Promise<number> =>
  Number(await market.money(subscription));

/** What the next invoice would come to, and what it does. */
async function billedNext(subscription: Json): Promise<[string, string]> {
  const path = `/subscriptions/${subscription.id}/upcoming-invoice`;
  const { total: told } = await market.shop.read(path);
  await market.toEnd(subscription);
  return [told, (await market.bill(subscription)).total];
}

describe.each([
  ['resume', resume],
  ['cancellation', cancel],
] as const)('a pause of months that ends with a %s', (_how, act) => {
  // 3.5 days before the pause: half of a week, three whole days and a half one.
  test.each([
    ['week', 500],
    ['day', 3500],
  ])('costs nothing of the minimum of each %s', async (reset, cents) => {
    const plan = await sale({ gives: { limit: 10, reset_interval: reset } });
    const subscription = await market.buyer(plan);
    await market.advance(HALF);
    await pause(subscription);
    await market.advance('P90D');
    await act(subscription);
    expect(await cost(subscription)).toBe(cents);
    await market.stop(subscription);
  });

  test('costs nothing of a level', async () => {
    const plan = await sale(SEATS);
    const subscription = await market.buyer(plan);
    await market.track(subscription, plan, 5);
    await market.advance(HALF);
    await pause(subscription);
    await market.advance('P90D');
    await act(subscription);
    expect(await cost(subscription)).toBe(2500);
    await market.stop(subscription);
  });

  test('bills what was used in it', async () => {
    const plan = await sale();
    const subscription = await market.buyer(plan);
    await market.advance(HALF);
    await pause(subscription);
    await market.track(subscription, plan, 17);
    await market.advance('P8D');
    await market.track(subscription, plan, 12);
    await act(subscription);
    // 7 of the first week, more than the 5.00 that its half asks at least; 2 of the second.
    expect(await cost(subscription)).toBe(900);
    await market.stop(subscription);
  });
});

test('a pause within the period takes its share off, and so do two', async () => {
  const plan = await sale();
  const subscription = await market.buyer(plan);
  await pause(subscription);
  await market.advance(QUARTER);
  await resume(subscription);
  await market.advance(QUARTER);
  await pause(subscription);
  await market.advance(QUARTER);
  await resume(subscription);
  expect(await billedNext(subscription)).toEqual(['35.00', '35.00']);
  // The next one is whole.
  expect(await billedNext(subscription)).toEqual(['40.00', '40.00']);
  await market.stop(subscription);
});

const RESUMES: readonly [string, number, readonly string[]][] = [
  ['in its period', 5.25, ['subscription_cycle paid 37.50: recurring 30.00, usage 0 7.50']],
  [
    'after its period',
    17.5,
    [
      'subscription_resume paid 35.00: recurring 30.00, usage 0 5.00',
      'subscription_cycle paid 40.00: recurring 30.00, usage 0 10.00',
    ],
  ],
];
test.each(RESUMES)('a resume at a time %s', async (_when, days, bills) => {
  const plan = await sale();
  const subscription = await market.buyer(plan);
  await market.advance(HALF);
  const at = new Date(Date.parse(subscription.current_period_start) + days * 86_400_000);
  await pause(subscription, { resumes_at: at.toISOString() });
  const path = `/subscriptions/${subscription.id}/upcoming-invoice`;
  const told = await market.shop.read(path);
  await market.advanceTo(told.period_end);
  const [first] = (await market.invoices(subscription.id)).slice(1);
  expect([told.total, told.lines.map(({ amount }: Json) => amount)]).toEqual([
    first.total,
    first.lines.map(({ amount }: Json) => amount),
  ]);
  if (bills.length > 1) await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([...bills]);
  await market.stop(subscription);
});

test('the draft of a pause has no minimum, nor has the invoice after it for its time', async () => {
  const plan = await sale();
  const subscription = await market.buyer(plan);
  await market.advance(HALF);
  await pause(subscription, { keep_invoices: true });
  await market.toEnd(subscription);
  await market.toEnd(subscription);
  await market.advance(QUARTER);
  await resume(subscription);
  expect((await market.bills(subscription)).filter((bill) => bill.includes('usage'))).toEqual([
    'subscription_resume paid 35.00: recurring 30.00, usage 0 5.00',
  ]);
  await market.stop(subscription);
});

test('the upcoming invoice while paused: nothing without an end, what is due with one', async () => {
  const plan = await sale();
  const subscription = await market.buyer(plan);
  const path = `/subscriptions/${subscription.id}/upcoming-invoice`;
  await market.advance(HALF);
  await pause(subscription);
  expect(await market.shop.read(path)).toMatchObject({ total: '0.00', lines: [] });
  await market.act(subscription.id, 'cancel');
  expect(await billedNext(subscription)).toEqual(['5.00', '5.00']);
});

test('a pause in a trial and over its end: the minimum begins with the resume', async () => {
  const plan = await sale();
  const subscription = await market.subscribe(plan, await market.customer(), { trial_days: 7 });
  await market.payBy(subscription, 'good');
  await market.advance(HALF);
  await pause(subscription, { keep_invoices: true });
  await market.toEnd(subscription);
  await market.advance(QUARTER);
  await resume(subscription);
  expect(await cost(subscription)).toBe(0);
  await market.toEnd(subscription);
  expect(await cost(subscription)).toBe(1000);
  await market.stop(subscription);
});

test('a resume that is paid days later has the whole minimum of its period, once', async () => {
  const plan = await sale();
  const subscription = await market.buyer(plan);
  await market.payBy(subscription, 'iban');
  await market.advance(HALF);
  await pause(subscription);
  await market.advance('P10D');
  await resume(subscription);
  await market.advance('P1D');
  expect((await market.subscription(subscription.id)).status).toBe('active');
  await market.toEnd(subscription);
  expect(await cost(subscription)).toBe(500 + 1000);
  await market.stop(subscription);
});

test('a resume that is declined leaves it paused', async () => {
  const plan = await sale();
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.advance(HALF);
  await pause(subscription);
  await market.advance('P10D');
  expect((await market.refused(subscription.id, 'resume'))[0]).toBe(402);
  await market.advance('P10D');
  await market.payBy(subscription, 'good');
  await resume(subscription);
  expect(await cost(subscription)).toBe(500);
  await market.stop(subscription);
});

test('a late event of before the pause is rated with the share of its span', async () => {
  const plan = await sale();
  const subscription = await market.buyer(plan);
  const early = Date.parse(subscription.current_period_start) + 3_600_000;
  await market.advance(HALF);
  await pause(subscription);
  await market.advance('P10D');
  await resume(subscription);
  await market.use(subscription, plan, 18, early);
  await market.toEnd(subscription);
  // 5.00, then 8 units beyond 10: 3.00 more; and the whole minimum of the period after the resume.
  expect((await market.bills(subscription)).at(-1)).toContain('usage_adjustment 8 3.00');
  expect(await cost(subscription)).toBe(500 + 300 + 1000);
  await market.stop(subscription);
});

test('a grant during a pause covers what was used before it, as if there had been none', async () => {
  const plan = await sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 30);
  await market.advance(HALF);
  await pause(subscription);
  const grant = { feature_key: plan.feature, amount: 6 };
  expect((await market.post(`/customers/${subscription.customer_id}/grants`, grant)).status).toBe(
    201,
  );
  await market.advance(QUARTER);
  await resume(subscription);
  expect(await billedNext(subscription)).toEqual(['44.00', '44.00']);
  await market.stop(subscription);
});

test('the audit reckons the share of a pause by itself', async () => {
  const plan = await sale();
  const subscription = await market.buyer(plan);
  await market.advance(HALF);
  await pause(subscription);
  await market.advance('P10D');
  await resume(subscription);
  const { sql } = market.shop.server;
  const found = async () => [
    ...(await sql.unsafe(must(USAGE_CHECKS['usage was billed for what it costs'], 'a check'))),
  ];
  expect(await found()).toEqual([]);
  const [row] = await sql`select pauses from subscriptions where id = ${subscription.id}`;
  await sql`update subscriptions set pauses = '[]' where id = ${subscription.id}`;
  expect(await found()).toMatchObject([{ subscription: subscription.id, billed: '500' }]);
  await sql`update subscriptions set pauses = ${row?.pauses} where id = ${subscription.id}`;
  expect(await found()).toEqual([]);
  await market.stop(subscription);
});

test('blocked for dunning is no pause', async () => {
  const plan = await sale({ price: { interval: 'month' }, gives: { limit: 10 } });
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.toEnd(subscription);
  await market.advance('P20D');
  await market.payBy(subscription, 'good');
  await market.advance('PT1M');
  await market.toEnd(subscription);
  expect(await cost(subscription)).toBe(2000);
  await market.stop(subscription);
});
