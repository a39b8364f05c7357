// Programs that report usage while others read it over time: as it happens, late, as corrections and
// again. What was acknowledged is kept, to reckon what each bin must have.
import type { Random } from '../support/random.ts';
import { type Asked, type Bin, expectReckoned, type Sent } from '../http/usage-series/reckoning.ts';
import { call, type Sender } from './call.ts';
import { Persistent, type PersistentOptions } from './persistent.ts';

const DAY_MS = 86_400_000;
const REST_MS = 5;
/** A frozen node does not answer. */
const ANSWER_MS_MAX = 2000;
const LATE_MS_MAX = 30 * DAY_MS;
const EVENTS_MAX = 4;
/** `exact_through` is as far behind at most. */
const BEHIND_MS_MAX = 2000;

/** A count, without corrections: a reading of it never gets less. */
const CALLS = 'calls';
const TOKENS = 'tokens';

type Options = PersistentOptions & { readonly random: Random; readonly customers: number };

export class UsageOverTime {
  /** Violations. */
  readonly faults: string[] = [];
  readonly acknowledged: Sent[] = [];
  /** Answers of GET /usage. */
  readings = 0;
  readonly #calls: Persistent;
  readonly #random: Random;
  readonly #customers: string[] = [];
  #sent = 0;
  #keys = 0;

  private constructor(options: Options) {
    this.#calls = new Persistent(options);
    this.#random = options.random;
  }

  /** Customers whose periods are an hour, a day, a month, or without an end. */
  static async open(options: Options): Promise<UsageOverTime> {
    const made = new UsageOverTime(options);
    const post = (path: string, body: object) =>
      made.#calls.once(async (sender) => (await answer(sender, path, body)) as { id: string });
    await post('/meters', { slug: CALLS, aggregation: 'count' });
    await post('/meters', { slug: TOKENS, scale: 3 });
    const effective_at = new Date(Date.now() - LATE_MS_MAX - DAY_MS).toISOString();
    for (let index = 0; index < options.customers; index += 1) {
      const { id } = await post('/customers', { external_customer_id: `customer-${index}` });
      made.#customers.push(id);
      const reset_interval = ['hour', 'day', 'month', null][index % 4];
      for (const feature_key of [CALLS, TOKENS]) {
        const grant = { feature_key, amount: 1000, effective_at, reset_interval };
        await post(`/customers/${id}/grants`, grant);
      }
    }
    return made;
  }

