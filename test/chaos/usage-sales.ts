// Customers of a weekly plan whose usage is sold, and programs that report it: as it happens, late,
// as corrections, and again. What was acknowledged is kept, to reckon what it must cost.
import type { Random } from '../support/random.ts';
import { ask, buy, type Seller } from '../support/shop.ts';
import { call } from './call.ts';
import { Persistent, type PersistentOptions } from './persistent.ts';

export const DAY_MS = 86_400_000;

/** Its allowance is given each day, so that a line of the weekly plan sums several spans. */
export const REQUESTS = 'requests';
export const REQUESTS_A_DAY = 20;
/** Nothing of it is included. It has tiers, a minimum and a maximum. */
export const TOKENS = 'tokens';

/** The oldest event may be 35 days late, and the clock moves by a week while it is on its way. */
const LATE_MS_MAX = 25 * DAY_MS;
const REST_MS = 5;
const REMEMBERED = 50;
const EVENTS_MAX = 4;

export type Used = {
  readonly buyer: string;
  readonly feature: string;
  /** Its own time: it decides what it is billed with. */
  readonly at: number;
  readonly value: number;
};

type Report = {
  /** Sends it; returns what it counts. @throws where it is not answered, or not with 200 */
  readonly send: (seller: Seller) => Promise<readonly Used[]>;
};

export class UsageSales {
  /** By buyer: when the first period began. */
  readonly starts = new Map<string, number>();
  readonly acknowledged: Used[] = [];
  /** Violations. */
  readonly faults: string[] = [];
  readonly calls: Persistent;
  readonly #random: Random;
  readonly #subscriptions: string[] = [];
  readonly #answered: { readonly report: Report; readonly said: string }[] = [];
  #now = 0;
  #keys = 0;

  private constructor(options: PersistentOptions & { readonly random: Random }) {
    this.calls = new Persistent(options);
    this.#random = options.random;
  }

  /** A plan with two usage prices, and its subscribers. */
  static async open(
    options: PersistentOptions & { readonly random: Random; readonly buyers: number },
  ): Promise<UsageSales> {
    const sales = new UsageSales(options);
    const productId = await sales.calls.once(createPlan);
    for (let index = 0; index < options.buyers; index += 1) {
      const buyer = `buyer-${index}`;
      const who = { customer_email: `${buyer}@example.com`, external_customer_id: buyer };
      await sales.calls.once(async (seller) => {
        const payment = await buy(seller, { means: ['good'], product_id: productId, ...who });
        const { subscription_id: id } = await ask(seller, 'GET', `/payments/${payment}`);
        const { current_period_start: start } = await ask(seller, 'GET', `/subscriptions/${id}`);
        sales.#subscriptions.push(id);
        sales.starts.set(buyer, Date.parse(start));
      });
    }
    sales.#now = await sales.calls.now();
    return sales;
  }

