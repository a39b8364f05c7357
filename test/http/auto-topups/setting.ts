// Customers with saved cards, features, prices and automatic top-ups, all over HTTP.
import { expect } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { made, Shop } from '../../payments/shop.ts';
import type { Reply, ServerOptions, TestServer } from '../../support/server.ts';
import { settleAtStripe, UNHURRIED } from '../../support/settling.ts';
import { IS_STRIPE } from '../../support/stripe-side.ts';
import { until } from '../../support/until.ts';
import { GOOD, openPortal, type Portal } from '../portal/customer.ts';

export type Json = Reply['json'];

/** A card that pays first, and what it does later. */
export const CARDS = {
  good: GOOD,
  declinesLater: '4000000000000341',
  poorLater: '4000000000009235',
  // At Stripe that one never asks again once it is saved; this one does each time.
  asksLater: IS_STRIPE ? '4000002760003184' : '4000002500003155',
  losesTheAnswer: '4000000000001000',
  losesTheRequest: '4000000000001018',
} as const;

/** A customer with a feature of its own, and what a top-up costs. */
export type Subject = {
  readonly customer: string;
  readonly feature: string;
  readonly priceId: string;
  readonly portal: Portal;
};

export class Topped {
  readonly shop: Shop;

  private constructor(shop: Shop) {
    this.shop = shop;
  }

  static async open(options: ServerOptions = {}): Promise<Topped> {
    return new Topped(await Shop.open({ settings: UNHURRIED, ...options }));
  }

  get server(): TestServer {
    return this.shop.server;
  }

  post(path: string, body: object): Promise<Reply> {
    return this.server.call('POST', path, { body });
  }

  async feature(fields: object = {}): Promise<string> {
    const slug = `f-${ids.next()}`;
    made(await this.post('/meters', { slug, ...fields }));
    return slug;
  }

  /** 10.00 USD, once. */
  async price(fields: object = {}): Promise<string> {
    const prices = [{ amount: '10.00', currency: 'USD', ...fields }];
    const product = made(await this.post('/products', { name: 'Credits', prices }));
    return product.prices[0].id;
  }

  /** A customer with this card, and a feature of which it has `units`. */
  async subject(
    {
      card = CARDS.good,
      units = 100,
    }: { readonly card?: string | null; readonly units?: number } = {},
    fields: object = {},
  ): Promise<Subject> {
    const portal = await openPortal(this.server, { email: `${ids.next()}@example.com`, ...fields });
    const { customer } = portal;
    if (card !== null) await this.save({ portal }, card);
    const [feature, priceId] = await Promise.all([this.feature(), this.price()]);
    if (units > 0) {
      const body = { feature_key: feature, amount: units };
      made(await this.post(`/customers/${customer}/grants`, body));
    }
    return { customer, feature, priceId, portal };
  }

  async save({ portal }: Pick<Subject, 'portal'>, card: string): Promise<void> {
    const { status, headers } = await portal.saveCard(card);
    expect([status, headers.get('location')]).toEqual([303, expect.stringContaining('?done=')]);
  }

  /** Buys a plan with this card, which is saved with it. */
  async signUp(external: string, number: string): Promise<void> {
    const prices = [{ amount: '5.00', currency: 'USD', interval: 'year', interval_count: 3 }];
    const product = made(await this.post('/products', { name: 'Plan', prices }));
    const wanted = { product_id: product.id, external_customer_id: external };
    const session = await this.shop.checkout(wanted);
    const instrument = { type: 'card', number, expiry: '12/34', cvc: '123' } as const;
    await this.shop.pay(session, { total: '5.00', instrument });
    await this.shop.settle();
  }

  /** 500 units below 50. */
  async put(subject: Subject, fields: object = {}): Promise<Json> {
    const body = {
      enabled: true,
      threshold: 50,
      amount: 500,
      price_id: subject.priceId,
      ...fields,
    };
    const { status, json, text } = await this.call('PUT', subject, body);
    expect([status, text]).toEqual([200, text]);
    return json;
  }

  call(
    method: string,
    { customer, feature }: Pick<Subject, 'customer' | 'feature'>,
    body?: object,
  ) {
    const path = `/customers/${customer}/auto-topups/${feature}`;
    return this.server.call(method, path, body === undefined ? {} : { body });
  }

  async get(subject: Subject): Promise<Json> {
    const { status, json } = await this.call('GET', subject);
    expect(status).toBe(200);
    return json;
  }

  async track({ customer, feature }: Subject, value: number): Promise<Json> {
    const body = { customer_id: customer, feature_key: feature, value };
    const { status, json } = await this.post('/track', body);
    expect(status).toBe(200);
    return json;
  }

  /** One unit at a time, all at once. */
  async trackEach(subject: Subject, times: number): Promise<void> {
    await Promise.all(Array.from({ length: times }, () => this.track(subject, 1)));
  }

  async level({ customer, feature }: Subject): Promise<number> {
    const body = { customer_id: customer, feature_key: feature, value: 0 };
    return (await this.post('/check', body)).json.balance;
  }

  /** Once nothing is under way any more, it is as `wanted`. */
  async settled(subject: Subject, wanted: object): Promise<Json> {
    let last: Json;
    const isSettled = async (): Promise<boolean> => {
      last = await this.get(subject);
      return last.status !== 'charging' || last.next_attempt_at !== null;
    };
    await until('the top-up is decided', isSettled);
    expect(last).toMatchObject(wanted);
    return last;
  }

  /** Oldest first. */
  async payments({ customer }: Pick<Subject, 'customer'>): Promise<Json[]> {
    const { data } = await this.shop.read(`/payments?customer_id=${customer}&limit=200`);
    return data.toReversed();
  }

  async invoices({ customer }: Pick<Subject, 'customer'>): Promise<Json[]> {
    const { data } = await this.shop.read(`/invoices?customer_id=${customer}&limit=200`);
    return data.toReversed();
  }

  /** The grants that top-ups gave. */
  async grants({ customer }: Pick<Subject, 'customer'>): Promise<Json[]> {
    const { data } = await this.shop.read(`/customers/${customer}/grants`);
    return data.filter(({ product_id: product }: Json) => product !== null);
  }

  async now(): Promise<number> {
    return Date.parse((await this.shop.read('/test-clock')).now);
  }

  async advance(duration: string): Promise<void> {
    await this.#move({ advance: duration });
  }

  async advanceTo(at: string): Promise<void> {
    await this.#move({ now: at });
  }

  async #move(body: object): Promise<void> {
    await settleAtStripe(this.server);
    const { status, text } = await this.post('/test-clock', body);
    expect([status, text]).toEqual([200, text]);
  }

  close(): Promise<void> {
    return this.shop.close();
  }
}
