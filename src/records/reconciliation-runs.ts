// Runs of reconciliation: which window of an account is compared, and how far that is.
//
// How it works: an account has one open run at most. Whoever holds it works on it and stores the
// cursor after each page. A hold ends by itself, so a killed process's run goes on elsewhere.
// Holds: the windows of an account follow each other without a gap. Holds and next attempts go by
// the database's clock.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

/** Longer than a page takes, with the questions that it raises. */
const HOLD_MS = 120_000;
const RETRY_MS_MIN = 60_000;
const RETRY_MS_MAX = 3_600_000;

/** Which account, and what is needed to ask it. */
export type ReconciledAccount = Tenant & {
  readonly accountId: string;
  /** As payments name it. */
  readonly processor: string;
  readonly sealedKey: Buffer;
  readonly isEnded: boolean;
};

export type Run = ReconciledAccount & {
  readonly id: string;
  /** By the processor's clock; the end is not in it. */
  readonly since: Date;
  readonly until: Date;
  /** By the organisation's. */
  readonly oursSince: Date;
  readonly oursUntil: Date;
  readonly step: string;
  readonly cursor: string | null;
  readonly compared: bigint;
  readonly notOurs: bigint;
};

const runColumns = (sql: Executor) => sql`
  r.id, r.since, r.until, r.ours_since as "oursSince", r.ours_until as "oursUntil", r.step, r.cursor, r.compared,
  r.not_ours as "notOurs", a.id as "accountId", a.organisation_id as "organisationId", a.mode,
  a.type || ':' || a.account as processor, a.sealed_key as "sealedKey", a.ended_at is not null as "isEnded"`;

/** Those of all organisations, or of one. */
export async function listAccounts(
  sql: Executor,
  organisationId: string | null,
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from processor_accounts
    ${organisationId === null ? sql`` : sql`where organisation_id = ${organisationId}`} order by id`;
  return rows.map(({ id }) => id);
}

/**
 * Accounts that were connected before `before`, without an open run and without one that began
 * since then. An ended account whose key was refused in its last run is left alone.
 */
export async function listAccountsToReconcile(
  sql: Executor,
  { before }: { readonly before: Date },
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select a.id from processor_accounts a left join lateral (
      select begun_at, finished_at, error from reconciliation_runs r where r.account_id = a.id order by begun_at desc limit 1
    ) last on true
    where a.connected_at < ${before}
      and (last.begun_at is null or (last.finished_at is not null and last.begun_at < ${before}))
      and (a.ended_at is null or last.error is null)
    order by a.id`;
  return rows.map(({ id }) => id);
}

/**
 * Begins a run from where the last whole one ended, or earlier, until `until`. Nothing where one is
 * open, or the window is empty.
 */
export async function beginRun(
  sql: Executor,
  run: {
    readonly id: string;
    readonly accountId: string;
    /** null: from where the last one ended. */
    readonly since: Date | null;
    readonly until: Date;
    readonly overlapMs: number;
    readonly step: string;
    readonly begunAt: Date;
  },
): Promise<void> {
  const { id, accountId, since, until, overlapMs, step, begunAt } = run;
  const overlap = sql`${overlapMs} * interval '1 ms'`;
  await sql`
    insert into reconciliation_runs (id, account_id, since, until, ours_since, ours_until, step, begun_at)
    select ${id}, a.id, least(${since}::timestamptz, begin.since), ${until}, least(${since}::timestamptz, begin.ours_since),
      greatest(begin.ours_since, coalesce(c.stopped_at, ${until}::timestamptz + coalesce(c.ahead_ms, 0) * interval '1 ms')), ${step}, ${begunAt}
    from processor_accounts a
    left join test_clocks c on c.organisation_id = a.organisation_id and a.mode = 'test'
    left join lateral (
      select until, ours_until from reconciliation_runs r
      where r.account_id = a.id and r.finished_at is not null and r.error is null order by begun_at desc limit 1
    ) last on true
    cross join lateral (
      select coalesce(last.until, a.connected_at) - ${overlap} as since, coalesce(last.ours_until, a.connected_at) - ${overlap} as ours_since
    ) begin
    where a.id = ${accountId} and least(${since}::timestamptz, begin.since) < ${until}
    on conflict do nothing`;
}

/** The open run that has waited longest, or that of one account; null where none is free. */
export async function claimRun(
  sql: Executor,
  { holder, accountId = null }: { readonly holder: string; readonly accountId?: string | null },
): Promise<Run | null> {
  const [run] = await sql<Run[]>`
    with free as (
      select id from reconciliation_runs
      where finished_at is null and (held_until is null or held_until < now())
        and ${accountId === null ? sql`next_at <= now()` : sql`account_id = ${accountId}`}
      order by next_at limit 1 for update skip locked
    ), r as (
      update reconciliation_runs set holder = ${holder}, held_until = now() + ${HOLD_MS} * interval '1 ms'
      where id in (select id from free) returning *
    )
    select ${runColumns(sql)} from r join processor_accounts a on a.id = r.account_id`;
  return run ?? null;
}

export type Progress = Pick<Run, 'step' | 'cursor' | 'compared' | 'notOurs'>;

/** Whether it is still held. If not, another goes on with it. */
export async function saveProgress(
  sql: Executor,
  run: { readonly id: string; readonly holder: string } & Progress,
): Promise<boolean> {
  const { count } = await sql`
    update reconciliation_runs set step = ${run.step}, cursor = ${run.cursor}, compared = ${run.compared}, not_ours = ${run.notOurs},
      held_until = now() + ${HOLD_MS} * interval '1 ms', failures = 0, error = null
    where id = ${run.id} and holder = ${run.holder} and finished_at is null`;
  return count === 1;
}

/** Its window was compared, or it is given up for `error`. */
export async function finishRun(
  sql: Executor,
  {
    id,
    holder,
    error,
  }: { readonly id: string; readonly holder: string; readonly error: string | null },
): Promise<void> {
  await sql`
    update reconciliation_runs set finished_at = now(), holder = null, held_until = null, error = ${error}
    where id = ${id} and holder = ${holder} and finished_at is null`;
}

/** For others to go on with: soon, or after a failure later each time. */
export async function releaseRun(
  sql: Executor,
  {
    id,
    holder,
    error,
  }: { readonly id: string; readonly holder: string; readonly error: string | null },
): Promise<void> {
  const failed = error === null ? 0 : 1;
  await sql`
    update reconciliation_runs set holder = null, held_until = null, error = ${error}, failures = failures + ${failed},
      next_at = now() + ${failed} * least(${RETRY_MS_MIN} * 2 ^ least(failures, 10), ${RETRY_MS_MAX}) * interval '1 ms'
    where id = ${id} and holder = ${holder} and finished_at is null`;
}

/** What an operator reads of the last run of an account. */
export type RunReport = Tenant &
  Pick<Run, 'accountId' | 'processor' | 'since' | 'until' | 'compared' | 'notOurs'> & {
    readonly finishedAt: Date | null;
    readonly error: string | null;
  };

export async function findLastRun(sql: Executor, accountId: string): Promise<RunReport | null> {
  const [row] = await sql<RunReport[]>`
    select ${runColumns(sql)}, r.finished_at as "finishedAt", r.error
    from reconciliation_runs r join processor_accounts a on a.id = r.account_id
    where r.account_id = ${accountId} order by r.begun_at desc limit 1`;
  return row ?? null;
}
