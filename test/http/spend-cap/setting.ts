// Customers who subscribe to plans with usage prices, and their spend caps.
import { expect } from 'bun:test';
import { made, Shop } from '../../payments/shop.ts';
import type { Reply, ServerOptions } from '../../support/server.ts';
import { UNHURRIED } from '../../support/settling.ts';
import { Club, type Json, type Plan, type PlanWish } from '../subscriptions/subscribing.ts';

export class Capped {
  readonly club: Club;

  private constructor(club: Club) {
    this.club = club;
  }

  static async open(options: ServerOptions = {}): Promise<Capped> {
    return new Capped(new Club(await Shop.open({ settings: UNHURRIED, ...options })));
  }

  /** 10 are included each month; each further one costs 0.01. */
  async plan(wish: PlanWish = {}, price: object = {}): Promise<Plan> {
    const plan = await this.club.plan({ limit: 10, amount: '0.00', ...wish });
    const usual = { feature_key: plan.feature, currency: 'USD', model: 'per_unit' };
    const body = { ...usual, unit_amount: '0.01', ...price };
    made(await this.club.post(`/products/${plan.productId}/usage-prices`, body));
    return plan;
  }

  /** A customer of these plans, under a cap. */
  async customer(amount: string | null, ...plans: readonly Plan[]): Promise<string> {
    const customer = made(await this.club.post('/customers', {})).id as string;
    for (const plan of plans) await this.club.subscribe(plan, customer);
    if (amount !== null) await this.put(customer, amount);
    return customer;
  }

  call(method: string, customer: string, body?: object): Promise<Reply> {
    const path = `/customers/${customer}/spend-cap`;
    return this.club.shop.server.call(method, path, body === undefined ? {} : { body });
  }

  async put(customer: string, amount: string, currency = 'USD'): Promise<Json> {
    const { status, text, json } = await this.call('PUT', customer, { amount, currency });
    expect([status, text]).toEqual([200, text]);
    return json;
  }

  /** What was spent. */
  async spent(customer: string): Promise<string> {
    return (await this.call('GET', customer)).json.spent;
  }

  /** `allowed` and `reason` of a check. */
  async check(customer: string, { feature }: Plan, value = 1): Promise<Checked> {
    const body = { customer_id: customer, feature_key: feature, value };
    const { status, json } = await this.club.post('/check', body);
    expect(status).toBe(200);
    return [json.allowed, json.reason];
  }

  consume(customer: string, { feature }: Plan, value = 1, fields: object = {}): Promise<Reply> {
    const body = { customer_id: customer, feature_key: feature, value, consume: true };
    return this.club.post('/check', { ...body, ...fields });
  }

  async track(customer: string, { feature }: Plan, value = 1): Promise<void> {
    const body = { customer_id: customer, feature_key: feature, value };
    expect((await this.club.post('/track', body)).status).toBe(200);
  }

  reject(customer: string, { feature }: Plan, value = 1, fields: object = {}): Promise<Reply> {
    const body = { customer_id: customer, feature_key: feature, value, overage: 'reject' };
    return this.club.post('/track', { ...body, ...fields });
  }

  close(): Promise<void> {
    return this.club.close();
  }
}

type Checked = [boolean, string];
export const OK: Checked = [true, 'ok'];
export const OVERAGE: Checked = [true, 'overage_allowed'];
export const CAP: Checked = [false, 'spend_cap'];
