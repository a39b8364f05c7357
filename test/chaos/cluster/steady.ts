// Callers on kept connections who never retry: every answer that is not a success is a fault.
import { must } from '../../../ledger/kernel/assert.ts';
import { Histogram } from '../../bench/histogram.ts';
import { until } from '../../support/until.ts';
import type { Book } from '../book.ts';
import { call } from '../call.ts';
import { OPEN_METER, type Tenant } from '../tenant.ts';
import { sendUsage, type Usage } from '../usage.ts';
import type { Balancer } from './balancer.ts';

const CALLERS = 24;
/** The interval of each caller, if the last call is answered by then. */
const PERIOD_MS = 80;

export type SteadyDeps = {
  readonly tenant: Tenant;
  readonly book: Book;
  readonly balancer: Balancer;
};

/** Starts when it is made. */
export class Steady {
  readonly faults: string[] = [];
  calls = 0;
  readonly #latencies = new Map<string, Histogram>();
  #latency = new Histogram();
  readonly #deps: SteadyDeps;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;
  #keys = 0;

  constructor(deps: SteadyDeps) {
    this.#deps = deps;
    this.#running = Promise.all(Array.from({ length: CALLERS }, (_, index) => this.#run(index)));
  }

  /** Starts a new phase of the measurement. */
  during(phase: string): void {
    this.#latencies.set(phase, (this.#latency = new Histogram()));
  }

  /** Resolves when this many more calls are answered. */
  async more(calls: number): Promise<void> {
    const enough = this.calls + calls;
    const over = (): boolean => this.calls >= enough || this.faults.length > 0;
    await until(`${calls} more calls`, over, 30_000);
  }

  /** The latencies, one line for each phase. */
  lines(): string[] {
    return [...this.#latencies].map(([phase, of]) => {
      const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => ms(of.percentile(share)));
      return `${phase}: ${of.count} calls, p50 ${p50}, p99 ${p99}, p99.9 ${p999}, longest ${ms(of.maxMicros)} ms`;
    });
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
      this.#latency.record((performance.now() - began) * 1000);
      this.calls += 1;
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

const ms = (micros: number): string => (micros / 1000).toFixed(1);
