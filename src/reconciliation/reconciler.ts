// Reconciliation each night: begins the runs that are due, and carries open runs on.
//
// How it works: every node looks for work. A run is held by one of them, for a slice of time; then
// another account has its turn.
// Holds: nothing waits for a run. No connection to the database is held while a processor is asked,
// and each question ends by itself. After close() no page begins.
import { type Clock, pause, type Timers } from '../../ledger/ports.ts';
import { Sweep } from '../platform/background/sweep.ts';
import { beginRun, claimRun, listAccountsToReconcile } from '../records/reconciliation-runs.ts';
import { carryOn, FIRST_STEP, type RunDeps } from './run.ts';

const SWEEP_MS = 30_000;
/** How long one account is worked on, while others wait. */
const SLICE_MS = 20_000;
/** Accounts that a node works on at the same time: one may be slow. */
const LANES = 4;
/** At two o'clock, UTC. */
const NIGHT_MS = 2 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** What was charged a moment ago may not be listed yet, or not written here. */
const MARGIN_MS = 15 * 60_000;
/** Windows overlap, for what is listed late. */
const OVERLAP_MS = 3_600_000;
/** A page that is being read when the service closes. */
const CLOSE_MS_MAX = 1000;

export type ReconcilerDeps = RunDeps & {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly timers: Timers;
};

export class Reconciler {
  readonly #deps: ReconcilerDeps;
  readonly #sweep: Sweep;
  #working: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
    this.#sweep = new Sweep({
      timers: deps.timers,
      everyMs: SWEEP_MS,
      work: () => this.work(),
      failed: (error) => this.#warn(error),
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

  /** Does what is due. @throws where the database does not answer */
  work(): Promise<void> {
    const working = this.#work();
    this.#working = working.catch(() => undefined);
    return working;
  }

  async #work(): Promise<void> {
    const { sql, ids, clock } = this.#deps;
    const now = clock.now();
    const night = new Date(lastNight(now));
    for (const accountId of await listAccountsToReconcile(sql, { before: night })) {
      await beginRun(sql, { id: ids.next(), accountId, since: null, ...windowOf(now, MARGIN_MS) });
    }
    await Promise.all(Array.from({ length: LANES }, () => this.#lane()));
  }

  async #lane(): Promise<void> {
    const { sql, ids, clock } = this.#deps;
    while (!this.#closed) {
      const holder = ids.next();
      const run = await claimRun(sql, { holder });
      if (run === null) return;
      const until = clock.monotonic() + SLICE_MS;
      const isOver = () => this.#closed || clock.monotonic() > until;
      try {
        await carryOn(this.#deps, { run, holder, isOver });
      } catch (error) {
        // Of this account: the others go on.
        this.#warn(error);
      }
    }
  }

  #warn(error: unknown): void {
    if (!this.#closed) this.#deps.log.error({ err: error }, 'reconciliation is left for later');
  }
}

/** What every run begins with. */
export function windowOf(now: number, marginMs: number) {
  const begunAt = new Date(now);
  return { begunAt, until: new Date(now - marginMs), overlapMs: OVERLAP_MS, step: FIRST_STEP };
}

/** The last time that it was two o'clock. */
function lastNight(now: number): number {
  return Math.floor((now - NIGHT_MS) / DAY_MS) * DAY_MS + NIGHT_MS;
}
