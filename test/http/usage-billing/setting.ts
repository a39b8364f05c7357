// Plans that sell usage, customers who use it, and what their invoices say.
import { expect } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { LEVEL_CHECKS } from '../../../src/database/audit-levels.ts';
import { USAGE_CHECKS } from '../../../src/database/audit-usage.ts';
import { ids } from '../../../src/platform/ids.ts';
import { type Fields, made, Shop } from '../../payments/shop.ts';
import { type Means, NUMBERS } from '../../support/means.ts';
import { UNHURRIED } from '../../support/settling.ts';
import type { ServerOptions } from '../../support/server.ts';
import { portalOf } from '../portal/customer.ts';
import { Club, type Json, type Plan } from '../subscriptions/subscribing.ts';

/** Changes to the usual: 30.00 USD a month, 10 units included, each further one for 0.50. */
export type SaleWish = {
  /** Fields of the recurring price. */
  readonly price?: Fields;
  /** Fields of the entitlement; null: none. */
  readonly gives?: Fields | null;
  /** Fields of the usage price; null: none. */
  readonly sells?: Fields | null;
  /** Fields of the meter. */
  readonly meter?: Fields;
  /** A meter that exists. */
  readonly feature?: string;
};

const PER_UNIT = { model: 'per_unit', unit_amount: '0.50' } as const;

export class Market extends Club {
  static override async open(options: ServerOptions = {}): Promise<Market> {
    return new Market(await Shop.open({ settings: UNHURRIED, ...options }));
  }

  async sale({ price = {}, gives = {}, sells = {}, meter = {}, feature }: SaleWish = {}) {
    const slug = feature ?? `f-${ids.next()}`;
    if (feature === undefined) made(await this.post('/meters', { slug, ...meter }));
    const prices = [{ currency: 'USD', amount: '30.00', interval: 'month', ...price }];
    const body = { name: 'Pro', slug: `p-${ids.next()}`, prices };
    const product = made(await this.post('/products', body));
    const plan = { productId: product.id, priceId: product.prices[0].id, feature: slug };
    if (gives !== null) await this.give(plan, gives);
    if (sells !== null) await this.sell(plan, sells);
    return plan;
  }

  async give({ productId, feature }: Plan, fields: Fields = {}): Promise<void> {
    const body = { feature_key: feature, limit: 10, ...fields };
    made(await this.post(`/products/${productId}/entitlements`, body));
  }

  /** Returns the id of the usage price. */
  async sell({ productId, feature }: Plan, fields: Fields = {}): Promise<string> {
    const usual = 'model' in fields ? {} : PER_UNIT;
    const body = { feature_key: feature, currency: 'USD', ...usual, ...fields };
    return made(await this.post(`/products/${productId}/usage-prices`, body)).id;
  }

  /** The buyer's first subscription, with a card that does so at the first renewal. */
  buyer(plan: Plan, means: Means = 'good', fields: Fields = {}): Promise<Json> {
    return this.signUp(plan, means, fields);
  }

  /** Saves another means of payment on the customer's portal. */
  async payBy({ customer_id }: { readonly customer_id: string }, means: Means): Promise<void> {
    const portal = await portalOf(this.shop.server, customer_id);
    if (!means.startsWith('iban')) {
      expect((await portal.saveCard(NUMBERS[means])).status).toBe(303);
      return;
    }
    const { text } = await portal.get('payment-method');
    const attempt = must(/name="attempt" value="([^"]+)"/.exec(text)?.[1], 'an attempt');
    const debit = { attempt, payment_method: 'bank_debit', iban: NUMBERS[means] };
    expect((await portal.submit('payment-method', debit)).status).toBe(303);
  }

  /** Records usage: at a time, or now. */
  async use(
    { customer_id }: { readonly customer_id: string },
    { feature }: Pick<Plan, 'feature'>,
    value: number,
    at?: number,
  ): Promise<void> {
    const event = {
      name: feature,
      customer_id,
      value,
      ...(at !== undefined && { timestamp: new Date(at).toISOString() }),
    };
    const { status, text } = await this.post('/events/ingest', { events: [event] });
    expect([status, text]).toEqual([200, text]);
  }

  /** The invoices after the one of the signup: each as a line of text, oldest first. */
  async bills({ id }: { readonly id: string }): Promise<string[]> {
    const [, ...later] = await this.invoices(id);
    return later.map(textOf);
  }

  async bill({ id }: { readonly id: string }): Promise<Json> {
    return (await this.invoices(id)).at(-1);
  }

  async toEnd({ id }: { readonly id: string }): Promise<Json> {
    await this.advanceTo((await this.subscription(id)).current_period_end);
    return this.subscription(id);
  }

  /** The next invoice as it would be now: its first line of usage. */
  async usageToCome({ id }: { readonly id: string }): Promise<Json> {
    const { lines } = await this.shop.read(`/subscriptions/${id}/upcoming-invoice`);
    return lines.find(({ type }: Json) => type === 'usage');
  }

  /** The audit of sold usage finds nothing. */
  async expectSound(): Promise<void> {
    for (const [name, query] of Object.entries({ ...USAGE_CHECKS, ...LEVEL_CHECKS })) {
      expect([name, [...(await this.shop.server.sql.unsafe(query))]]).toEqual([name, []]);
    }
  }

  /** So that its short periods do not go on under the next test. */
  async stop({ id }: { readonly id: string }): Promise<void> {
    await this.act(id, 'cancel', { mode: 'immediate' });
  }

  /** What all invoices that count come to, in cents, credit not taken off. */
  async money({ id }: { readonly id: string }): Promise<bigint> {
    const counted = (await this.invoices(id)).filter(({ status }) => status !== 'void');
    const lines = counted.flatMap(({ lines: all }) => all);
    return lines
      .filter(({ type }) => type.startsWith('usage'))
      .reduce((sum, { amount }) => sum + cents(amount), 0n);
  }
}

const cents = (amount: string): bigint => BigInt(amount.replace('.', ''));

/** `subscription_cycle paid 32.50: recurring 30.00, usage 5 2.50`. */
function textOf({ billing_reason, status, total, lines }: Json): string {
  const told = lines.map(({ type, quantity, amount }: Json) =>
    [type, ...(type.startsWith('usage') ? [quantity] : []), amount].join(' '),
  );
  return `${billing_reason} ${status} ${total}: ${told.join(', ')}`;
}
