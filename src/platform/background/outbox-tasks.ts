// Outbox tasks: the work that a commit leaves to be done. It is done at once, in batches, by the
// process that committed; a sweep does what a crash left behind.
//
// Holds: a task is tried until its row is gone, so it may run twice. A task that fails on its own
// is postponed, longer each time, and in the end left to an operator: it delays no other, and no
// request waits for it. A failure of the database postpones nothing. After close() nothing begins,
// and nothing is running.
import type { Log, Timers } from '../../../ledger/ports.ts';
import { mayPass } from '../postgres/may-pass.ts';
import { Batches } from './batches.ts';
import { errorLine } from '../postgres/safe-error.ts';
import { Sweep } from './sweep.ts';

const SWEEP_MS = 2000;
/** The process that committed them is still doing younger ones. */
const LEFT_BEHIND_MS = 1500;
const SWEPT_AT_ONCE = 200;
const DONE_TOGETHER_MAX = 100;

export type OutboxTasksOptions<Item, Scope, Result> = {
  /** Its name in the log. */
  readonly what: string;
  readonly timers: Timers;
  readonly log: Log;
  /** Batches that run at the same time. */
  readonly concurrentMax: number;
  /** One transaction for many tasks; the result of each. */
  readonly work: (ids: readonly string[]) => Promise<ReadonlyMap<string, Result>>;
  /**
   * The open tasks, neither postponed nor given up, oldest first; of every tenant where `scope` is
   * null.
   */
  readonly list: (which: OwedSince<Scope>) => Promise<readonly Item[]>;
  readonly idOf: (item: Item) => string;
  readonly carryOut: (item: Item) => Promise<unknown>;
  /** Records the failure, with a reason in one line that quotes no data. */
  readonly postpone: (id: string, why: string) => Promise<Postponed>;
};

/** `dead`: given up until an operator acts. `gone`: done, or given up before. */
export type Postponed = 'later' | 'dead' | 'gone';

export type OwedSince<Scope> = {
  readonly olderThanMs: number;
  readonly atMost: number;
  readonly scope: Scope | null;
};

export class OutboxTasks<Item, Scope, Result> {
  readonly #options: OutboxTasksOptions<Item, Scope, Result>;
  readonly #batches: Batches<Result>;
  readonly #sweep: Sweep;
  #closed = false;

  constructor(options: OutboxTasksOptions<Item, Scope, Result>) {
    const { timers, concurrentMax, work } = options;
    const failed = (id: string, error: unknown) => this.failed(id, error);
    this.#options = options;
    this.#batches = new Batches({
      timers,
      atMost: DONE_TOGETHER_MAX,
      concurrentMax,
      work,
      failed,
    });
    this.#sweep = new Sweep({
      timers,
      everyMs: SWEEP_MS,
      work: () => this.#carryOutAll({ olderThanMs: LEFT_BEHIND_MS, scope: null }),
      failed: (error) => this.#warn(error, {}),
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

  /** The result in its batch; undefined where there is none or it failed. */
  do(id: string): Promise<Result | undefined> {
    return this.#batches.do(id);
  }

  /** Does all open tasks of `scope`; whether there were any. */
  carryOutAll(scope: Scope): Promise<boolean> {
    return this.#carryOutAll({ olderThanMs: 0, scope });
  }

  /** Leaves the task to the sweep. Never rejects. */
  async failed(id: string, error: unknown): Promise<void> {
    if (this.#closed) return;
    const { what, log, postpone } = this.#options;
    if (mayPass(error)) return this.#warn(error, { id });
    try {
      const became = await postpone(id, errorLine(error));
      if (became === 'dead')
        log.error({ err: error, id }, `${what}: retries exhausted, see admin followups`);
      else this.#warn(error, { id });
    } catch (second) {
      this.#warn(second, { id });
    }
  }

  #warn(error: unknown, fields: { readonly id?: string }): void {
    const { what, log } = this.#options;
    if (!this.#closed) log.warn({ err: error, ...fields }, `${what} will be retried later`);
  }

  async #carryOutAll(which: Omit<OwedSince<Scope>, 'atMost'>): Promise<boolean> {
    const { list, idOf, carryOut } = this.#options;
    const items = await list({ ...which, atMost: SWEPT_AT_ONCE });
    const outages: unknown[] = [];
    await Promise.all(
      items.map(async (item) => {
        try {
          await carryOut(item);
        } catch (error) {
          if (mayPass(error)) outages.push(error);
          else await this.failed(idOf(item), error);
        }
      }),
    );
    if (outages.length > 0) throw outages[0];
    return items.length > 0;
  }
}