  /** Starts programs that report usage. Resolves to what stops them, once all is acknowledged. */
  report(programs: number): () => Promise<void> {
    const stopping = new AbortController();
    const run = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        await (this.#random.chance(0.1) ? this.#sendAgain() : this.#sendNew());
        await Bun.sleep(REST_MS);
      }
    };
    const running = Promise.all(Array.from({ length: programs }, run));
    return async () => {
      stopping.abort();
      await running;
    };
  }

  async passWeek(): Promise<void> {
    const target = this.#now + 7 * DAY_MS;
    await this.calls.pass(target);
    this.#now = target;
  }

  /** A dearer price for the rest of the period, which is paid at once. */
  async change(quantity: number): Promise<void> {
    for (const id of this.#subscriptions) {
      await this.calls.again(async (seller) => {
        const { quantity: now } = await ask(seller, 'GET', `/subscriptions/${id}`);
        if (now === quantity) return;
        await ask(seller, 'POST', `/subscriptions/${id}/change`, { quantity });
      });
    }
  }

  /** Ends so many more of them now. */
  async end(count: number): Promise<void> {
    for (const id of this.#subscriptions.splice(0, count)) {
      await this.calls.again(async (seller) => {
        const { status } = await ask(seller, 'GET', `/subscriptions/${id}`);
        if (status === 'canceled') return;
        await ask(seller, 'POST', `/subscriptions/${id}/cancel`, { mode: 'immediate' });
      });
    }
  }

  async #sendNew(): Promise<void> {
    const report = this.#random.chance(0.6) ? this.#inOrder() : this.#late();
    const used = await this.calls.again(report.send);
    this.acknowledged.push(...used);
    this.#answered.push({ report, said: JSON.stringify(used) });
    if (this.#answered.length > REMEMBERED) this.#answered.shift();
  }

  /** It counts once, and is answered as it was. */
  async #sendAgain(): Promise<void> {
    if (this.#answered.length === 0) return;
    const { report, said } = this.#random.pick(this.#answered);
    const again = JSON.stringify(await this.calls.again(report.send));
    if (again !== said) this.faults.push(`answered ${said}, and then ${again}`);
  }

  #what(): { readonly buyer: string; readonly feature: string; readonly key: string } {
    const buyer = this.#random.pick([...this.starts.keys()]);
    const feature = this.#random.pick([REQUESTS, TOKENS]);
    return { buyer, feature, key: `event-${(this.#keys += 1)}` };
  }

  #inOrder(): Report {
    const { buyer, feature, key } = this.#what();
    const value = this.#random.integer(1, 9);
    const body = {
      feature_key: feature,
      external_customer_id: buyer,
      value,
      idempotency_key: key,
    };
    return {
      send: async (seller) => {
        const { timestamp } = await this.#answer(seller, '/track', body);
        return [{ buyer, feature, at: Date.parse(timestamp), value }];
      },
    };
  }

  /** Several events, each of its own time. Some take back what others have counted. */
  #late(): Report {
    const now = this.#now;
    const events = Array.from({ length: this.#random.integer(1, EVENTS_MAX) }, () => {
      const what = this.#what();
      const start = Math.max(this.starts.get(what.buyer) ?? now, now - LATE_MS_MAX);
      const value = this.#random.integer(1, 9) * (this.#random.chance(0.2) ? -1 : 1);
      return { ...what, at: this.#random.integer(start, now), value };
    });
    const body = {
      events: events.map(({ buyer, feature, key, at, value }) => ({
        name: feature,
        external_customer_id: buyer,
        external_id: key,
        timestamp: new Date(at).toISOString(),
        value,
      })),
    };
    return {
      send: async (seller) => {
        await this.#answer(seller, '/events/ingest', body);
        return events.map(({ key: _key, ...used }) => used);
      },
    };
  }

  async #answer(seller: Seller, path: string, body: object): Promise<{ timestamp: string }> {
    const { status, json } = await call(seller, path, body);
    if (status === 200) return json;
    const said = `${path}: ${status} ${JSON.stringify(json)}`;
    if (status !== 503) this.faults.push(said);
    throw new Error(said);
  }
}

/** Returns the product. */
async function createPlan(seller: Seller): Promise<string> {
  for (const slug of [REQUESTS, TOKENS]) await ask(seller, 'POST', '/meters', { slug, scale: 0 });
  const prices = [{ currency: 'USD', amount: '10.00', type: 'recurring', interval: 'week' }];
  const { id } = await ask(seller, 'POST', '/products', { name: 'Weekly', prices });
  const included = { feature_key: REQUESTS, limit: REQUESTS_A_DAY, reset_interval: 'day' };
  await ask(seller, 'POST', `/products/${id}/entitlements`, included);
  const sold = [
    { feature_key: REQUESTS, model: 'per_unit', unit_amount: '0.0125' },
    {
      feature_key: TOKENS,
      model: 'graduated',
      tiers: [
        { up_to: 30, unit_amount: '0.011', flat_amount: '0.50' },
        { up_to: null, unit_amount: '0.0033' },
      ],
      minimum_amount: '0.60',
      maximum_amount: '2.00',
    },
  ];
  for (const price of sold) {
    await ask(seller, 'POST', `/products/${id}/usage-prices`, { currency: 'USD', ...price });
  }
  return id;
}
