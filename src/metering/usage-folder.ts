// Moves usage from the deltas of flushes into bins, and usage of servers of before. Every node runs
// one of these; one works at a time.
//
// A row of a bin costs several times what an entry of a delta costs. So deltas wait for some seconds,
// or until they are many, and what is of one account and quarter is added at once.
//
// Holds: each step is a transaction of bounded size, on a connection of its own, and rests for as
// long as it took: nothing waits for it, and it takes half of a processor at most. What is not
// folded yet is read from the deltas, so a folder that is late makes reading slower and no answer
// wrong. Where the database is away it goes on afterwards. After close() no step begins.
import { type Clock, pause, type Timers } from '../../ledger/ports.ts';
import { isFull, type Waiting } from '../records/usage-bins.ts';
import { Sweep } from '../platform/background/sweep.ts';

const EVERY_MS = 1000;
/** How long a delta waits for others. */
const WAIT_MS = 20_000;
/** A step that is under way when the service closes. */
const CLOSE_MS_MAX = 5000;

export type UsageFolderDeps = {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timers: Timers;
  readonly log: { error(fields: object, message: string): void };
  readonly waiting: () => Promise<Waiting>;
  /** Moves some deltas; gives their number. */
  readonly fold: () => Promise<number>;
  /** Reads some usage of before. `waits`: it cannot begin yet, or another process is at it. */
  readonly backfill: () => Promise<'read' | 'waits' | 'whole'>;
};

export class UsageFolder {
  readonly #deps: UsageFolderDeps;
  readonly #sweep: Sweep;
  #working: Promise<void> = Promise.resolve();
  #isWhole = false;
  #closed = false;

  constructor(deps: UsageFolderDeps) {
    this.#deps = deps;
    this.#sweep = new Sweep({
      timers: deps.timers,
      everyMs: EVERY_MS,
      work: () => this.work(),
      failed: (error) => {
        if (!this.#closed) deps.log.error({ err: error }, 'usage is folded later');
      },
    });
  }

  start(): void {
    this.#sweep.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep.stop();
    await Promise.race([this.#working, pause(this.#deps.timers, CLOSE_MS_MAX)]);
  }

  /** Folds what is due. @throws where the database does not answer */
  work(): Promise<void> {
    const working = this.#work();
    this.#working = working.catch(() => undefined);
    return working;
  }

  async #work(): Promise<void> {
    const { clock, timers } = this.#deps;
    while (!this.#closed) {
      const began = clock.monotonic();
      const isMore = await this.#step();
      if (!isMore) return;
      await pause(timers, clock.monotonic() - began);
    }
  }

  /** Whether there may be more to do at once. */
  async #step(): Promise<boolean> {
    const { waiting, fold, backfill } = this.#deps;
    const waits = await waiting();
    const folded = isFull(waits) || waits.oldestMs >= WAIT_MS ? await fold() : 0;
    if (this.#isWhole || this.#closed) return folded > 0;
    const found = await backfill();
    this.#isWhole = found === 'whole';
    return folded > 0 || found === 'read';
  }
}
