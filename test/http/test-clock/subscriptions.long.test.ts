// Subscriptions under the test clock: each period, charge and dunning attempt happens at its own
// time, in one advance as in many.
import { expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../../support/means.ts';
import { made, Shop } from '../../payments/shop.ts';
import { DAY, HOUR, MINUTE, moved, storyOf } from './clock.ts';

setDefaultTimeout(120_000);

type Price = Readonly<Record<string, unknown>>;

/** Sells a plan, and subscribes a customer with each of the payment methods. */
async function signUp(
  shop: Shop,
  { price, means }: { readonly price: Price; readonly means: readonly Means[] },
): Promise<void> {
  const prices = [
    { amount: '30', currency: 'USD', type: 'recurring', interval: 'month', ...price },
  ];
  const { id } = made(
    await shop.server.call('POST', '/products', { body: { name: 'Plan', prices } }),
  );
  const granted = { feature_key: 'calls', limit: 1000 };
  made(await shop.server.call('POST', `/products/${id}/entitlements`, { body: granted }));
  const total = price['trial_days'] === undefined ? '30' : '0';
  // In this order: what is due within one minute is done at the latest of those times.
  for (const [index, one] of means.entries()) {
    const wish = { product_id: id, external_customer_id: `${id} ${index}` };
    const session = await shop.checkout({ ...wish, customer_email: `${index}@example.com` });
    await shop.pay(session, { means: one, total });
  }
}

async function openShop(): Promise<Shop> {
  const shop = await Shop.open({ settings: { sandboxSettleMs: 6 * HOUR } });
  made(await shop.server.call('POST', '/meters', { body: { slug: 'calls' } }));
  return shop;
}

test('a year in one call and in days is the same story, with dunning and trials', async () => {
  const tell = async (steps: readonly string[]): Promise<string[]> => {
    const shop = await openShop();
    await signUp(shop, { price: {}, means: ['good', 'renewalFails', 'iban'] });
    await signUp(shop, { price: { interval: 'week' }, means: ['renewalFails', 'good'] });
    await signUp(shop, { price: { trial_days: 14 }, means: ['good'] });
    for (const advance of steps) await moved(shop.server, { advance });
    const story = await storyOf(shop);
    await shop.close();
    return story;
  };
  const inOne = await tell(['P1Y']);
  expect(await tell(Array.from({ length: 365 }, () => 'P1D'))).toEqual(inOne);
  const text = inOne.join('\n');
  for (const type of ['created', 'blocked', 'expired']) {
    expect(text).toContain(`subscription.${type}`);
  }
});

test('12 months of 100 subscriptions: 13 paid invoices each, at their own times', async () => {
  const shop = await openShop();
  await signUp(shop, { price: {}, means: Array.from({ length: 100 }, () => 'good' as const) });
  const before = performance.now();
  await moved(shop.server, { advance: 'P1Y' });
  const seconds = (performance.now() - before) / 1000;
  const rows = await shop.server.sql<{ count: number; late: number; off: number }[]>`
    select count(*)::int as count, max(abs(extract(epoch from paid_at - issued_at)))::float8 as late,
      max(abs(extract(epoch from issued_at - period_start)))::float8 as off
    from invoices where status = 'paid' and subscription_id is not null group by subscription_id`;
  expect(rows).toHaveLength(100);
  for (const { count, late, off } of rows) {
    expect([count, late < MINUTE / 1000, off < (2 * MINUTE) / 1000]).toEqual([13, true, true]);
  }
  const [check] = await shop.server.sql<{ customer: string }[]>`
    select customer_id as customer from subscriptions limit 1`;
  const body = { customer_id: check?.customer, feature_key: 'calls' };
  const { json } = await shop.server.call('POST', '/check', { body });
  expect(json).toMatchObject({ allowed: true, balance: 1000 });
  expect(Date.parse(json.period_end) - Date.parse(json.period_start)).toBeLessThanOrEqual(31 * DAY);
  // It took 4 seconds on two shared processors; the bound is for a much busier machine.
  expect(seconds).toBeLessThan(40);
  await shop.close();
});
