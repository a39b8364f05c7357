// What commits still owe others: done at once by whoever brought it about, many together; what a crash left behind is swept up.
//
// Holds: each is tried again until its row is gone, so that it may come twice. After close() nothing begins, and nothing is under way.
import type { Timers } from '../../ledger/ports.ts';
import { Batches } from './batches.ts';
import { Sweep } from './sweep.ts';

const SWEEP_MS = 2000;
/** Younger ones are being done by whoever brought them about. */
const LEFT_BEHIND_MS = 1500;
const SWEPT_AT_ONCE = 200;
const DONE_TOGETHER_MAX = 100;

export type OwedWorkOptions<Item, Scope, Result> = {
  readonly timers: Timers;
  /** Batches at once. */
  readonly concurrentMax: number;
  /** One transaction for many, and what came of each. */
  readonly work: (ids: readonly string[]) => Promise<ReadonlyMap<string, Result>>;
  /** What is owed, the oldest first; of everybody where `scope` is null. */
  readonly list: (which: OwedSince<Scope>) => Promise<readonly Item[]>;
  readonly carryOut: (item: Item) => Promise<unknown>;
  /** It is left to the sweep. Not called after close(). */
  readonly failed: (error: unknown) => void;
};

export type OwedSince<Scope> = {
  readonly olderThanMs: number;
  readonly atMost: number;
  readonly scope: Scope | null;
};

export class OwedWork<Item, Scope, Result> {
  readonly #options: OwedWorkOptions<Item, Scope, Result>;
  readonly #batches: Batches<Result>;
  readonly #sweep: Sweep;
  #closed = false;

  constructor(options: OwedWorkOptions<Item, Scope, Result>) {
    const { timers, concurrentMax, work } = options;
    const failed = (error: unknown) => this.failed(error);
    this.#options = options;
    this.#batches = new Batches({ atMost: DONE_TOGETHER_MAX, concurrentMax, work, failed });
    this.#sweep = new Sweep({
      timers,
      everyMs: SWEEP_MS,
      work: () => this.#carryOutAll({ olderThanMs: LEFT_BEHIND_MS, scope: null }),
      failed,
    });
  }

  start(): void {
    this.#sweep.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep.stop();
    await this.#batches.idle();
  }

  /** What came of it in its batch; undefined where nothing did, or it failed. */
  do(id: string): Promise<Result | undefined> {
    return this.#batches.do(id);
  }

  /** Does what anybody of `scope` is owed now; whether there was anything. */
  carryOutAll(scope: Scope): Promise<boolean> {
    return this.#carryOutAll({ olderThanMs: 0, scope });
  }

  failed(error: unknown): void {
    if (!this.#closed) this.#options.failed(error);
  }

  async #carryOutAll(which: Omit<OwedSince<Scope>, 'atMost'>): Promise<boolean> {
    const { list, carryOut } = this.#options;
    const items = await list({ ...which, atMost: SWEPT_AT_ONCE });
    await Promise.all(items.map(carryOut));
    return items.length > 0;
  }
}
