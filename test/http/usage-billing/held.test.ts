// What was held before a subscription ended and is committed after it goes on one more final
// invoice.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import type { Json, Plan } from '../subscriptions/subscribing.ts';
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

const DOLLAR = { model: 'per_unit', unit_amount: '1.00' } as const;

async function hold({ customer_id }: Json, { feature }: Plan, amount: number): Promise<string> {
  const body = { feature_key: feature, customer_id, amount, expires_in: 86_400 };
  const { status, json } = await market.post('/reservations', body);
  expect(status).toBe(201);
  const extended = await market.post(`/reservations/${json.id}/extend`, { expires_in: 86_400 });
  expect(extended.status).toBe(200);
  return json.id;
}

async function commit(id: string, value: number): Promise<Json> {
  const { status, json } = await market.post(`/reservations/${id}/commit`, { value });
  expect([status, json.status, json.committed]).toEqual([200, 'committed', value]);
  return json;
}

/** To a plan that includes nothing. */
async function subscribed(wish: SaleWish = {}) {
  const plan = await market.sale({ gives: null, sells: DOLLAR, ...wish });
  return { plan, subscription: await market.buyer(plan) };
}

/** Holds that are still open when it has ended. */
async function ended(held: readonly number[], wish: SaleWish = {}, used = 0) {
  const { plan, subscription } = await subscribed(wish);
  if (used > 0) await market.track(subscription, plan, used);
  const holds: string[] = [];
  for (const amount of held) holds.push(await hold(subscription, plan, amount));
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  return { plan, subscription, holds };
}

test('a hold of 100, canceled at once, 100 committed: a final invoice of 100.00', async () => {
  const { subscription, holds } = await ended([100]);
  expect(await market.bills(subscription)).toEqual([]);
  await commit(holds[0] ?? '', 100);
  expect(await market.bills(subscription)).toEqual(['usage paid 100.00: usage 100 100.00']);
  expect((await market.payments(subscription.id)).at(-1)).toMatchObject({
    amount: '100.00',
    status: 'succeeded',
    transaction_type: 'RECURRING',
  });
  // Again, and days later: the first answer.
  await market.advance('P3D');
  await commit(holds[0] ?? '', 100);
  expect(await market.bills(subscription)).toHaveLength(1);
  const upcoming = await market.shop.server.call(
    'GET',
    `/subscriptions/${subscription.id}/upcoming-invoice`,
  );
  expect([upcoming.status, upcoming.json.error.type]).toEqual([409, 'invalid_state']);
});

test('what was used of it is billed, up to what was held, by the tiers of the whole span', async () => {
  const tiers = [
    { up_to: 10, unit_amount: '10.00' },
    { up_to: null, unit_amount: '5.00' },
  ];
  const wish = { sells: { model: 'graduated', tiers } };
  const { subscription, holds } = await ended([10, 20, 5], wish, 6);
  await market.advance('PT5H');
  await commit(holds[1] ?? '', 4);
  await commit(holds[0] ?? '', 15);
  await commit(holds[2] ?? '', 0);
  // 20 in all: 10 at 10.00 and 10 at 5.00.
  expect(await market.bills(subscription)).toEqual([
    'usage paid 60.00: usage 6 60.00',
    'usage paid 40.00: usage_adjustment 4 40.00',
    'usage paid 50.00: usage_adjustment 10 50.00',
  ]);
});

test('a hold that has expired is usage like any other after the end: it is recorded', async () => {
  const { subscription, holds } = await ended([100]);
  await market.advance('P2D');
  expect(await commit(holds[0] ?? '', 100)).toMatchObject({ late: true });
  expect(await market.bills(subscription)).toEqual([]);
});

test('a subscription that ended by time bills what is committed after it', async () => {
  const { plan, subscription } = await subscribed();
  await market.act(subscription.id, 'cancel');
  await market.advanceTo(Date.parse(subscription.current_period_end) - 3_600_000);
  const id = await hold(subscription, plan, 100);
  await market.toEnd(subscription);
  await market.advance('PT2H');
  await commit(id, 70);
  expect(await market.bills(subscription)).toEqual(['usage paid 70.00: usage 70 70.00']);
});

test('an invoice of it that is declined stays open, and may be paid or made void', async () => {
  const { subscription, holds } = await ended([100, 50]);
  await market.payBy(subscription, 'renewalFails');
  await commit(holds[0] ?? '', 100);
  expect(await market.bills(subscription)).toEqual(['usage open 100.00: usage 100 100.00']);
  const { id } = await market.bill(subscription);
  expect((await market.post(`/invoices/${id}/void`)).status).toBe(200);
  await market.payBy(subscription, 'good');
  await commit(holds[1] ?? '', 50);
  expect(await market.bills(subscription)).toEqual([
    'usage void 100.00: usage 100 100.00',
    'usage paid 50.00: usage_adjustment 50 50.00',
  ]);
  await market.advance('P40D');
  expect(await market.bills(subscription)).toHaveLength(2);
});

test('holds that are committed at once are each billed once, on an invoice of their own', async () => {
  const { subscription, holds } = await ended(Array.from({ length: 8 }, () => 10));
  await Promise.all([...holds, ...holds].map((id) => commit(id, 10)));
  const bills = await market.bills(subscription);
  expect(bills).toHaveLength(8);
  expect(await market.money(subscription)).toBe(8000n);
});

test('a feature that a pool of sold credits pays for is billed in credits', async () => {
  const member = `f-${ids.next()}`;
  made(await market.post('/meters', { slug: member }));
  const credit_costs = [{ feature_key: member, cost: '3' }];
  const { plan, subscription } = await subscribed({ meter: { aggregation: 'sum', credit_costs } });
  const id = await hold(subscription, { ...plan, feature: member }, 5);
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  await market.advance('PT1H');
  await commit(id, 4);
  expect(await market.bills(subscription)).toEqual(['usage paid 12.00: usage 12 12.00']);
});

test('beside another subscription that leads the period, the hold is of the one that sold it', async () => {
  const { plan, subscription } = await subscribed();
  const leads = { limit: 10, priority: 1 };
  const other = await market.sale({ feature: plan.feature, gives: leads, sells: null });
  const second = await market.subscribe(other, subscription.customer_id);
  const id = await hold(subscription, plan, 40);
  await market.advance('PT1H');
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  await market.advance('PT1H');
  await commit(id, 40);
  // Ten of them are included in the other one.
  expect(await market.bills(subscription)).toEqual(['usage paid 30.00: usage 30 30.00']);
  expect(await market.check(subscription, plan)).toMatchObject({ balance: 0, billed: 30 });
  await market.stop(second);
});

test('credit of the customer pays for it first', async () => {
  const { plan, subscription } = await subscribed();
  const big = await market.sale({ price: { amount: '90.00' }, sells: null });
  const second = await market.subscribe(big, subscription.customer_id);
  const id = await hold(subscription, plan, 40);
  await market.stop(subscription);
  const cheaper = await market.price(big, { amount: '10.00' });
  await market.act(second.id, 'change', { price_id: cheaper });
  await market.stop(second);
  await commit(id, 40);
  expect(await market.bills(subscription)).toEqual([
    'usage paid 0.00: usage 40 40.00, credit -40.00',
  ]);
});
