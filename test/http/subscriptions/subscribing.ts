// Plans, customers who subscribe to them, and reads of both, all over HTTP.
import { expect } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { type Envelope, type Fields, made, Shop } from '../../payments/shop.ts';
import type { Means } from '../../support/means.ts';
import type { Call, Reply, ServerOptions } from '../../support/server.ts';
import { ask, type Session, sessionOf, submit } from '../../support/shop.ts';
import { settleAtStripe, UNHURRIED } from '../../support/settling.ts';

export const DAY_MS = 86_400_000;
export const UNKNOWN = '01890000-0000-7000-8000-000000000000';

export type Plan = {
  readonly productId: string;
  readonly priceId: string;
  /** The slug of the feature that it grants. */
  readonly feature: string;
};

export type Json = Reply['json'];

/** Changes to the usual plan: 30.00 USD a month for 10000 units of a feature of its own. */
export type PlanWish = Fields & {
  readonly limit?: number | null;
  readonly feature?: string;
  /** How often the allowance is given afresh. */
  readonly reset?: string;
};

export class Club {
  readonly shop: Shop;

  constructor(shop: Shop) {
    this.shop = shop;
  }

  static async open(options: ServerOptions = {}): Promise<Club> {
    return new Club(await Shop.open({ settings: UNHURRIED, ...options }));
  }

  async plan({ limit = 10_000, feature, reset, ...price }: PlanWish = {}): Promise<Plan> {
    const slug = feature ?? `f-${ids.next()}`;
    if (feature === undefined) made(await this.post('/meters', { slug }));
    const prices = [{ currency: 'USD', amount: '30.00', interval: 'month', ...price }];
    const product = made(
      await this.post('/products', { name: 'Pro', slug: `p-${ids.next()}`, prices }),
    );
    const given = {
      feature_key: slug,
      limit,
      ...(reset !== undefined && { reset_interval: reset }),
    };
    made(await this.post(`/products/${product.id}/entitlements`, given));
    return { productId: product.id, priceId: product.prices[0].id, feature: slug };
  }

  /** Another price of the same product. */
  async price({ productId }: Plan, price: Fields): Promise<string> {
    const body = { currency: 'USD', interval: 'month', ...price };
    return made(await this.post(`/products/${productId}/prices`, body)).id;
  }

  async customer(): Promise<string> {
    return made(await this.post('/customers', { email: `${ids.next()}@example.com` })).id;
  }

  /** What a buyer on the hosted page then has. */
  async signUp(plan: Plan, means: Means = 'good', fields: Fields = {}): Promise<Json> {
    const session = await this.checkout(plan, fields);
    return this.subscription((await this.pay(session, means)).subscription_id);
  }

  /** Sends the form of the hosted page; returns the payment. */
  async pay(session: Session, means: Means = 'good'): Promise<Json> {
    await submit(this.shop.server.url, session, means);
    return this.shop.lastOf(session);
  }

  async checkout({ productId }: Plan, fields: Fields = {}): Promise<Session> {
    const external = ids.next();
    const buyer = { customer_email: `${external}@example.com`, external_customer_id: external };
    const body = { product_id: productId, currency: 'USD', ...buyer, ...fields };
    return sessionOf(made(await this.post('/checkouts', body)));
  }

  /** A customer with a saved card, from another purchase. */
  async cardholder(means: Means = 'good'): Promise<string> {
    const other = await this.plan({ interval: 'year', interval_count: 3 });
    return (await this.signUp(other, means)).customer_id;
  }

  /** Started by the merchant. */
  async subscribe(plan: Plan, customerId: string, fields: Fields = {}): Promise<Json> {
    const body = { customer_id: customerId, product_id: plan.productId, ...fields };
    return made(await this.post('/subscriptions', body));
  }

  post(path: string, body?: object, call: Call = {}): Promise<Reply> {
    return this.shop.server.call('POST', path, { ...(body !== undefined && { body }), ...call });
  }

  subscription(id: string): Promise<Json> {
    return this.shop.read(`/subscriptions/${id}`);
  }

  async act(id: string, action: string, body?: object): Promise<Json> {
    const { status, text, json } = await this.post(`/subscriptions/${id}/${action}`, body);
    expect([action, status, text]).toEqual([action, 200, text]);
    return json;
  }

  async refused(id: string, action: string, body?: object): Promise<[number, string, string]> {
    const { status, json } = await this.post(`/subscriptions/${id}/${action}`, body);
    return [status, json.error?.type, json.error?.message];
  }

  async check({ customer_id }: { customer_id: string }, { feature }: Plan): Promise<Json> {
    const { status, json } = await this.post('/check', { customer_id, feature_key: feature });
    expect(status).toBe(200);
    return json;
  }

  async track(of: { customer_id: string }, { feature }: Plan, value: number): Promise<Json> {
    const body = { customer_id: of.customer_id, feature_key: feature, value };
    const { status, json } = await this.post('/track', body);
    expect(status).toBe(200);
    return json;
  }

  /** Now, by the test clock. */
  async now(): Promise<number> {
    return Date.parse((await this.shop.read('/test-clock')).now);
  }

  async advance(duration: string): Promise<void> {
    await this.#move({ advance: duration });
  }

  async advanceTo(at: string | number): Promise<void> {
    await this.#move({ now: new Date(at).toISOString() });
  }

  async #move(body: object): Promise<void> {
    const { url, organisation } = this.shop.server;
    // The banks behind it take less time than any test lets pass.
    await settleAtStripe(this.shop.server);
    await ask({ url, key: organisation.testKey }, 'POST', '/test-clock', body);
  }

  /** Oldest first. */
  async invoices(id: string): Promise<Json[]> {
    return (await this.shop.read(`/invoices?subscription_id=${id}&limit=200`)).data.toReversed();
  }

  /** Oldest first. */
  async payments(id: string): Promise<Json[]> {
    return (await this.shop.read(`/payments?subscription_id=${id}&limit=200`)).data.toReversed();
  }

  /** Its events in order, with no gap in their numbers. */
  events(id: string): Promise<Envelope[]> {
    return this.shop.events(id);
  }

  async types(id: string): Promise<string[]> {
    return (await this.events(id)).map(({ type }) => type);
  }

  close(): Promise<void> {
    return this.shop.close();
  }
}
