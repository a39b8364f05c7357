// The numbers of an organisation's day, beside those of the same weekday a week before.
//
// Holds: each number is one statement over an index: rows of two days, and the subscriptions that
// live. Usage that no bin has yet is added from the deltas, so it is there as soon as it is on
// disk.
import { must } from '../../ledger/kernel/assert.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Aggregation } from '../../ledger/metering/meter.ts';
import type { PendingQuery, Row } from 'postgres';
import type { Executor } from '../platform/postgres/postgres.ts';

type Fragment = PendingQuery<Row[]>;

/** Edges of hours in milliseconds: they ascend, and are one more than hours. */
export type Hours = readonly number[];

/** Two days by hour; hours without anything are left out. `hour` counts from 0. */
export type ByHour<T> = readonly (T & {
  readonly isToday: boolean;
  readonly hour: number;
})[];

export type Days = { readonly today: Hours; readonly before: Hours };

/** In the smallest coin, less what was refunded in that hour: it may be negative. */
export type Revenue = { readonly currency: string; readonly amount: bigint };

/** Captured less refunded, by the time when it happened. */
export function readRevenue(
  sql: Executor,
  { organisationId, mode }: Tenant,
  days: Days,
): Promise<ByHour<Revenue>> {
  return sql<ByHour<Revenue>[number][]>`
    with moved as (
      select paid_at as at, currency, amount from payments
      where organisation_id = ${organisationId} and mode = ${mode} and ${within(sql, 'paid_at', days)}
      union all
      select settled_at, currency, -amount from refunds
      where organisation_id = ${organisationId} and mode = ${mode} and status = 'succeeded'
        and ${within(sql, 'settled_at', days)})
    select ${hourOf(sql, 'at', days)}, currency, sum(amount)::bigint as amount from moved group by 1, 2, 3 order by 3, 1, 2`;
}

export type SubscriptionCounts = {
  readonly active: bigint;
  readonly trialing: bigint;
  readonly pastDue: bigint;
  readonly paused: bigint;
  readonly blocked: bigint;
};

/**
 * Each that has not ended, once. `now` is the organisation's, in milliseconds. Each count is one
 * stretch of an index: to ask of each row what it is cost three times as much.
 */
export async function countSubscriptions(
  sql: Executor,
  { organisationId, mode }: Tenant,
  now: number,
): Promise<SubscriptionCounts> {
  const count = (state: Fragment) => sql`
    (select count(*) from subscriptions
     where organisation_id = ${organisationId} and mode = ${mode} and status <> 'canceled' and ${state})`;
  const clear = sql`status = 'active' and overdue = 'clear'`;
  const [row] = await sql<(Omit<SubscriptionCounts, 'active'> & { clear: bigint })[]>`
    select ${count(clear)} as clear, ${count(sql`${clear} and trial_end > ${new Date(now)}`)} as trialing,
      ${count(sql`status = 'active' and overdue = 'warning'`)} as "pastDue",
      ${count(sql`status = 'active' and overdue = 'blocked'`)} as blocked,
      ${count(sql`status = 'paused'`)} as paused`;
  const { clear: all, ...others } = must(row, 'the counts');
  return { active: all - others.trialing, ...others };
}

export type FeatureUsage = {
  readonly meterId: string;
  /** The sum of the values, scaled. It may be more than a balance may be. */
  readonly value: bigint;
  /** Their number, less corrections. */
  readonly events: bigint;
};

/** Of so many features at most. */
const FEATURES_MAX = 50;

export type CountedMeter = {
  readonly id: string;
  readonly slug: string;
  readonly aggregation: Aggregation;
  readonly scale: number;
};

/** Those whose usage adds up, the oldest first. */
export function listCountedMeters(
  sql: Executor,
  { organisationId, mode }: Tenant,
): Promise<CountedMeter[]> {
  return sql<CountedMeter[]>`
    select id, slug, aggregation, scale from meters
    where organisation_id = ${organisationId} and mode = ${mode} and deleted_at is null and aggregation in ('sum', 'count')
    order by id limit ${FEATURES_MAX}`;
}

export async function readUsageByHour(
  sql: Executor,
  meters: readonly CountedMeter[],
  days: Days,
): Promise<ByHour<FeatureUsage>> {
  const ids = meters.map(({ id }) => id);
  if (ids.length === 0) return [];
  const rows = await sql<(ByHour<FeatureUsage>[number] & { value: string })[]>`
    with used as (
      select meter_id, quarter, value, events from usage_totals
      where meter_id = any(${ids}::uuid[]) and ${within(sql, 'quarter', days)}
      union all
      select a.meter_id, entry.quarter, entry.value, entry.events
      from usage_deltas, unnest(slots, accounts, quarters, sums, usage_deltas.events) as
        entry (slot, account_id, quarter, value, events)
      join accounts a on a.slot = entry.slot and a.id = entry.account_id
      where a.meter_id = any(${ids}::uuid[]) and ${within(sql, 'quarter', days)})
    select ${hourOf(sql, 'quarter', days)}, meter_id as "meterId", sum(value)::text as value, sum(events)::bigint as events
    from used group by 1, 2, 3`;
  return rows.map((row) => ({ ...row, value: BigInt(row.value) }));
}

/** Those of all features together. */
export function countDenialsByHour(
  sql: Executor,
  { organisationId, mode }: Tenant,
  days: Days,
): Promise<ByHour<{ readonly count: bigint }>> {
  return sql<ByHour<{ readonly count: bigint }>[number][]>`
    select ${hourOf(sql, 'quarter', days)}, sum(count)::bigint as count from denial_counts
    where organisation_id = ${organisationId} and mode = ${mode} and ${within(sql, 'quarter', days)} group by 1, 2`;
}

/** Whether all usage is in bins: not while what is older than they are is still being added. */
export async function hasBins(sql: Executor): Promise<boolean> {
  return (await sql`select from usage_backfills limit 1`).length === 0;
}

export type Failed = { readonly today: bigint; readonly before: bigint };

/** Charges that were begun on the day, and failed. */
export async function countFailedPayments(
  sql: Executor,
  { organisationId, mode }: Tenant,
  days: Days,
): Promise<Failed> {
  const [row] = await sql<Failed[]>`
    select count(*) filter (where created_at >= ${first(days.today)}) as today,
      count(*) filter (where created_at < ${first(days.today)}) as before
    from payments
    where organisation_id = ${organisationId} and mode = ${mode} and status in ('failed', 'errored')
      and ${within(sql, 'created_at', days)}`;
  return must(row, 'the counts');
}

const first = (hours: Hours): Date => new Date(hours[0] ?? 0);
const last = (hours: Hours): Date => new Date(hours.at(-1) ?? 0);

/** Both days, as two ranges of an index. */
function within(sql: Executor, column: string, { today, before }: Days) {
  const at = sql(column);
  return sql`((${at} >= ${first(today)} and ${at} < ${last(today)}) or (${at} >= ${first(before)} and ${at} < ${last(before)}))`;
}

/** `hour` and `isToday` of a time that lies in one of the two days. */
function hourOf(sql: Executor, column: string, { today, before }: Days) {
  const at = sql(column);
  const edges = (hours: Hours) =>
    sql`${hours.slice(0, -1).map((ms) => new Date(ms).toISOString())}::timestamptz[]`;
  return sql`
    ${at} >= ${first(today)} as "isToday",
    case when ${at} >= ${first(today)} then width_bucket(${at}, ${edges(today)}) else width_bucket(${at}, ${edges(before)}) end - 1 as hour`;
}
