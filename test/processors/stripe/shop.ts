// A merchant at the fake, who calls it by Stripe's own package.
import Stripe from 'stripe';
import { stripeClient } from '../../../src/processors/stripe/client.ts';
import type { AccountOptions, FakeAccount, StripeFake } from './fake.ts';

export type Shop = {
  readonly fake: StripeFake;
  readonly account: FakeAccount;
  readonly stripe: Stripe;
  /** A client with another key. */
  with(key: string): Stripe;
  session(more?: Partial<Stripe.Checkout.SessionCreateParams>): Promise<Opened>;
  setupSession(more?: Partial<Stripe.Checkout.SessionCreateParams>): Promise<Opened>;
  /** Of a session that was paid with this card: its customer and payment method. */
  saved(typing: string): Promise<{ customer: string; payment_method: string }>;
  retrieve(sessionId: string): Promise<Stripe.Checkout.Session>;
  intentOf(sessionId: string): Promise<Stripe.PaymentIntent>;
};

type Opened = { readonly id: string; readonly url: string };

export const LINE = (amount: number, currency: string) => ({
  quantity: 1,
  price_data: { currency, unit_amount: amount, product_data: { name: 'Plan' } },
});

export function openShop(fake: StripeFake, options?: AccountOptions): Shop {
  const account = fake.newAccount(options);
  // Ours does not repeat a call by itself, as the package's does where a connection ends.
  const clientOf = (key: string): Stripe => stripeClient({ key, apiUrl: new URL(fake.url) });
  const stripe = clientOf(account.testKey);
  const back = { success_url: 'https://shop.example/back', cancel_url: 'https://shop.example/no' };
  const create = async (params: Stripe.Checkout.SessionCreateParams): Promise<Opened> => {
    const { id, url } = await stripe.checkout.sessions.create({ ...back, ...params });
    if (url === null) throw new Error('a session without a page');
    return { id, url };
  };
  const shop: Shop = {
    fake,
    account,
    stripe,
    with: clientOf,
    session: (more) => create({ mode: 'payment', line_items: [LINE(10_000, 'usd')], ...more }),
    setupSession: (more) =>
      create({ mode: 'setup', currency: 'usd', customer_creation: 'always', ...more }),
    async saved(typing) {
      const session = await shop.setupSession();
      await fake.buyer.pays(session.url, typing);
      const { customer, setup_intent: setup } = await stripe.checkout.sessions.retrieve(
        session.id,
        { expand: ['setup_intent'] },
      );
      if (typeof setup === 'string' || typeof setup?.payment_method !== 'string') {
        throw new Error('nothing was saved');
      }
      if (typeof customer !== 'string') throw new Error('there is no customer');
      return { customer, payment_method: setup.payment_method };
    },
    retrieve: (id) =>
      stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent.latest_charge'] }),
    async intentOf(id) {
      const { payment_intent: intent } = await shop.retrieve(id);
      if (intent === null || typeof intent === 'string') throw new Error('there is no intent');
      return intent;
    },
  };
  return shop;
}

/** Whether an answer is one that was given before. */
export function isReplayed(made: Stripe.Response<object>): boolean {
  // The package answers the headers as its runtime has them.
  return new Headers(made.lastResponse.headers).get('idempotent-replayed') === 'true';
}

/** The error that a call of Stripe ends with. */
export async function errorOf(
  call: Promise<unknown>,
): Promise<InstanceType<typeof Stripe.errors.StripeError>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
}
