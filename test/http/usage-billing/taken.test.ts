// When the prices of a product are taken: a command that finds a renewal due takes them as well.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { until } from '../../support/until.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

// The clock goes on by itself, and the alarm comes within a second: thrice, to be there first.
test.each([1, 2, 3])(
  "a subscription's renewal that an action finds due bills what is sold by then (%d)",
  async () => {
    const plan = await market.sale({ sells: null });
    const subscription = await market.buyer(plan);
    await market.sell(plan);
    const end = Date.parse(subscription.current_period_end);
    await market.advanceTo(end - 20);
    await until('the period is over', async () => (await market.now()) >= end);
    await market.act(subscription.id, 'cancel');
    expect(await market.check(subscription, plan)).toMatchObject({ overage_allowed: true });
  },
);
