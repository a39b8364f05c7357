// The raw events of usage, the newest first, in pages.
//
// How it works: the events of a customer are found by the accounts of its periods, each in the order
// of an index. Those of all customers have no such index: the quarters of an hour in which a meter
// was used are known (`usage_totals`), and of each the events of that time are looked through. A page
// is the newest events of all of these parts, merged. The parts that end last are read first, some
// at a time, until no other can have an event as new as what was found.
// Holds: the place after a page is the time and id of its last event, which never change: what
// follows neither repeats nor misses an event, wherever retention has moved it meanwhile. Late
// events are at their own time. A page costs a bounded number of parts: where they are not enough to
// fill it, it is shorter, and the next one begins at the time that was reached.
// What it does not do: find what retention has dropped.
import { EVENT_EARLY_MS_MAX } from '../../ledger/limits.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { UsageMetadata } from '../../ledger/kernel/transfers.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import {
  dateOf,
  eventAt,
  type Fragment,
  isIncomplete,
  isUsage,
  QUARTER_MS,
  recordedNear,
  sideAccountsOf,
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

/** Parts that are read for a page, and at least and most of them in a statement. */
type Portions = { readonly most: number; readonly first: number; readonly step: number };
const ACCOUNTS: Portions = { most: 2000, first: 250, step: 250 };
const QUARTERS: Portions = { most: 256, first: 1, step: 64 };

/** Before every other id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** An account, or a quarter of an hour. */
type Part = {
  /** Its id, or when it begins. */
  readonly name: string;
  /** It has no event at this time or later. Milliseconds. */
  readonly until: number;
};

/** In the order of their ends, the last first. */
type Parts = {
  readonly list: readonly Part[];
  readonly portions: Portions;
  /** Joins the named parts, and says which transfers are of one. */
  readonly join: (names: readonly string[]) => { readonly parts: Fragment; readonly is: Fragment };
};

/** @returns `incomplete`: the quarters of usage of before are not all known yet */
export async function listUsageEvents(
  sql: Executor,
  ids: Ids,
  query: UsageEventQuery,
): Promise<UsageEventPage | 'incomplete'> {
  const { after, customerId } = query;
  if (customerId === null && (await isIncomplete(sql))) return 'incomplete';
  const wanted = { ...query, to: Math.min(query.to, after === null ? Infinity : after.at + 1) };
  const parts =
    customerId === null
      ? await quartersOf(sql, ids, wanted)
      : await periodsOf(sql, { ...wanted, customerId });
  return readPage(sql, parts, wanted);
}

async function readPage(
  sql: Executor,
  { list, portions, join }: Parts,
  query: UsageEventQuery,
): Promise<UsageEventPage> {
  const { limit, to } = query;
  const { most, first, step } = portions;
  let found: UsageEventRecord[] = [];
  let read = 0;
  let until = list[0]?.until ?? -Infinity;
  const isFull = () => (found[limit]?.eventAt.getTime() ?? -Infinity) >= until;
  // Those that may have an event at the start of the page are read at least: the next page begins
  // behind them.
  while (read < list.length && !isFull() && (read < most || until >= to)) {
    const names = list.slice(read, read + Math.min(step, read + first)).map(({ name }) => name);
    const more = await readNewest(sql, join(names), query);
    found = [...found, ...more].toSorted(newestFirst).slice(0, limit + 1);
    read += names.length;
    until = list[read]?.until ?? -Infinity;
  }
  const sure = found.filter(({ eventAt: at }) => at.getTime() >= until);
  const events = sure.slice(0, limit);
  const last = events.at(-1);
  if (sure.length > limit && last !== undefined) {
    return { events, next: { at: last.eventAt.getTime(), id: last.id } };
  }
  return { events, next: until === -Infinity ? null : { at: until, id: NO_ID } };
}

function newestFirst(a: UsageEventRecord, b: UsageEventRecord): number {
  const later = b.eventAt.getTime() - a.eventAt.getTime();
  return later === 0 ? (a.id < b.id ? 1 : -1) : later;
}

/** The newest events of some parts: one more than a page has, where there are more. */
function readNewest(
  sql: Executor,
  { parts, is }: ReturnType<Parts['join']>,
  { from, to, after, limit }: UsageEventQuery,
): Promise<UsageEventRecord[]> {
  const at = eventAt(sql);
  const wanted = sql`
    ${is} and ${isUsage(sql)} and ${at} >= ${dateOf(from)} and ${at} < ${dateOf(to)}
    ${after === null ? sql`` : sql`and (${at}, id) < (${dateOf(after.at)}, ${after.id}::uuid)`}`;
  const end = sql`order by "eventAt" desc, id desc limit ${limit + 1}`;
  const of = (table: Fragment) => sql`
    select id, slot, debit, ${at} as "eventAt", at as "recordedAt", value, metadata from ${table}`;
  const near = recordedNear(sql, { start: from, end: to });
  return sql<UsageEventRecord[]>`
    select e.id, e."eventAt", e."recordedAt", e.value, e.metadata, m.scale, m.slug as "featureKey",
      a.customer_id as "customerId", c.external_customer_id as "externalCustomerId"
    from (
      select newest.* from ${parts} cross join lateral (
        (${of(sql`transfers`)} where ${wanted} ${end})
        union all
        (${of(sql`transfers_archive`)} where ${wanted} and ${near} ${end})
        ${end}) newest
      ${end}) e
    join accounts a on a.slot = e.slot and a.id = e.debit
    join meters m on m.id = a.meter_id
    left join customers c on c.id = a.customer_id
    order by e."eventAt" desc, e.id desc`;
}

/** The periods of a customer that may have events of the range. */
async function periodsOf(
  sql: Executor,
  { customerId, meterId, from, to }: UsageEventQuery & { readonly customerId: string },
): Promise<Parts> {
  // Each balance is looked up by its key: where the planner does not know yet that the customer has
  // thousands of periods, a join reads all of them for each balance.
  const rows = await sql<{ id: string; end: Date | null }[]>`
    with periods as materialized (
      select slot, id from accounts
      where slot = ${slotOf(customerId)} and customer_id = ${customerId}
        and ${meterId === null ? sql`meter_id is not null` : sql`meter_id = ${meterId}`}
        and period_start < ${dateOf(to)})
    select p.id, b.period_end as end from periods p cross join lateral (
      select period_end from balances where slot = p.slot and id = p.id
        and (period_end is null or period_end > ${dateOf(from - EVENT_EARLY_MS_MAX)})
      offset 0) b
    order by b.period_end desc nulls first`;
  // One that a change of plan ended may have an event of shortly after its end.
  const untilOf = (end: Date | null) =>
    end === null ? Infinity : end.getTime() + EVENT_EARLY_MS_MAX;
  return {
    list: rows.map(({ id, end }) => ({ name: id, until: untilOf(end) })),
    portions: ACCOUNTS,
    join: (names) => ({
      parts: sql`unnest(${[...names]}::uuid[]) part (name)`,
      is: sql`debit = part.name`,
    }),
  };
}

/** The newest quarters in which a meter, or any of a tenant, was used; more than a page reads. */
async function quartersOf(
  sql: Executor,
  ids: Ids,
  { tenant, meterId, from, to }: UsageEventQuery,
): Promise<Parts> {
  const meters = meterId === null ? await metersOf(sql, tenant) : [meterId];
  const sides = await sideAccountsOf(sql, ids, meters);
  // The last statement of a page may begin before its bound, and end behind it.
  const most = QUARTERS.most + QUARTERS.step;
  const within = sql`quarter > ${dateOf(from - QUARTER_MS)} and quarter < ${dateOf(to)}`;
  const rows = await sql<{ quarter: Date }[]>`
    select distinct quarter from (
      select quarter from unnest(${meters}::uuid[]) meter (id) cross join lateral (
        select quarter from usage_totals where meter_id = meter.id and ${within}
        order by quarter desc limit ${most}) kept
      union all
      select quarter from usage_deltas, unnest(slots, accounts, quarters) entry (slot, account_id, quarter)
      join accounts a on a.slot = entry.slot and a.id = entry.account_id
      where a.meter_id = any(${meters}::uuid[]) and ${within}) used
    order by quarter desc limit ${most}`;
  const at = eventAt(sql);
  return {
    list: rows.map(({ quarter }) => ({
      name: quarter.toISOString(),
      until: quarter.getTime() + QUARTER_MS,
    })),
    portions: QUARTERS,
    join: (names) => ({
      parts: sql`unnest(${[...names]}::text[]::timestamptz[]) part (name)`,
      is: sql`
        credit = any(${sides}::uuid[]) and ${at} >= part.name
        and ${at} < part.name + interval '15 minutes'`,
    }),
  };
}

async function metersOf(sql: Executor, { organisationId, mode }: Tenant): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from meters
    where organisation_id = ${organisationId} and mode = ${mode} and deleted_at is null`;
  return rows.map(({ id }) => id);
}
