// Previews of subscriptions whose features have thousands of hours ahead of them: they are whole,
// and they are reckoned in turns of the event loop between which everybody else is answered.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Json } from '../http/subscriptions/subscribing.ts';
import { Market } from '../http/usage-billing/setting.ts';
import { made } from '../payments/shop.ts';
import { longestTurn } from '../support/longest-turn.ts';

setDefaultTimeout(120_000);

/** With what the garbage collector takes. The ones before were 300 ms and more. */
const TURN_MS_MAX = 60;

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

const HOURLY = { limit: 10, reset_interval: 'hour' };
const EACH = { model: 'per_unit', unit_amount: '0.0125', minimum_amount: '0.01' };

const upcoming = (id: string): Promise<Json> =>
  market.shop.read(`/subscriptions/${id}/upcoming-invoice`);

const hoursOf = ({ current_period_start: from, current_period_end: to }: Json): number =>
  (Date.parse(to) - Date.parse(from)) / 3_600_000;

/** A subscription to a monthly plan with so many hourly features, whose usage is sold. */
async function subscriptionTo(features: number): Promise<Json> {
  const plan = await market.sale({ gives: HOURLY, sells: EACH });
  for (let n = 1; n < features; n += 1) {
    const feature = `${plan.feature}-${n}`;
    made(await market.post('/meters', { slug: feature }));
    await market.give({ ...plan, feature }, HOURLY);
    await market.sell({ ...plan, feature }, EACH);
  }
  return { ...(await market.buyer(plan)), feature: plan.feature };
}

test('the next invoice of hourly features is reckoned in short turns, and kept while nothing changes', async () => {
  const subscription = await subscriptionTo(6);
  const { id, feature } = subscription;
  await market.track(subscription, { feature, productId: '', priceId: '' }, 11);
  const first = await longestTurn(() => upcoming(id));
  expect(first.turn).toBeLessThan(TURN_MS_MAX);
  const cents = 6 * hoursOf(subscription);
  expect(first.reply.total).toBe((30 + cents / 100).toFixed(2));
  const before = process.threadCpuUsage();
  expect({ ...(await upcoming(id)), as_of: first.reply.as_of }).toEqual(first.reply);
  const { user } = process.threadCpuUsage(before);
  const many = await longestTurn(() => Promise.all(Array.from({ length: 10 }, () => upcoming(id))));
  expect(many.turn).toBeLessThan(TURN_MS_MAX);
  console.log({ turn: first.turn, again: user / 1e3, ofMany: many.turn });
  await market.stop(subscription);
});

test('a preview is whole, also where its features have ten thousand steps ahead of them', async () => {
  const subscription = await subscriptionTo(1);
  const { id, customer_id, feature } = subscription;
  const grant = { feature_key: feature, amount: 1, reset_interval: 'hour', priority: 200 };
  for (let n = 0; n < 19; n += 1) {
    made(await market.post(`/customers/${customer_id}/grants`, grant));
  }
  const hours = hoursOf(subscription);
  expect(20 * hours).toBeGreaterThan(10_000);
  const { turn, reply } = await longestTurn(() => upcoming(id));
  expect(turn).toBeLessThan(TURN_MS_MAX);
  expect(reply.lines[1].amount).toBe((hours / 100).toFixed(2));
  // What is used now is seen.
  await market.track(subscription, { feature, productId: '', priceId: '' }, 10 + 19 + 1);
  expect((await upcoming(id)).lines[1].quantity).toBe(1);
  await market.stop(subscription);
});
