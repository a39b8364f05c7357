// What a trigger makes things happen with: a customer of its own, products that all triggers share,
// and the cards of the sandbox.
import type { Tollhouse } from '../../client/tollhouse.ts';
import type { Customer, Payment, Subscription } from '../../client/types.ts';
import { Refused } from '../command.ts';

/** Sandbox cards by what they do. */
const CARDS = {
  good: '4242424242424242',
  declined: '4000000000000002',
  error: '4000000000000119',
  refundFailsLater: '4000000000005126',
  disputed: '4000000000000259',
} as const;
type Card = keyof typeof CARDS;

const PRICES = {
  once: { amount: '9.00', currency: 'USD' },
  monthly: { amount: '19.00', currency: 'USD', type: 'recurring', interval: 'month' },
  trial: { amount: '19.00', currency: 'USD', type: 'recurring', interval: 'month', trialDays: 14 },
} as const;
type Offer = keyof typeof PRICES;

const FEATURE = 'tollhouse-trigger';

export class Sandbox {
  readonly client: Tollhouse;
  readonly customer: Customer;

  private constructor(client: Tollhouse, customer: Customer) {
    this.client = client;
    this.customer = customer;
  }

  /** A new customer, so that its events are told from all others. */
  static async open(client: Tollhouse, name: string): Promise<Sandbox> {
    const externalCustomerId = `trigger-${name}`;
    const email = `${externalCustomerId}@example.com`;
    const made = await client.customers.create({ externalCustomerId, email, name: 'Trigger' });
    return new Sandbox(client, made);
  }

  /** Buys by the hosted page, as a buyer does. Returns the payment. */
  async buy(offer: Offer, card: Card): Promise<Payment> {
    const { client, customer } = this;
    const checkout = await client.checkouts.create({
      productId: await this.#product(offer),
      customerId: customer.id,
      customerEmail: customer.email ?? '',
    });
    const form = {
      payment_method: 'card',
      card_number: CARDS[card],
      card_expiry: '12/34',
      card_cvc: '123',
    };
    const answer = await fetch(checkout.url, {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
    });
    await answer.body?.cancel();
    const { data } = await client.payments.list({ checkoutId: checkout.id });
    const [payment] = data;
    if (payment === undefined) throw new Refused(`${checkout.url} answered ${answer.status}`);
    return payment;
  }

  /** A subscription that was paid, or a trial. */
  async subscribe(offer: 'monthly' | 'trial'): Promise<Subscription> {
    await this.buy(offer, 'good');
    const { data } = await this.client.subscriptions.list({ customerId: this.customer.id });
    const [subscription] = data;
    if (subscription === undefined) throw new Refused('the checkout made no subscription');
    return subscription;
  }

  /** A subscription without a card: its first invoice cannot be paid. */
  async subscribeUnpaid(): Promise<void> {
    const productId = await this.#product('monthly');
    await this.client.subscriptions.create({ customerId: this.customer.id, productId });
  }

  /** A meter, and units of it for the customer. */
  async grant(amount: number): Promise<void> {
    await this.client.meters.put(FEATURE, { name: 'Trigger' });
    await this.client.grants.create(this.customer.id, { featureKey: FEATURE, amount });
  }

  async use(value: number): Promise<void> {
    await this.client.track({ featureKey: FEATURE, customerId: this.customer.id, value });
  }

  /** The same one each time, by its key. */
  async #product(offer: Offer): Promise<string> {
    const made = await this.client.products.create(
      { name: `Trigger ${offer}`, prices: [PRICES[offer]] },
      { idempotencyKey: `tollhouse-trigger-${offer}` },
    );
    return made.id;
  }
}
