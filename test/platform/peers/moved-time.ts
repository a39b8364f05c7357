// Time that passes when a test says so, for nodes whose connections are real.
import type { Clock, Timers } from '../../../ledger/ports.ts';
import { timers } from '../../../src/platform/clock.ts';

type Timer = { readonly at: number; readonly task: () => void };

export class MovedTime {
  #now = 0;
  readonly #waiting = new Set<Timer>();

  readonly clock: Clock = { now: () => this.#now, monotonic: () => this.#now };

  readonly timers: Timers = {
    ...timers,
    after: (ms, task) => {
      const timer = { at: this.#now + ms, task };
      this.#waiting.add(timer);
      return () => this.#waiting.delete(timer);
    },
  };

  /** Each timer runs when it is due. Nothing arrives meanwhile. */
  pass(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#now = Math.max(this.#now, next.at);
      this.#waiting.delete(next);
      next.task();
    }
    this.#now = end;
  }

  /** The process stood still: its timers run afterwards. */
  sleep(ms: number): void {
    this.#now += ms;
    this.pass(0);
  }

  /** The first that is due by then. */
  #next(by: number): Timer | undefined {
    const due = [...this.#waiting].filter(({ at }) => at <= by);
    return due.toSorted((one, other) => one.at - other.at)[0];
  }
}
