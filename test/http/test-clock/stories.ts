// Subscriptions under the test clock, and what is told of them.
import { expect } from 'bun:test';
import type { Means } from '../../support/means.ts';
import { made, Shop } from '../../payments/shop.ts';
import { HOUR, moved, storyOf } from './clock.ts';

type Price = Readonly<Record<string, unknown>>;

/** Sells a plan, and subscribes a customer with each of the payment methods. */
export async function signUp(
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

export async function openShop(): Promise<Shop> {
  const shop = await Shop.open({ settings: { sandboxSettleMs: 6 * HOUR } });
  made(await shop.server.call('POST', '/meters', { body: { slug: 'calls' } }));
  return shop;
}

/** So many days in one call and one after the other are the same story, with dunning and trials. */
export async function expectSameStory(days: number): Promise<void> {
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
  const inOne = await tell([`P${days}D`]);
  expect(await tell(Array.from({ length: days }, () => 'P1D'))).toEqual(inOne);
  const text = inOne.join('\n');
  for (const type of ['created', 'blocked', 'expired']) {
    expect(text).toContain(`subscription.${type}`);
  }
}
