// Calls with one Idempotency-Key that come at the same time: one is executed, the others wait for what it answered.
//
// Who calls: keyed.ts, around the handlers of operations that take a key.
// How: those of this process wait in memory, for each other. Where the first is at another node, the call is told so by the database and
// tries again, a little later each time; only one of this process does, and it holds no connection in between.
// Holds: nobody waits longer than 5 s, nor do more than WAITERS_MAX of one tenant in a process: over it a call is told to come back.
import { type Clock, pause, type Timers } from '../../../ledger/ports.ts';
import { Tally } from '../../../ledger/kernel/tally.ts';
import { inProgress, isInProgress } from '../edge/errors.ts';

const KEY_WAIT_MS_MAX = 5000;
const WAITERS_MAX = 100;
const AGAIN_MS_MIN = 20;
const AGAIN_MS_MAX = 320;

type Task = () => Response | Promise<Response>;

export class KeyTurns {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #timers: Timers;
  /** What is executed now, by whose it is and its key. */
  readonly #turns = new Map<string, Promise<void>>();
  /** How many of a tenant's wait. */
  readonly #waiting = new Tally();

  constructor({ clock, timers }: { clock: Pick<Clock, 'monotonic'>; timers: Timers }) {
    this.#clock = clock;
    this.#timers = timers;
  }

  async run(tenant: string, name: string, task: Task): Promise<Response> {
    const until = this.#clock.monotonic() + KEY_WAIT_MS_MAX;
    const key = `${tenant} ${name}`;
    const end = this.#turns.has(key)
      ? await this.#asOneOf(tenant, () => this.#wait(key, until))
      : this.#begin(key);
    if (end === false) return inProgress();
    try {
      const response = await task();
      if (!isInProgress(response)) return response;
      const late = await this.#asOneOf(tenant, () => this.#again(task, until));
      return late === false ? response : late;
    } finally {
      end();
    }
  }

  /** Takes the turn, which nobody has; what ends it. */
  #begin(key: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turns.set(key, promise);
    return () => {
      this.#turns.delete(key);
      resolve();
    };
  }

  /** What `wait` gives; false where too many of the tenant's wait already. */
  async #asOneOf<T>(tenant: string, wait: () => Promise<T>): Promise<T | false> {
    if (this.#waiting.of(tenant) >= WAITERS_MAX) return false;
    this.#waiting.add(tenant);
    try {
      return await wait();
    } finally {
      this.#waiting.remove(tenant);
    }
  }

  /** Takes the turn once nobody has it; false where that is not before `until`. */
  async #wait(key: string, until: number): Promise<(() => void) | false> {
    for (let other = this.#turns.get(key); other !== undefined; other = this.#turns.get(key)) {
      const late = Promise.withResolvers<void>();
      const cancel = this.#timers.after(until - this.#clock.monotonic(), late.resolve);
      await Promise.race([other, late.promise]);
      cancel();
      if (this.#clock.monotonic() >= until) return false;
    }
    // In the same breath: all who waited have heard of it, and the first of them has it.
    return this.#begin(key);
  }

  async #again(task: Task, until: number): Promise<Response> {
    for (let wait = AGAIN_MS_MIN; ; wait = Math.min(2 * wait, AGAIN_MS_MAX)) {
      const left = until - this.#clock.monotonic();
      if (left <= 0) return inProgress();
      await pause(this.#timers, Math.min(wait, left));
      const response = await task();
      if (!isInProgress(response)) return response;
    }
  }
}
