// Where the README's buyers pay: at the fake of Stripe or, with STRIPE_TEST_KEY, at Stripe itself
// in its test mode. The latter has not been done yet: there was no key.
import type Stripe from 'stripe';
import type { Page } from 'playwright-core';
import { stripeClient } from '../../src/processors/stripe/client.ts';
import { openStripeFake } from '../processors/stripe/fake.ts';

export type Side = {
  readonly isFake: boolean;
  /** What the service needs to find it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly testKey: string;
  /** Stripe's own is nobody's to test with. */
  readonly liveKey: string | null;
  /** As the account sees it, by one of its keys. */
  ask(key: string): Stripe;
  /** A buyer on its page, who has been led there. */
  pay(page: Page, number: string): Promise<void>;
  close(): Promise<void>;
};

export const openSide = (testKey = process.env['STRIPE_TEST_KEY']): Promise<Side> =>
  testKey === undefined ? openFakeSide() : Promise.resolve(stripeItself(testKey));

async function openFakeSide(): Promise<Side> {
  const fake = await openStripeFake();
  const { testKey, liveKey } = fake.newAccount();
  return {
    isFake: true,
    environment: { STRIPE_API_URL: fake.url },
    testKey,
    liveKey,
    ask: (key) => stripeClient({ key, apiUrl: new URL(fake.url) }),
    async pay(page, number) {
      await page.waitForURL(`${fake.url}/c/pay/**`);
      await page.fill('[name=number]', number);
      await page.fill('[name=expiry]', '12 / 34');
      await page.fill('[name=cvc]', '123');
      await page.getByRole('button', { name: 'Pay' }).click();
    },
    close: () => fake.close(),
  };
}

function stripeItself(testKey: string): Side {
  return {
    isFake: false,
    environment: {},
    testKey,
    liveKey: null,
    ask: (key) => stripeClient({ key, apiUrl: null }),
    async pay(page, number) {
      await page.waitForURL('https://checkout.stripe.com/**');
      const card = page.locator('[name=cardNumber]');
      const choice = page.getByTestId('card-accordion-item-button');
      await card.or(choice).first().waitFor();
      if (!(await card.isVisible())) await choice.click();
      await card.fill(number);
      await page.fill('[name=cardExpiry]', '12 / 34');
      await page.fill('[name=cardCvc]', '123');
      await page.fill('[name=billingName]', 'Ada Lovelace');
      const postalCode = page.locator('[name=billingPostalCode]');
      if (await postalCode.isVisible()) await postalCode.fill('10001');
      await page.getByTestId('hosted-payment-submit-button').click();
    },
    close: () => Promise.resolve(),
  };
}
