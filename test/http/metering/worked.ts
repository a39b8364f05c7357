// The worked table of balances, as a merchant meets it: over HTTP, on a server whose clock may
// stand still.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { clock as machine } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { type Fields, made, PATIENCE_MS, Shop } from '../../payments/shop.ts';
import { MovedClock } from '../../support/moved-clock.ts';
import { UNHURRIED } from '../../support/settling.ts';
import type { Json, Plan } from '../subscriptions/subscribing.ts';
import { Market, type SaleWish } from '../usage-billing/setting.ts';

export const DOLLAR = { model: 'per_unit', unit_amount: '1.00' } as const;
export const GRADUATED = {
  model: 'graduated',
  tiers: [
    { up_to: 10, unit_amount: '10.00' },
    { up_to: null, unit_amount: '5.00' },
  ],
} as const;

/** Of one customer and one feature. */
type Of = { readonly customer: string; readonly feature: string };

/** One row of the table: facts, and what holds then. */
export class Row {
  readonly #market: Market;
  readonly #isStill: boolean;
  readonly #subscriptions = new Set<string>();

  constructor(market: Market, isStill: boolean) {
    this.#market = market;
    this.#isStill = isStill;
  }

  /** Between two facts: nothing, or a minute. */
  async pass(): Promise<void> {
    if (!this.#isStill) await this.#market.advance('PT1M');
  }

  plan(gives: Fields | null, sells: Fields | null = null, more: SaleWish = {}) {
    return this.#market.sale({ gives, sells, ...more });
  }

  /** `isOlder`: than what is given then: of the same millisecond, what is bought may burn first. */
  async subscribed(
    plan: Plan,
    { isOlder = false } = {},
  ): Promise<Of & { readonly subscription: Json }> {
    const subscription = await this.#market.buyer(plan);
    this.#subscriptions.add(subscription.id);
    if (isOlder) await this.#market.advance('PT1M');
    else await this.pass();
    return { subscription, customer: subscription.customer_id, feature: plan.feature };
  }

  /** A customer without a plan, and a meter. */
  async customer(meter: Fields = {}): Promise<Of> {
    const feature = `f-${ids.next()}`;
    made(await this.#market.post('/meters', { slug: feature, ...meter }));
    return { customer: await this.#market.customer(), feature };
  }

  async change({ subscription }: { readonly subscription: Json }, to: Plan | number) {
    const body = typeof to === 'number' ? { quantity: to } : { price_id: to.priceId };
    await this.#market.act(subscription.id, 'change', body);
    await this.pass();
  }

  async grant({ customer, feature }: Of, amount: number, fields: Fields = {}): Promise<string> {
    const body = { feature_key: feature, amount, ...fields };
    const { id } = made(await this.#market.post(`/customers/${customer}/grants`, body));
    await this.pass();
    return id;
  }

  async use({ customer, feature }: Of, value: number): Promise<void> {
    await this.#market.track({ customer_id: customer }, { feature } as Plan, value);
    await this.pass();
  }

  /** It comes now, and has that time. */
  async late({ customer, feature }: Of, value: number, at: number): Promise<void> {
    await this.#market.use({ customer_id: customer }, { feature }, value, at);
    await this.pass();
  }

  /** Status of a call that is refused where the balance does not cover it. */
  async strictly({ customer, feature }: Of, value: number): Promise<number> {
    const body = { customer_id: customer, feature_key: feature, value, overage: 'reject' };
    return (await this.#market.post('/track', body)).status;
  }

  async hold({ customer, feature }: Of, amount: number): Promise<string> {
    const body = { customer_id: customer, feature_key: feature, amount, expires_in: 7200 };
    const { id } = made(await this.#market.post('/reservations', body));
    await this.pass();
    return id;
  }

  async resolve(hold: string, how: 'commit' | 'release', body?: object): Promise<void> {
    const { status } = await this.#market.post(`/reservations/${hold}/${how}`, body);
    expect([how, status]).toEqual([how, 200]);
    await this.pass();
  }

  /** As the page of the customer's balances has it. */
  async balance({ customer, feature }: Of): Promise<Json> {
    const path = `/customers/${customer}/balances?feature_key=${feature}`;
    return (await this.#market.shop.read(path)).data[0];
  }

  /** What is left of each grant, in the order in which they are used up. */
  async left(of: Of): Promise<number[]> {
    const { breakdown } = await this.balance(of);
    return breakdown.map(({ remaining }: Json) => remaining);
  }

  async alertAt({ customer, feature }: Of, threshold: number): Promise<void> {
    const alert = { customer_id: customer, feature_key: feature, type: 'remaining', threshold };
    made(await this.#market.post('/alerts', alert));
  }

  /** Whether its alerts have fired, and how often it was told that nothing is left. */
  async told({ customer, feature }: Of): Promise<Json> {
    const alerts = await this.#market.shop.read(`/customers/${customer}/alerts`);
    const events = await this.#market.shop.read('/events?type=entitlement.exhausted&limit=200');
    const its = events.data.filter(({ data }: Json) => data.featureKey === feature);
    return { fired: alerts.data.map(({ triggered }: Json) => triggered), exhausted: its.length };
  }

  now(): Promise<number> {
    return this.#market.now();
  }

  advance(duration: string): Promise<void> {
    return this.#market.advance(duration);
  }

  advanceTo(at: number): Promise<void> {
    return this.#market.advanceTo(at);
  }

  /** The next invoice is what it was said to be. */
  async renew({ subscription: { id } }: { readonly subscription: Json }): Promise<void> {
    const foreseen = await this.#market.shop.read(`/subscriptions/${id}/upcoming-invoice`);
    await this.#market.toEnd({ id });
    const bill = await this.#market.bill({ id });
    expect(costOf(bill)).toEqual(costOf(foreseen));
  }

  async cancel({ subscription: { id } }: { readonly subscription: Json }): Promise<void> {
    await this.#market.act(id, 'cancel', { mode: 'immediate' });
    this.#subscriptions.delete(id);
  }

  /** The usage on each of its invoices that has some. */
  async billed({ subscription: { id } }: { readonly subscription: Json }): Promise<string[]> {
    const invoices = await this.#market.invoices(id);
    return invoices.flatMap(({ lines }) => usageOf(lines));
  }

  /** In cents, over all invoices. */
  money({ subscription }: { readonly subscription: Json }): Promise<bigint> {
    return this.#market.money(subscription);
  }

  async close(): Promise<void> {
    expect(await audit(this.#market.shop.server.sql)).toEqual([]);
    for (const id of this.#subscriptions) await this.#market.stop({ id });
  }
}

const costOf = ({ total, lines }: Json) => [
  total,
  lines.map(({ type, quantity, amount }: Json) => `${type} ${quantity} ${amount}`),
];

/** Those that come to something. */
const usageOf = (lines: readonly Json[]): string[] =>
  lines
    .filter(({ type, amount }) => type.startsWith('usage') && amount !== '0.00')
    .map(({ type, quantity, amount }) => `${type} ${quantity} ${amount}`);

/**
 * Rows of one file, in an organisation of its own. Each is told twice: several facts in one
 * millisecond, and with a minute between them.
 */
export function table(rows: readonly (readonly [string, (row: Row) => Promise<void>])[]): void {
  setDefaultTimeout(PATIENCE_MS);
  const clock = new MovedClock();
  let market: Market;
  beforeAll(async () => {
    market = new Market(await Shop.open({ settings: UNHURRIED, clock }));
  });
  afterAll(() => market.close());
  const told = rows.flatMap(([title, story]) => [
    { title: `${title}: in one millisecond`, story, isStill: true },
    { title: `${title}: minutes apart`, story, isStill: false },
  ]);
  test.each(told)('$title', async ({ story, isStill }) => {
    clock.travel(isStill ? machine.now() : null);
    const row = new Row(market, isStill);
    await story(row);
    await row.close();
  });
}
