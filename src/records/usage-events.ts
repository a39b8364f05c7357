// The raw events of usage, the newest first, in pages.
//
// How it works: the quarters of an hour in which a customer's meters were used are known
// (`usage_bins`), as are those of a tenant's meters (`usage_totals`), with their numbers of events.
// A page reads the newest of them that have enough, by an index of which pages of the table have
// which times and accounts (`transfers_by_time`): it costs a flush next to nothing, where one with
// an entry for each event costs a tenth of it.
// Holds: the place after a page is the time and id of its last event, which never change: what
// follows neither repeats nor misses an event, wherever retention has moved it meanwhile. Late
// events are at their own time. A page reads a bounded number of quarters: where they are not
// enough to fill it, it is shorter, and the next one begins at the time that was reached.
// What it does not do: find what retention has dropped.
import { slotOf } from '../../ledger/kernel/slot.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { UsageMetadata } from '../../ledger/kernel/transfers.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import {
  dateOf,
  eventAt,
  type Fragment,
  INDEXED_MAX,
  isAmong,
  isIncomplete,
  isUsage,
  QUARTER_MS,
  type Range,
  recordedNear,
  sideAccounts,
} from './usage-sources.ts';

export type UsageEventRecord = {
  readonly id: string;
  readonly customerId: string;
  readonly externalCustomerId: string | null;
  readonly featureKey: string;
  /** Scaled. */
  readonly value: bigint;
  readonly scale: number;
  readonly eventAt: Date;
  readonly recordedAt: Date;
  readonly metadata: UsageMetadata | null;
};

/** Before which event a page begins. Milliseconds. */
export type UsagePlace = { readonly at: number; readonly id: string };

export type UsageEventQuery = {
  readonly tenant: Tenant;
  /** Null: all. */
  readonly customerId: string | null;
  readonly meterId: string | null;
  /** Milliseconds; `to` is not in it. */
  readonly from: number;
  readonly to: number;
  readonly after: UsagePlace | null;
  readonly limit: number;
};

export type UsageEventPage = {
  readonly events: readonly UsageEventRecord[];
  /** Null: there are no more. */
  readonly next: UsagePlace | null;
};

/** Quarters that are read for a page, and in one statement. */
const QUARTERS_MAX = 256;
const QUARTERS_A_STEP = 64;
/** Quarters that are looked up; more where several accounts have the last of them. */
const LISTED_MAX = QUARTERS_MAX + QUARTERS_A_STEP;

/** Before every other id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** A quarter of an hour in which an account of a customer, or a meter of a tenant, was used. */
export type Used = {
  /** When it begins, in milliseconds. */
  readonly at: number;
  /** The number of events; what waits for its bin, less corrections. */
  readonly events: number;
  /** The id of the account or the meter. */
  readonly of: string;
};

/** Which transfers are of these accounts or meters. */
type IsOf = (used: readonly string[]) => Fragment;

/** @returns `incomplete`: the quarters of usage of before are not all known yet */
export async function listUsageEvents(
  sql: Executor,
  ids: Ids,
  query: UsageEventQuery,
): Promise<UsageEventPage | 'incomplete'> {
  if (await isIncomplete(sql)) return 'incomplete';
  const { after, customerId } = query;
  const wanted = { ...query, to: Math.min(query.to, after === null ? Infinity : after.at + 1) };
  if (customerId !== null) {
    const used = await usedByCustomer(sql, { ...wanted, customerId });
    return readPage(sql, used, (accounts) => isAmong(sql, 'debit', accounts), wanted);
  }
  const used = await usedByTenant(sql, wanted);
  const sidesOf = await sideAccounts(sql, ids);
  return readPage(sql, used, (meters) => isAmong(sql, 'credit', meters.flatMap(sidesOf)), wanted);
}

async function readPage(
  sql: Executor,
  used: readonly Used[],
  isOf: IsOf,
  query: UsageEventQuery,
): Promise<UsageEventPage> {
  const { limit, to } = query;
  // No event that is not read yet is at this time or later.
  const untilOf = (index: number) => {
    const quarter = used[index];
    if (quarter !== undefined) return quarter.at + QUARTER_MS;
    return used.length < LISTED_MAX ? -Infinity : (used.at(-1)?.at ?? -Infinity);
  };
  let found: UsageEventRecord[] = [];
  let read = 0;
  const isFull = () => (found[limit]?.eventAt.getTime() ?? -Infinity) >= untilOf(read);
  // Those that may have an event at the start of the page are read at least: the next page begins
  // behind them.
  while (read < used.length && !isFull() && (read < QUARTERS_MAX || untilOf(read) >= to)) {
    const step = used.slice(read, read + stepOf(used.slice(read), limit));
    const more = await readNewest(sql, step, isOf, query);
    found = [...found, ...more].toSorted(newestFirst).slice(0, limit + 1);
    read += step.length;
  }
  const until = untilOf(read);
  const sure = found.filter(({ eventAt: at }) => at.getTime() >= until);
  const events = sure.slice(0, limit);
  const last = events.at(-1);
  if (sure.length > limit && last !== undefined) {
    return { events, next: { at: last.eventAt.getTime(), id: last.id } };
  }
  return { events, next: until === -Infinity ? null : { at: until, id: NO_ID } };
}

