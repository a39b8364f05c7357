// Reconciliation each night: begins the runs that are due, and carries open runs on.
//
// How it works: every node looks for work. A run is held by one of them, for a slice of time; then
// another account has its turn.
// Holds: nothing waits for a run. No connection to the database is held while a processor is asked,
// and each question ends by itself. After close() no page begins.
import { DAY_MS, HOUR_MS } from '../../ledger/kernel/durations.ts';
import type { Clock, Timers } from '../../ledger/ports.ts';
import { BackgroundWork, type Round } from '../platform/background/background-work.ts';
import { beginRun, claimRun, listAccountsToReconcile } from '../records/reconciliation-runs.ts';
import { carryOn, FIRST_STEP, type RunDeps } from './run.ts';

const SWEEP_MS = 30_000;
/** How long one account is worked on, while others wait. */
const SLICE_MS = 20_000;
/** Accounts that a node works on at the same time: one may be slow. */
const LANES = 4;
/** At two o'clock, UTC. */
const NIGHT_MS = 2 * 3_600_000;
/** What was charged a moment ago may not be listed yet, or not written here. */
const MARGIN_MS = 15 * 60_000;
/** Windows overlap, for what is listed late. */
const OVERLAP_MS = HOUR_MS;
/** A page that is being read when the service closes. */
const CLOSE_MS_MAX = 1000;

type ReconcilerDeps = RunDeps & {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly timers: Timers;
};

/** Not begun. */
export function reconciler(deps: ReconcilerDeps): BackgroundWork {
  const { timers, log } = deps;
  return new BackgroundWork({
    timers,
    log,
    failed: 'reconciliation will be retried later',
    everyMs: SWEEP_MS,
    closeMsMax: CLOSE_MS_MAX,
    work: (round) => work(deps, round),
  });
}

async function work(deps: ReconcilerDeps, round: Round): Promise<void> {
  const { sql, ids, clock } = deps;
  const now = clock.now();
  const night = new Date(lastNight(now));
  for (const accountId of await listAccountsToReconcile(sql, { before: night })) {
    await beginRun(sql, { id: ids.next(), accountId, since: null, ...windowOf(now, MARGIN_MS) });
  }
  await Promise.all(Array.from({ length: LANES }, () => lane(deps, round)));
}

async function lane(deps: ReconcilerDeps, { isOver, report }: Round): Promise<void> {
  const { sql, ids, clock } = deps;
  while (!isOver()) {
    const holder = ids.next();
    const run = await claimRun(sql, { holder });
    if (run === null) return;
    const until = clock.monotonic() + SLICE_MS;
    try {
      await carryOn(deps, { run, holder, isOver: () => isOver() || clock.monotonic() > until });
    } catch (error) {
      // Of this account: the others go on.
      report(error);
    }
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
