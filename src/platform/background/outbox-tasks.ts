// What commits still owe others: done at once by whoever brought it about, many together; what a
// crash left behind is swept up.
//
// Holds: each is tried again until its row is gone, so that it may come twice. What fails by itself
// is put off, longer each time, and in the end left to an operator: it is nobody else's delay, and
// nobody is asked to wait for it. What an outage has failed is not put off. After close() nothing
// begins, and nothing is under way.
import type { Log, Timers } from '../../../ledger/ports.ts';
import { mayPass } from '../postgres/may-pass.ts';
import { Batches } from './batches.ts';
import { errorLine } from '../postgres/safe-error.ts';
import { Sweep } from './sweep.ts';

const SWEEP_MS = 2000;
/** Younger ones are being done by whoever brought them about. */
const LEFT_BEHIND_MS = 1500;
const SWEPT_AT_ONCE = 200;
const DONE_TOGETHER_MAX = 100;

export type OutboxTasksOptions<Item, Scope, Result> = {
  /** What it is, for the log. */
  readonly what: string;
  readonly timers: Timers;
  readonly log: Log;
  /** Batches at once. */
  readonly concurrentMax: number;
  /** One transaction for many, and what came of each. */
  readonly work: (ids: readonly string[]) => Promise<ReadonlyMap<string, Result>>;
  /**
   * What is owed and neither put off nor given up, the oldest first; of everybody where `scope` is
   * null.
   */
  readonly list: (which: OwedSince<Scope>) => Promise<readonly Item[]>;
  readonly idOf: (item: Item) => string;
  readonly carryOut: (item: Item) => Promise<unknown>;
  /** Writes down that it failed, and why, in one line that quotes nobody. */
  readonly putOff: (id: string, why: string) => Promise<PutOff>;
};

/**
 * `dead`: it was given up, until an operator says otherwise. `gone`: it is done, or was given up
 * before.
 */
export type PutOff = 'later' | 'dead' | 'gone';

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
    this.#batches = new Batches({ atMost: DONE_TOGETHER_MAX, concurrentMax, work, failed });
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

  /** What came of it in its batch; undefined where nothing did, or it failed. */
  do(id: string): Promise<Result | undefined> {
    return this.#batches.do(id);
  }

  /** Does what anybody of `scope` is owed now; whether there was anything. */
  carryOutAll(scope: Scope): Promise<boolean> {
    return this.#carryOutAll({ olderThanMs: 0, scope });
  }

  /** It is left to the sweep. Never rejects. */
  async failed(id: string, error: unknown): Promise<void> {
    if (this.#closed) return;
    const { what, log, putOff } = this.#options;
    if (mayPass(error)) return this.#warn(error, { id });
    try {
      const became = await putOff(id, errorLine(error));
      if (became === 'dead')
        log.error({ err: error, id }, `${what} is given up: see admin followups`);
      else this.#warn(error, { id });
    } catch (second) {
      this.#warn(second, { id });
    }
  }

  #warn(error: unknown, fields: { readonly id?: string }): void {
    const { what, log } = this.#options;
    if (!this.#closed) log.warn({ err: error, ...fields }, `${what} is left for later`);
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
