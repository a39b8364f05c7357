// Retention: what is kept, and for how long. `bun run admin retention` runs it beside a running
// service.
//
// How it works: transfers that answer retries stay in one table under one constraint. When the
// window of their keys is over they move to the archive, which has a partition for each month.
// Where the policy says so, a month of the archive is dropped and leaves closing balances. A table
// is read from its first page to its last, a few pages a statement, so it needs no index for this,
// which the hot path would pay for. After each statement the sweep rests: it takes a bounded share
// of the database, and less of it when that is busier.
//
// Holds: the books close after each statement, because each is a transaction that moves rows and
// writes what stands for them.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import type { ISql, Sql } from 'postgres';
import { assert, must } from '../../ledger/kernel/assert.ts';
import { PERIODS_KEPT_MS } from '../../ledger/limits.ts';
import { type Clock, type Ids, pause, type Timers } from '../../ledger/ports.ts';
import {
  closeMonth,
  listMonths,
  LOCK_WAIT_MS_MAX,
  makeMonths,
  monthName,
} from './archive-months.ts';
import type { Bigints } from '../../ledger/store/bigints.ts';
import { RETENTION_LOCK } from './retention-lock.ts';
import { isUsageBinned } from './usage-backfill.ts';
import { removeReservations } from './retention-reservations.ts';
import { count, monthsOf, removal, type Sweep, SWEEPS } from './retention-sql.ts';

export type RetentionPolicy = {
  /**
   * How long a key counts once, and its answer is kept. An event with its own time never counts
   * twice: by then it is too late.
   */
  readonly keysMs: number;
  /**
   * How long events of usage, deliveries, expired checkouts, and expired tokens, links, sessions
   * and invitations are kept.
   */
  readonly eventsMs: number;
  /** How long the record of denials is kept. */
  readonly denialsMs: number;
  /** How many whole months of usage stay in the archive; null: all. */
  readonly usageMonths: number | null;
};

export type RetentionDeps = {
  readonly sql: Sql<Bigints>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  /** Whether to count only, and change nothing. */
  readonly dryRun: boolean;
  /** How long a month that is being read is waited for. */
  readonly lockWaitMs?: number;
};

export type Retained = {
  /**
   * Rows that were or would be deleted, by table. Those of `transfers` are in the archive; those of
   * `reservations` take their transfers with them.
   */
  readonly rows: Readonly<Record<string, number>>;
  /** Months of the archive that were or would be dropped. */
  readonly closed: readonly string[];
  /**
   * Whether an audit that was reading the archive kept months from being dropped, or a backfill of
   * usage kept transfers and months where they are. A later run moves and drops them.
   */
  readonly busy: boolean;
};

/** As long as an event may come late. After that no actor has its period in memory either. */
const KEYS_MS_MIN = PERIODS_KEPT_MS;
const EVENTS_MS_MIN = 30 * DAY_MS;

/**
 * Pages of a statement: some 500 transfers. A request that needs a processor waits for one of them
 * at most.
 */
const PAGES = 8;
/** The rest after a statement, as a multiple of its time. */
const REST = 4;

/** null: another one is running. */
export async function retain(
  deps: RetentionDeps,
  policy: RetentionPolicy,
): Promise<Retained | null> {
  assert(policy.keysMs >= KEYS_MS_MIN, 'a key counts once for as long as its event may come again');
  assert(policy.eventsMs >= EVENTS_MS_MIN, 'events are kept for 30 days');
  assert(policy.denialsMs > 0, 'what is written now is kept');
  assert(policy.usageMonths === null || policy.usageMonths > 0, 'the present month is kept');
  // The lock belongs to the session.
  const session = await deps.sql.reserve();
  try {
    const [lock] = await session<{ mine: boolean }[]>`
      select pg_try_advisory_lock(${RETENTION_LOCK}) as mine`;
    if (!must(lock, 'a lock or none').mine) return null;
    try {
      return await sweepAll(deps, policy);
    } finally {
      await session`select pg_advisory_unlock(${RETENTION_LOCK})`;
    }
  } finally {
    session.release();
  }
}