  /** Starts programs and readers. Resolves to what stops them, once all is acknowledged. */
  start(programs: number, readers: number): () => Promise<void> {
    const stopping = new AbortController();
    const loop = async (step: () => Promise<unknown>): Promise<void> => {
      while (!stopping.signal.aborted) {
        await step();
        await Bun.sleep(REST_MS);
      }
    };
    const running = Promise.all([
      ...Array.from({ length: programs }, () => loop(() => this.#report())),
      ...Array.from({ length: readers }, () => loop(() => this.#read().catch(() => undefined))),
    ]);
    return async () => {
      stopping.abort();
      await running;
    };
  }

  /** @throws where a bin has not what was acknowledged */
  async expectAll(): Promise<void> {
    const day = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const range = { from: day - LATE_MS_MAX - DAY_MS, to: day + DAY_MS };
    for (const feature of [CALLS, TOKENS]) {
      const isCount = feature === CALLS;
      for (const customer of [undefined, ...this.#customers]) {
        const asked: Asked = { feature, ...range, ...(customer !== undefined && { customer }) };
        const { data } = await this.#calls.again((sender) => series(sender, asked));
        expectReckoned(data, this.acknowledged, { asked, isCount });
      }
    }
  }

  /** One report, until it is answered; now and then twice. */
  async #report(): Promise<void> {
    const one = this.#random.chance(0.5) ? this.#now() : this.#late();
    this.#sent += one.calls;
    const said = await this.#calls.again(one.send);
    this.acknowledged.push(...said);
    if (!this.#random.chance(0.1)) return;
    const again = await this.#calls.again(one.send);
    if (JSON.stringify(again) !== JSON.stringify(said)) {
      this.faults.push(`answered ${JSON.stringify(said)}, and then ${JSON.stringify(again)}`);
    }
  }

  /** It has what was acknowledged before it, and nothing that was not sent. */
  async #read(): Promise<void> {
    const least = this.acknowledged.filter(({ feature }) => feature === CALLS).length;
    const began = Date.now();
    const range = { from: began - LATE_MS_MAX - 2 * DAY_MS, to: began + 2 * DAY_MS };
    const asked = { feature: CALLS, ...range, bin: this.#random.pick(['day', 'month']) };
    const { data, exact_through: until } = await this.#calls.once((one) => series(one, asked));
    const found = data.reduce((sum, { events }) => sum + events, 0);
    this.readings += 1;
    if (found < least || found > this.#sent) {
      this.faults.push(`read ${found} calls, not ${least} to ${this.#sent}`);
    }
    if (Date.parse(until) < began - BEHIND_MS_MAX) {
      this.faults.push(`exact through ${until} at ${began}`);
    }
  }

  #what(): { customer: string; feature: string; value: number; key: string } {
    const feature = this.#random.pick([CALLS, TOKENS]);
    const customer = this.#random.pick(this.#customers);
    const isBack = feature === TOKENS && this.#random.chance(0.2);
    const value = this.#random.integer(1, 9000) * (isBack ? -1 : 1);
    return { customer, feature, value, key: `event-${(this.#keys += 1)}` };
  }

  #now() {
    const { key, ...what } = this.#what();
    const { customer: customer_id, feature: feature_key } = what;
    const value = sentAs(what.value);
    const body = { customer_id, feature_key, value, idempotency_key: key };
    return {
      calls: what.feature === CALLS ? 1 : 0,
      send: async (sender: Sender): Promise<Sent[]> => {
        const { timestamp } = await this.#answer(sender, '/track', body);
        return [{ ...what, at: Date.parse(timestamp) }];
      },
    };
  }

  #late() {
    const now = Date.now();
    const events = Array.from({ length: this.#random.integer(1, EVENTS_MAX) }, () => {
      return { ...this.#what(), at: now - this.#random.integer(0, LATE_MS_MAX) };
    });
    const body = {
      events: events.map(({ customer, feature, key, at, value }) => ({
        name: feature,
        customer_id: customer,
        external_id: key,
        timestamp: new Date(at).toISOString(),
        value: sentAs(value),
      })),
    };
    return {
      calls: events.filter(({ feature }) => feature === CALLS).length,
      send: async (sender: Sender): Promise<Sent[]> => {
        await this.#answer(sender, '/events/ingest', body);
        return events.map(({ key: _key, ...event }) => event);
      },
    };
  }

  async #answer(sender: Sender, path: string, body: object): Promise<{ timestamp: string }> {
    const { status, json } = await call(sender, path, body, ANSWER_MS_MAX);
    if (status === 200) return json;
    const said = `${path}: ${status} ${JSON.stringify(json)}`;
    if (status !== 503) this.faults.push(said);
    throw new Error(said);
  }
}

/** Thousandths, as a decimal. */
const sentAs = (value: number): string => (value / 1000).toFixed(3);

async function answer(sender: Sender, path: string, body?: object): Promise<unknown> {
  const { status, json } = await call(sender, path, body, ANSWER_MS_MAX);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
  return json;
}

async function series(sender: Sender, { feature, customer, from, to, bin = 'day' }: Asked) {
  const query = new URLSearchParams({
    feature_key: feature,
    bin,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    ...(customer !== undefined && { customer_id: customer }),
  });
  const found = await answer(sender, `/usage?${query.toString()}`);
  return found as { readonly data: readonly Bin[]; readonly exact_through: string };
}
