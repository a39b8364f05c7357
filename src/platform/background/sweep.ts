// Runs a task again and again, to find what was left behind.
import type { Timers } from '../../../ledger/ports.ts';

export type SweepOptions = {
  readonly timers: Timers;
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  readonly work: () => Promise<unknown>;
  /** Reports a failed run; the sweep goes on. */
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

  /** No further run begins; one in progress ends by itself. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
  }
}
