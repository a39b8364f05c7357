// One busy caller for each customer: it measures how long the customer is not served, and whether
// every node knows an acknowledged call at once.
import type { Random } from '../../support/random.ts';
import type { Book } from '../book.ts';
import { OPEN_METER, type Tenant } from '../tenant.ts';
import { sendUsage, type Usage } from '../usage.ts';
import type { Balancer } from './balancer.ts';
import type { Reader } from './reader.ts';
import type { Tally } from './tally.ts';

const WITHIN_MS = 1000;
const RETRY_MS = 30;
const REST_MS = { min: 100, max: 300 } as const;

export type ProbesDeps = {
  readonly tenant: Tenant;
  readonly book: Book;
  readonly random: Random;
  readonly balancer: Balancer;
  readonly reader: Reader;
  readonly tally: Tally;
};

type Waiter = { readonly since: number; readonly served: (afterMs: number) => void };

/** Starts when it is made. */
export class Probes {
  /** The longest time that a retrying caller waited for an answer, by customer. */
  readonly silences = new Map<string, number>();
  readonly faults: string[] = [];
  readonly #deps: ProbesDeps;
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(deps: ProbesDeps) {
    this.#deps = deps;
    this.#running = Promise.all(deps.tenant.customers.map((customer) => this.#run(customer)));
  }

  /**
   * How long after `since` each customer was served with a call sent after it; null where that took
   * too long.
   */
  async served(customers: readonly string[], since: number, withinMs: number) {
    const late = Bun.sleep(Math.max(0, since + withinMs - performance.now())).then(() => null);
    return Promise.all(
      customers.map((customer) => Promise.race([this.#next(customer, since), late])),
    );
  }

  /** Resolves when every call is answered. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #next(customer: string, since: number): Promise<number> {
    return new Promise((served) => {
      const waiters = this.#waiters.get(customer) ?? new Set();
      this.#waiters.set(customer, waiters.add({ since, served }));
    });
  }

  async #run(customer: string): Promise<void> {
    const { random, reader, balancer } = this.#deps;
    for (let probe = 0; !this.#stopping.signal.aborted; probe += 1) {
      const event = { key: `probe-${customer}-${probe}`, customer, meter: OPEN_METER, value: 1 };
      const began = performance.now();
      const sentAt = await this.#untilAnswered({ kind: 'track', events: [event] });
      const now = performance.now();
      this.silences.set(customer, Math.max(this.silences.get(customer) ?? 0, now - began));
      this.#tell(customer, sentAt, now);
      const url = await balancer.target();
      if (random.chance(0.5)) await reader.check(url, customer, OPEN_METER);
      else await reader.balances(url, customer);
      await Bun.sleep(random.integer(REST_MS.min, REST_MS.max));
    }
  }

  #tell(customer: string, sentAt: number, now: number): void {
    const waiters = this.#waiters.get(customer) ?? new Set();
    for (const waiter of waiters) {
      if (waiter.since > sentAt) continue;
      waiters.delete(waiter);
      waiter.served(now - waiter.since);
    }
  }

  /** When the answered call was sent. */
  async #untilAnswered(usage: Usage): Promise<number> {
    const { book, balancer, tenant, tally } = this.#deps;
    for (;;) {
      book.begin(usage);
      const sentAt = performance.now();
      try {
        const url = await balancer.target();
        const { status, json } = await sendUsage(url, tenant.key, usage, WITHIN_MS);
        tally.count('probe', status);
        if (status === 200) {
          book.enter(usage, true);
          return sentAt;
        }
        if (status !== 503) this.faults.push(`probe: ${status} ${JSON.stringify(json)}`);
      } catch {
        tally.count('probe', 0);
      }
      book.miss(usage);
      await Bun.sleep(RETRY_MS);
    }
  }
}
