// What is left behind is looked for again and again.
import type { Timers } from '../../../ledger/ports.ts';

export type SweepOptions = {
  readonly timers: Timers;
  /** From the end of one to the begin of the next. */
  readonly everyMs: number;
  readonly work: () => Promise<unknown>;
  /** It goes on all the same. */
  readonly failed: (error: unknown) => void;
};

export class Sweep {
  readonly #options: SweepOptions;
  #stopTimer: () => void = () => undefined;
  #stopped = false;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  start(): void {
    const { timers, everyMs, work, failed } = this.#options;
    this.#stopTimer = timers.after(everyMs, () => {
      work()
        .catch(failed)
        .finally(() => this.#stopped || this.start());
    });
  }

  /** None begins any more; one that is under way ends by itself. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
  }
}
