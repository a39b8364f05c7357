import type { Clock, Timers } from '../ports.ts';
import { GroupCommit } from './group-commit.ts';

/** The wait of a journal for callers that come back: for how long is `GroupCommit`'s. */
export class CallersWait {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #group = new GroupCommit();
  #end: () => void = () => undefined;

  constructor({ clock, timers }: { readonly clock: Clock; readonly timers: Timers }) {
    this.#clock = clock;
    this.#timers = timers;
  }

  /** See `GroupCommit.answered`. */
  answered(units: number, took: { now: number; ms: number }): void {
    this.#group.answered(units, took);
  }

  /** A caller's unit has come. */
  came(): void {
    if (this.#group.came()) this.#end();
  }

  /** Nobody is waited for any longer. */
  end(): void {
    this.#end();
  }

  /** Resolves when the next flush begins. Asked once for each flush. */
  async wait(): Promise<void> {
    const ms = this.#group.waitMs(this.#clock.monotonic());
    if (ms === 0) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const cancel = this.#timers.after(ms, () => resolve(undefined));
    this.#end = () => resolve(undefined);
    await promise;
    cancel();
    this.#end = () => undefined;
    this.#group.waited();
  }
}
