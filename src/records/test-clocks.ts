// Where the test clocks stand. The row survives the process that moves the clock: the clock counts
// as stopped while the lease of that process's node runs.
import { tellChange } from '../platform/postgres/changes.ts';
import type { TestClock } from '../platform/org-clock.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

type Row = { organisationId: string; aheadMs: bigint; stoppedAt: Date | null; version: bigint };

/** Every clock that was moved, or that organisation's. */
export async function listTestClocks(
  sql: Executor,
  organisationId: string | null,
): Promise<TestClock[]> {
  const rows = await sql<Row[]>`
    select organisation_id as "organisationId", ahead_ms as "aheadMs", version,
      case when ${isMoved(sql)} then stopped_at end as "stoppedAt"
    from test_clocks c ${organisationId === null ? sql`` : sql`where organisation_id = ${organisationId}`}`;
  return rows.map(clockOf);
}

/**
 * Stops the clock there for `mover`, or moves it on, and tells every process; null where another
 * mover has it. Where it is ahead it only goes forward.
 */
export async function stopTestClock(
  sql: Executor,
  {
    organisationId,
    stoppedAt,
    aheadMs,
    mover,
  }: {
    readonly organisationId: string;
    readonly stoppedAt: number;
    readonly aheadMs: number;
    readonly mover: string;
  },
): Promise<TestClock | null> {
  const rows = await sql<Row[]>`
    with moved as (
      insert into test_clocks as c (organisation_id, ahead_ms, stopped_at, mover)
      values (${organisationId}, ${aheadMs}, ${new Date(stoppedAt)}, ${mover})
      on conflict (organisation_id) do update set ahead_ms = greatest(c.ahead_ms, excluded.ahead_ms),
        stopped_at = excluded.stopped_at, mover = excluded.mover, version = c.version + 1
      where c.mover is null or c.mover = excluded.mover or not ${isMoved(sql)}
      returning c.*
    )${stored(sql)}`;
  return told(sql, rows[0]);
}

/** Lets the clock run, and tells every process; null where `mover` does not have it any more. */
export async function runTestClock(
  sql: Executor,
  { organisationId, mover }: { readonly organisationId: string; readonly mover: string },
): Promise<TestClock | null> {
  const rows = await sql<Row[]>`
    with moved as (
      update test_clocks c set stopped_at = null, mover = null, version = version + 1
      where organisation_id = ${organisationId} and mover = ${mover}
      returning c.*
    )${stored(sql)}`;
  return told(sql, rows[0]);
}

function isMoved(sql: Executor) {
  return sql`exists (select from nodes n where n.holder = c.mover and n.expires_at >= now())`;
}

/** The clock that was moved, and a row for those who hear of changes. */
function stored(sql: Executor) {
  return sql`, stored as (
      insert into changes (kind, subject) select 'test_clock', organisation_id from moved
      on conflict do nothing
    )
    select organisation_id as "organisationId", ahead_ms as "aheadMs", stopped_at as "stoppedAt", version
    from moved`;
}

function told(sql: Executor, row: Row | undefined): TestClock | null {
  if (row === undefined) return null;
  tellChange(sql, 'test_clock', row.organisationId);
  return clockOf(row);
}

function clockOf({ organisationId, aheadMs, stoppedAt, version }: Row): TestClock {
  return {
    organisationId,
    aheadMs: Number(aheadMs),
    stoppedAt: stoppedAt?.getTime() ?? null,
    version: Number(version),
  };
}
