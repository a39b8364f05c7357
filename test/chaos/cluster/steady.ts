// Callers over kept connections who never try again: whatever is not answered with a yes is a fault.
import { must } from '../../../ledger/assert.ts';
import { Histogram } from '../../bench/histogram.ts';
import type { Book } from '../book.ts';
import { call } from '../call.ts';
import { OPEN_METER, type Tenant } from '../tenant.ts';
import { sendUsage, type Usage } from '../usage.ts';
import { until } from '../until.ts';
import type { Balancer } from './balancer.ts';

const CALLERS = 24;
/** Each calls this often, as far as it is answered by then. */
const PERIOD_MS = 40;

export type SteadyDeps = {
  readonly tenant: Tenant;
  readonly book: Book;
  readonly balancer: Balancer;
};

/** Begins when it is made. */
export class Steady {
  readonly faults: string[] = [];
  readonly latencies = new Histogram();
  readonly #deps: SteadyDeps;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;
  #keys = 0;

  constructor(deps: SteadyDeps) {
    this.#deps = deps;
    this.#running = Promise.all(Array.from({ length: CALLERS }, (_, index) => this.#run(index)));
  }

  /** Resolves when so many more calls are answered. */
  async more(calls: number): Promise<void> {
    const enough = this.latencies.count + calls;
    const over = (): boolean => this.latencies.count >= enough || this.faults.length > 0;
    await until(`${calls} more calls`, over, 30_000);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(index: number): Promise<void> {
    const { customers } = this.#deps.tenant;
    const customer = must(customers[index % customers.length], 'a customer');
    let due = performance.now() + (index * PERIOD_MS) / CALLERS;
    for (let turn = index; !this.#stopping.signal.aborted; turn += 1) {
      await Bun.sleep(Math.max(0, due - performance.now()));
      due = Math.max(due + PERIOD_MS, performance.now());
      const began = performance.now();
      try {
        await (turn % 2 === 0 ? this.#track(customer) : this.#check(customer));
      } catch (error) {
        this.faults.push(String(error));
      }
      this.latencies.record((performance.now() - began) * 1000);
    }
  }

  async #track(customer: string): Promise<void> {
    const { book, balancer, tenant } = this.#deps;
    const event = { key: `steady-${(this.#keys += 1)}`, customer, meter: OPEN_METER, value: 1 };
    const usage: Usage = { kind: 'track', events: [event] };
    book.begin(usage);
    const url = await balancer.target();
    const { status, json } = await sendUsage(url, tenant.key, usage);
    if (status !== 200) throw new Error(`track at ${url}: ${status} ${JSON.stringify(json)}`);
    book.enter(usage, true);
  }

  async #check(customer: string): Promise<void> {
    const { book, balancer, tenant } = this.#deps;
    const of = { customer, meter: OPEN_METER };
    const before = book.mark(of);
    const url = await balancer.target();
    const question = { customer_id: customer, feature_key: OPEN_METER };
    const { status, json } = await call({ url, key: tenant.key }, '/check', question);
    if (status !== 200) throw new Error(`check at ${url}: ${status} ${JSON.stringify(json)}`);
    const wrong = book.judge(of, before, json);
    if (wrong !== null) throw new Error(wrong);
  }
}