/** How many of them are enough for a page, or as many as a statement reads. */
export function stepOf(used: readonly Used[], limit: number): number {
  let events = 0;
  let count = 0;
  const names = new Set<string>();
  for (const quarter of used) {
    const isEnough = events > limit || count >= QUARTERS_A_STEP || names.size >= INDEXED_MAX;
    // All of one time are read together: the next step is earlier.
    if (isEnough && quarter.at !== used[count - 1]?.at) break;
    events += Math.max(1, quarter.events);
    count += 1;
    names.add(quarter.of);
  }
  return count;
}

function newestFirst(a: UsageEventRecord, b: UsageEventRecord): number {
  const later = b.eventAt.getTime() - a.eventAt.getTime();
  return later === 0 ? (a.id < b.id ? 1 : -1) : later;
}

/**
 * The newest events of some quarters: one more than a page has, where there are more. They are read
 * from the first to the last quarter: what lies between is of others.
 */
function readNewest(
  sql: Executor,
  used: readonly Used[],
  isOf: IsOf,
  { from, to, after, limit }: UsageEventQuery,
): Promise<UsageEventRecord[]> {
  const at = eventAt(sql);
  const start = Math.max(from, used.at(-1)?.at ?? from);
  const end = Math.min(to, (used[0]?.at ?? to) + QUARTER_MS);
  const wanted = sql`
    ${isOf([...new Set(used.map(({ of }) => of))])} and ${isUsage(sql)}
    and ${at} >= ${dateOf(start)} and ${at} < ${dateOf(end)}
    ${after === null ? sql`` : sql`and (${at}, id) < (${dateOf(after.at)}, ${after.id}::uuid)`}`;
  const newest = sql`order by "eventAt" desc, id desc limit ${limit + 1}`;
  const of = (table: Fragment) => sql`
    select id, slot, debit, ${at} as "eventAt", at as "recordedAt", value, metadata from ${table}`;
  return sql<UsageEventRecord[]>`
    select e.id, e."eventAt", e."recordedAt", e.value, e.metadata, m.scale, m.slug as "featureKey",
      a.customer_id as "customerId", c.external_customer_id as "externalCustomerId"
    from (
      (${of(sql`transfers`)} where ${wanted} ${newest})
      union all
      (${of(sql`transfers_archive`)} where ${wanted} and ${recordedNear(sql, { start, end })} ${newest})
      ${newest}) e
    join accounts a on a.slot = e.slot and a.id = e.debit
    join meters m on m.id = a.meter_id
    left join customers c on c.id = a.customer_id
    order by e."eventAt" desc, e.id desc`;
}

/** The newest quarters in which a customer used a meter, or any; more than a page reads. */
async function usedByCustomer(
  sql: Executor,
  { customerId, meterId, from, to }: UsageEventQuery & { readonly customerId: string },
): Promise<Used[]> {
  const within = quartersWithin(sql, { start: from, end: to });
  const slot = slotOf(customerId);
  // The bins of each account are looked up by their key: a join would be planned without knowing
  // how many accounts a customer has.
  return sql<Used[]>`
    with periods as materialized (
      select id from accounts
      where slot = ${slot} and customer_id = ${customerId} and period_start < ${dateOf(to)}
        and ${meterId === null ? sql`meter_id is not null` : sql`meter_id = ${meterId}`})
    select (extract(epoch from quarter) * 1000)::float8 as at, sum(events)::float8 as events, id as of from (
      select p.id, kept.* from periods p cross join lateral (
        select quarter, events + 2 * corrections as events from usage_bins
        where slot = ${slot} and account_id = p.id and ${within}
        order by quarter desc limit ${LISTED_MAX}) kept
      union all
      select account_id, quarter, entry.events
      from usage_deltas, unnest(slots, accounts, quarters, usage_deltas.events) entry (slot, account_id, quarter, events)
      where entry.slot = ${slot} and account_id in (select id from periods) and ${within}) used
    group by id, quarter order by quarter desc fetch first ${LISTED_MAX} rows with ties`;
}

/** The newest quarters in which a tenant used a meter, or any; more than a page reads. */
async function usedByTenant(
  sql: Executor,
  { tenant, meterId, from, to }: UsageEventQuery,
): Promise<Used[]> {
  const within = quartersWithin(sql, { start: from, end: to });
  const meters = meterId === null ? await metersOf(sql, tenant) : [meterId];
  return sql<Used[]>`
    select (extract(epoch from quarter) * 1000)::float8 as at, sum(events)::float8 as events, id as of from (
      select meter.id, kept.* from unnest(${meters}::uuid[]) meter (id) cross join lateral (
        select quarter, events + 2 * corrections as events from usage_totals where meter_id = meter.id and ${within}
        order by quarter desc limit ${LISTED_MAX}) kept
      union all
      select a.meter_id, quarter, entry.events
      from usage_deltas, unnest(slots, accounts, quarters, usage_deltas.events) entry (slot, account_id, quarter, events)
      join accounts a on a.slot = entry.slot and a.id = entry.account_id
      where a.meter_id = any(${meters}::uuid[]) and ${within}) used
    group by id, quarter order by quarter desc fetch first ${LISTED_MAX} rows with ties`;
}

const quartersWithin = (sql: Executor, { start, end }: Range): Fragment =>
  sql`quarter > ${dateOf(start - QUARTER_MS)} and quarter < ${dateOf(end)}`;

async function metersOf(sql: Executor, { organisationId, mode }: Tenant): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from meters
    where organisation_id = ${organisationId} and mode = ${mode} and deleted_at is null`;
  return rows.map(({ id }) => id);
}