async function sweepAll(deps: RetentionDeps, policy: RetentionPolicy): Promise<Retained> {
  const now = deps.clock.now();
  const rows: Record<string, number> = {};
  // What is not in bins yet stays where it is: nothing adds a row of that kind any more.
  const isBinned = await isUsageBinned(deps.sql);
  const windows = { keys: policy.keysMs, events: policy.eventsMs, denials: policy.denialsMs };
  for (const sweep of SWEEPS) {
    if (MOVES.has(sweep.table) && !isBinned) continue;
    const since = new Date(now - windows[sweep.window]);
    rows[sweep.table] = await sweepTable(deps, { sweep, since });
  }
  if (!isBinned) return { rows, closed: [], busy: true };
  if (policy.usageMonths === null) return { rows, closed: [], busy: false };
  return { rows, ...(await closeBefore(deps, monthName(now, -policy.usageMonths))) };
}

async function sweepTable(
  { sql, clock, timers, ids, dryRun }: RetentionDeps,
  { sweep, since }: { readonly sweep: Sweep; readonly since: Date },
): Promise<number> {
  if (!dryRun) {
    await sql`
      insert into retention as r (kind, since) values (${sweep.table}, ${since})
      on conflict (kind) do update set since = greatest(r.since, excluded.since)`;
  }
  const pages = await pagesOf(sql, sweep.table);
  const step = dryRun ? look : (stepsOf(ids)[sweep.table] ?? remove);
  let total = 0;
  for (let page = 0; page < pages; page += PAGES) {
    const began = clock.monotonic();
    total += await step(sql, sweep, [`(${page},0)`, `(${page + PAGES},0)`, since.toISOString()]);
    await pause(timers, (clock.monotonic() - began) * REST);
  }
  return total;
}

/** Does its work on a range of pages; gives the number of rows. */
type Step = (sql: Sql<Bigints>, sweep: Sweep, range: string[]) => Promise<number>;

const look: Step = (sql, sweep, range) => run(sql, count(sweep), range);
const remove: Step = (sql, sweep, range) => run(sql, removal(sweep), range);

/** Tables that need more than one statement. */
const stepsOf = (ids: Ids): Readonly<Record<string, Step>> => ({
  transfers: move,
  reservations: (sql, sweep, range) =>
    sql.begin('isolation level repeatable read', (transaction) =>
      removeReservations(transaction, ids, { sweep, range }),
    ),
  events: dropUnlessReplayed,
});

/** What moves to the archive. */
const MOVES = new Set(['transfers', 'reservations']);

/**
 * In one snapshot: a row that is due today may be of a month long past, which has no partition yet.
 */
async function move(sql: Sql<Bigints>, sweep: Sweep, range: string[]): Promise<number> {
  return sql.begin('isolation level repeatable read', async (transaction) => {
    const months = await transaction.unsafe<{ month: Date }[]>(monthsOf(sweep), range);
    if (months.length === 0) return 0;
    await makeMonths(transaction, months);
    return run(transaction, removal(sweep), range);
  });
}

/**
 * A replay makes deliveries of old events, unseen until it commits. While one runs no event is
 * deleted; the next run does it.
 */
async function dropUnlessReplayed(
  sql: Sql<Bigints>,
  sweep: Sweep,
  range: string[],
): Promise<number> {
  return sql.begin(async (transaction) => {
    const free = await transaction`
      select since from retention where kind = ${sweep.table} for update skip locked`;
    return free.length === 0 ? 0 : run(transaction, removal(sweep), range);
  });
}

async function run(sql: ISql<Bigints>, statement: string, range: string[]): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>(statement, range);
  return must(row, 'a count').count;
}

async function pagesOf(sql: Sql<Bigints>, table: string): Promise<number> {
  const [row] = await sql<{ pages: number }[]>`
    select (pg_relation_size(${table}::regclass) / current_setting('block_size')::int)::float8 as pages`;
  return must(row, 'a size').pages;
}

async function closeBefore(
  { sql, dryRun, lockWaitMs = LOCK_WAIT_MS_MAX }: RetentionDeps,
  first: string,
): Promise<Pick<Retained, 'closed' | 'busy'>> {
  const closed: string[] = [];
  // Their names ascend with time.
  for (const month of (await listMonths(sql)).filter((name) => name < first)) {
    if (!dryRun && !(await closeMonth(sql, month, lockWaitMs))) return { closed, busy: true };
    closed.push(month);
  }
  return { closed, busy: false };
}
