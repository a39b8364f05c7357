// What a change has billed is paid: it burns no later grant, and is no debt
// (docs/spec/balance.md#stretches).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import type { Json, Plan } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

const sale = (limit: number, fields: Json = {}): Promise<Plan> =>
  market.sale({
    price: { interval: 'week' },
    gives: { limit, reset_interval: 'week' },
    sells: { unit_amount: '1.00' },
    ...fields,
  });

async function grant({ customer_id }: Json, { feature }: Plan, amount: number): Promise<void> {
  const body = { feature_key: feature, amount };
  const { status, text } = await market.post(`/customers/${customer_id}/grants`, body);
  expect([status, text]).toEqual([201, text]);
}

async function balanceOf({ customer_id }: Json, { feature }: Plan): Promise<Json> {
  const path = `/customers/${customer_id}/balances`;
  const { text } = await market.shop.server.call('GET', path);
  return JSON.parse(text).data.find((one: Json) => one.feature_key === feature);
}

test('what a change has billed is not taken from a later grant', async () => {
  const plan = await sale(100);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 150);
  await market.advance('P1D');
  await market.act(subscription.id, 'change', { quantity: 2 });
  await market.act(subscription.id, 'change', { quantity: 1 });
  await grant(subscription, plan, 50);
  const answer = await market.track(subscription, plan, 30);
  expect(answer).toMatchObject({ limit: 150, consumed: 180, billed: 50, balance: 20, overage: 0 });
  expect(await market.check(subscription, plan)).toMatchObject({ billed: 50, balance: 20 });
  expect(await balanceOf(subscription, plan)).toMatchObject({ billed: 50, balance: 20 });
  await market.toEnd(subscription);
  expect(await market.money(subscription)).toBe(50_00n);
  expect(await balanceOf(subscription, plan)).toMatchObject({ balance: 120 });
});

test('a larger quantity has all that it gives, beside what was billed', async () => {
  const plan = await sale(0);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 150);
  await market.advance('P1D');
  await market.act(subscription.id, 'change', { quantity: 2 });
  await grant(subscription, plan, 200);
  await market.track(subscription, plan, 30);
  await market.toEnd(subscription);
  expect(await balanceOf(subscription, plan)).toMatchObject({ balance: 170 });
  expect(await market.money(subscription)).toBe(150_00n);
});

test('what was billed does not count against the next plan', async () => {
  const plan = await sale(100);
  const larger = await sale(300, {
    feature: plan.feature,
    price: { interval: 'week', amount: '60.00' },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 150);
  await market.act(subscription.id, 'change', { price_id: larger.priceId });
  // 100 of 300 are used, and 50 were paid.
  expect(await balanceOf(subscription, plan)).toMatchObject({
    limit: 300,
    consumed: 150,
    billed: 50,
    balance: 200,
  });
});

test('a correction takes back what was billed, as an adjustment', async () => {
  const plan = await sale(100);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 150);
  await market.advance('P1D');
  await market.act(subscription.id, 'change', { quantity: 2 });
  await market.act(subscription.id, 'change', { quantity: 1 });
  const answer = await market.track(subscription, plan, -20);
  expect(answer).toMatchObject({ limit: 100, consumed: 130, billed: 30, balance: 0 });
  await market.toEnd(subscription);
  expect(await market.money(subscription)).toBe(30_00n);
});

test('a retry after usage was billed gets the first answer', async () => {
  const plan = await sale(100);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 150);
  await market.act(subscription.id, 'change', { quantity: 2 });
  const { customer_id } = subscription;
  const body = { customer_id, feature_key: plan.feature, value: 5, idempotency_key: 'again' };
  const first = await market.post('/track', body);
  await market.act(subscription.id, 'change', { quantity: 1 });
  const again = await market.post('/track', body);
  const [told, repeated] = [first, again].map(({ text }) => JSON.parse(text));
  expect(repeated).toEqual({ ...told, duplicate: true });
  expect(told.billed).toBe(50);
});

test('the books close', async () => {
  expect(await audit(market.shop.server.sql)).toEqual([]);
});
