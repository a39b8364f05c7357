// Serialises calls with the same Idempotency-Key: one executes, the others wait for its answer.
//
// Who calls: keyed.ts, around the handlers of operations that take a key.
// How: calls in this process wait in memory. Where the first call is on another node, the database
// says so; one call of this process tries again, with growing delays, and holds no connection in
// between. Once one is told the stored answer, all that wait are told it, side by side: a hundred
// of them are not answered late because each waits for the one before it.
// Holds: a call waits 5 s at most, and a tenant has WAITERS_MAX waiting calls in a process at most.
// Beyond either bound it is told to retry.
import { type Clock, pause, type Timers } from '../../../ledger/ports.ts';
import { Tally } from '../../../ledger/kernel/tally.ts';
import { inProgress, isInProgress } from '../edge/errors.ts';
import { REPLAYED_HEADER } from './replayed.ts';

const KEY_WAIT_MS_MAX = 5000;
const WAITERS_MAX = 100;
const AGAIN_MS_MIN = 20;
const AGAIN_MS_MAX = 320;

type Task = () => Response | Promise<Response>;
/** `isStored`: whether the answer to the key is stored. */
type End = (isStored: boolean) => void;
const NO_TURN: End = () => undefined;

export class KeyTurns {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #timers: Timers;
  /**
   * The calls in execution, by tenant and key: each says whether the answer is stored by its end.
   */
  readonly #turns = new Map<string, Promise<boolean>>();
  /** Waiting calls by tenant. */
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
    let isStored = false;
    try {
      const first = await task();
      const late = isInProgress(first)
        ? await this.#asOneOf(tenant, () => this.#again(task, until))
        : first;
      const response = late === false ? first : late;
      isStored = response.headers.has(REPLAYED_HEADER);
      return response;
    } finally {
      end(isStored);
    }
  }

  /** Takes a free turn; returns what ends it. */
  #begin(key: string): End {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#turns.set(key, promise);
    return (isStored) => {
      this.#turns.delete(key);
      resolve(isStored);
    };
  }

  /** The result of `wait`; false where too many calls of the tenant wait already. */
  async #asOneOf<T>(tenant: string, wait: () => Promise<T>): Promise<T | false> {
    if (this.#waiting.of(tenant) >= WAITERS_MAX) return false;
    this.#waiting.add(tenant);
    try {
      return await wait();
    } finally {
      this.#waiting.remove(tenant);
    }
  }

  /**
   * Takes the turn when it is free, or none where nothing is executed any more; false where that is
   * not before `until`.
   */
  async #wait(key: string, until: number): Promise<End | false> {
    for (let other = this.#turns.get(key); other !== undefined; other = this.#turns.get(key)) {
      const late = Promise.withResolvers<'late'>();
      const cancel = this.#timers.after(until - this.#clock.monotonic(), () =>
        late.resolve('late'),
      );
      const ended = await Promise.race([other, late.promise]);
      cancel();
      if (ended === true) return NO_TURN;
      if (ended === 'late' || this.#clock.monotonic() >= until) return false;
    }
    // Without an await in between: all waiters wake together, and the first of them takes the turn.
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
