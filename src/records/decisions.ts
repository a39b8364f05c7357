// Decisions about usage, read from what they left: a transfer for what was recorded or refused
// under a key, a denial for each no.
//
// Holds: each query reads a bounded number of rows of one customer. A refusal that left both a
// transfer and a denial is one decision (`merged`).
// What it does not do: find a check that was allowed. It leaves nothing.
import type { Reason } from '../../ledger/kernel/transfers.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { DenialKind } from './denials.ts';
import { stepOf, type Used } from './usage-events.ts';
import { dateOf, isAmong, isIncomplete, QUARTER_MS, recordedNear } from './usage-sources.ts';

/** Quantities are scaled. Times but `recordedAt` are by the organisation's clock. */
export type DecisionRecord = {
  /** Of the denial or the transfer. */
  readonly id: string;
  /** `usage`: recorded, or refused under a key so long ago that no more is known. */
  readonly kind: DenialKind | 'usage';
  readonly customerId: string;
  readonly externalCustomerId: string | null;
  readonly meterId: string;
  readonly featureKey: string;
  readonly scale: number;
  /** When it counts, which of a late event is not when it was decided. */
  readonly at: Date;
  readonly decidedAt: Date;
  /** The last of several that are alike. */
  readonly lastAt: Date;
  /** By the wall clock; null where that is not kept. */
  readonly recordedAt: Date | null;
  readonly count: number;
  readonly reason: Reason;
  readonly isDenied: boolean;
  readonly value: bigint;
  /** What it changed in the consumption of the period. */
  readonly change: bigint;
  /** After it. */
  readonly consumed: bigint;
  readonly limit: bigint | null;
  /** Null where that is not kept. */
  readonly reserved: bigint | null;
  readonly periodStart: Date;
  readonly periodEnd: Date | null;
  /** Of what has a row in the ledger: the event. */
  readonly transferId: string | null;
  readonly replayed: boolean;
  readonly requestIds: readonly string[];
};

/** Periods of a meter that a look reads: that of the instant, those beside it. */
const PERIODS_BEFORE = 2;
const PERIODS_AFTER = 1;
/** Denials of all features that are looked through for one. */
const LOOKED_MAX = 5000;
const FOUND_MAX = 50;

const PERIOD = 'a.period_start as "periodStart", b.period_end as "periodEnd"';

const who = (sql: Executor) => sql`
  c.id as "customerId", c.external_customer_id as "externalCustomerId", m.id as "meterId", m.slug as "featureKey", m.scale`;

/** A transfer `t` of account `a`, whose balance is `b`, customer `c` and meter `m`. */
const ofTransfer = (sql: Executor) => sql`
  t.id, 'usage' as kind, ${who(sql)}, coalesce(t.event_at, t.at) as at, t.at as "decidedAt", coalesce(t.event_at, t.at) as "lastAt",
  null::timestamptz as "recordedAt", 1 as count, t.reason, t.kind = 'refused' as "isDenied", t.value,
  case t.kind when 'refused' then 0 when 'reverse' then -coalesce(t.amount, t.value) else coalesce(t.amount, t.value) end as change,
  t.consumed_after as consumed, t.limit_after as limit, null::bigint as reserved, ${sql.unsafe(PERIOD)},
  t.id as "transferId", false as replayed, '{}'::text[] as "requestIds"`;

/** A denial `d` of customer `c` and meter `m`. */
const ofDenial = (sql: Executor) => sql`
  d.id, d.kind, ${who(sql)}, d.at, d.at as "decidedAt", d.last_at as "lastAt", d.recorded_at as "recordedAt", d.count, d.reason,
  true as "isDenied", d.value, 0::bigint as change, d.consumed, d."limit", d.reserved,
  d.period_start as "periodStart", d.period_end as "periodEnd",
  d.transfer_id as "transferId", d.replayed, d.request_ids as "requestIds"`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  c.organisation_id = ${organisationId} and c.mode = ${mode}`;

export type Around = {
  readonly customerId: string;
  /** null: of all features. */
  readonly meterId: string | null;
  readonly at: Date;
  /** On each side. */
  readonly limit: number;
  /** `denied`: of these, each no that left a row. null: what was recorded, too. */
  readonly only: 'denied' | null;
  /** Whether retention may have moved some of it to the archive. */
  readonly isOld: boolean;
};

/** The decisions at that instant and before it, and those after it, in no order. */
export async function listDecisionsAround(
  sql: Executor,
  scope: Tenant,
  around: Around,
): Promise<DecisionRecord[]> {
  const [transfers, ...denials] = await Promise.all([
    listTransfersAround(sql, scope, around),
    ...(['before', 'after'] as const).map((side) => listDenials(sql, scope, { ...around, side })),
  ]);
  return [...transfers, ...denials.flat()];
}

function transferTables({ only, isOld }: Around): Table['table'][] {
  if (only === 'denied') return [];
  return isOld ? ['transfers', 'transfers_archive'] : ['transfers'];
}

type Side = { readonly side: 'before' | 'after' };
type Table = { readonly table: 'transfers' | 'transfers_archive' };

/** Features that are looked at one by one: each costs three looks at the index of transfers. */
const EACH_MAX = 20;
/** Uses that are looked through; each feature may have one in the quarter of the instant. */
const USED_MAX = 4096;

/** What was recorded, for all sides and tables. */
async function listTransfersAround(
  sql: Executor,
  scope: Tenant,
  around: Around,
): Promise<DecisionRecord[]> {
  const tables = transferTables(around);
  if (tables.length === 0) return [];
  const isByUse = around.meterId === null && (await hasMany(sql, around.customerId));
  const list = isByUse && !(await isIncomplete(sql)) ? listNearest : listTransfers;
  const found = await Promise.all(
    (['before', 'after'] as const).flatMap((side) =>
      tables.map((table) => list(sql, scope, { ...around, side, table })),
    ),
  );
  return found.flat();
}

async function hasMany(sql: Executor, customerId: string): Promise<boolean> {
  const rows = await sql`
    select from customer_meters where slot = ${slotOf(customerId)} and customer_id = ${customerId} limit ${EACH_MAX + 1}`;
  return rows.length > EACH_MAX;
}

/** Periods of each meter beside the instant. */
const periodsOf = (sql: Executor, { slot, customerId, at }: { slot: number } & Around) => {
  const beside = (of: 'before' | 'after', count: number) => sql`
    (select id, period_start from accounts where slot = ${slot} and customer_id = ${customerId} and meter_id = k.meter_id
      and ${of === 'before' ? sql`period_start <= ${at} order by period_start desc` : sql`period_start > ${at} order by period_start`}
      limit ${count})`;
  return sql`(${beside('before', PERIODS_BEFORE)} union all ${beside('after', PERIODS_AFTER)})`;
};

/**
 * Of many features: first the quarters of an hour in which each was used, then what is in the
 * nearest of them. What was refused under a key and lies beyond all uses is told by its denial.
 */
async function listNearest(
  sql: Executor,
  scope: Tenant,
  around: Around & Side & Table,
): Promise<DecisionRecord[]> {
  const { limit } = around;
  const used = await usedNear(sql, around);
  const found: DecisionRecord[] = [];
  for (let read = 0; read < used.length && found.length < limit;) {
    const step = used.slice(read, read + stepOf(used.slice(read), limit));
    found.push(...(await listUsed(sql, scope, { ...around, used: step })));
    read += step.length;
  }
  return found.slice(0, limit);
}

/** The nearest first. */
function usedNear(sql: Executor, around: Around & Side): Promise<Used[]> {
  const { customerId, at, limit, side } = around;
  const slot = slotOf(customerId);
  const within =
    side === 'before' ? sql`quarter <= ${at}` : sql`quarter > ${dateOf(at.getTime() - QUARTER_MS)}`;
  const order = side === 'before' ? sql`desc` : sql`asc`;
  // Each quarter has a use, but that of the instant may have its own on the other side.
  return sql<Used[]>`
    with periods as materialized (
      select a.id from customer_meters k cross join lateral ${periodsOf(sql, { ...around, slot })} a
      where k.slot = ${slot} and k.customer_id = ${customerId})
    select (extract(epoch from quarter) * 1000)::float8 as at, sum(events)::float8 as events, id as of from (
      select p.id, kept.* from periods p cross join lateral (
        select quarter, events from usage_bins where slot = ${slot} and account_id = p.id and ${within}
        order by quarter ${order} limit ${limit + 1}) kept
      union all
      select account_id, quarter, entry.events
      from usage_deltas, unnest(slots, accounts, quarters, usage_deltas.events) entry (slot, account_id, quarter, events)
      where entry.slot = ${slot} and account_id in (select id from periods) and ${within}) used
    group by id, quarter order by quarter ${order} limit ${USED_MAX}`;
}

function listUsed(
  sql: Executor,
  scope: Tenant,
  {
    customerId,
    at,
    limit,
    side,
    table,
    used,
  }: Around & Side & Table & { readonly used: readonly Used[] },
): Promise<DecisionRecord[]> {
  const slot = slotOf(customerId);
  const time = sql`coalesce(event_at, at)`;
  const times = used.map((one) => one.at);
  const range = { start: Math.min(...times), end: Math.max(...times) + QUARTER_MS };
  const order = side === 'before' ? sql`desc` : sql`asc`;
  return sql<DecisionRecord[]>`
    select ${ofTransfer(sql)}
    from (
      select * from ${sql(table)}
      where ${isAmong(sql, 'debit', [...new Set(used.map(({ of }) => of))])} and value is not null
        and ${time} >= ${dateOf(range.start)} and ${time} < ${dateOf(range.end)}
        and ${side === 'before' ? sql`${time} <= ${at}` : sql`${time} > ${at}`}
        ${table === 'transfers' ? sql`` : sql`and ${recordedNear(sql, range)}`}
      order by ${time} ${order}, id ${order} limit ${limit}) t
    join accounts a on a.slot = ${slot} and a.id = t.debit
    join customers c on c.id = a.customer_id
    join meters m on m.id = a.meter_id
    left join balances b on b.slot = ${slot} and b.id = a.id
    where ${inScope(sql, scope)}
    order by coalesce(t.event_at, t.at) ${order}, t.id ${order}`;
}

/** Feature by feature. */
function listTransfers(
  sql: Executor,
  scope: Tenant,
  around: Around & Side & Table,
): Promise<DecisionRecord[]> {
  const { customerId, meterId, at, limit, side, table } = around;
  const slot = slotOf(customerId);
  const time = sql`coalesce(event_at, at)`;
  const asked = side === 'before' ? sql`${time} <= ${at}` : sql`${time} > ${at}`;
  const order = side === 'before' ? sql`desc` : sql`asc`;
  return sql<DecisionRecord[]>`
    select ${ofTransfer(sql)}
    from customer_meters k
    cross join lateral ${periodsOf(sql, { ...around, slot })} a
    cross join lateral (
      select * from ${sql(table)} where debit = a.id and value is not null and ${asked}
      order by ${time} ${order}, id ${order} limit ${limit}) t
    join customers c on c.id = k.customer_id
    join meters m on m.id = k.meter_id
    left join balances b on b.slot = ${slot} and b.id = a.id
    where k.slot = ${slot} and k.customer_id = ${customerId} and ${inScope(sql, scope)}
      ${meterId === null ? sql`` : sql`and k.meter_id = ${meterId}`}
    order by coalesce(t.event_at, t.at) ${order}, t.id ${order} limit ${limit}`;
}

function listDenials(
  sql: Executor,
  scope: Tenant,
  { customerId, meterId, at, limit, side }: Around & Side,
): Promise<DecisionRecord[]> {
  const order = side === 'before' ? sql`desc` : sql`asc`;
  return sql<DecisionRecord[]>`
    select ${ofDenial(sql)}
    from (
      select * from denials where customer_id = ${customerId} and ${side === 'before' ? sql`at <= ${at}` : sql`at > ${at}`}
      order by at ${order}, id ${order} limit ${LOOKED_MAX}) d
    join customers c on c.id = d.customer_id
    join meters m on m.id = d.meter_id
    where ${inScope(sql, scope)} ${meterId === null ? sql`` : sql`and d.meter_id = ${meterId}`}
    order by d.at ${order}, d.id ${order} limit ${limit}`;
}

/** The decisions of these transfers, with the denials that tell of them. */
export async function findDecisionsOf(
  sql: Executor,
  scope: Tenant,
  transferIds: readonly string[],
): Promise<DecisionRecord[]> {
  const transfers = await sql<DecisionRecord[]>`
    select ${ofTransfer(sql)}
    from transfers t join accounts a on a.slot = t.slot and a.id = t.debit
    left join balances b on b.slot = a.slot and b.id = a.id
    join customers c on c.id = a.customer_id
    join meters m on m.id = a.meter_id
    where t.id = any(${[...transferIds]}::uuid[]) and t.value is not null and ${inScope(sql, scope)}
    order by t.at desc, t.id desc limit ${FOUND_MAX}`;
  const refused = transfers.filter(({ isDenied }) => isDenied);
  if (refused.length === 0) return transfers;
  // It is noted by the node that answered, which may be another one than the one that decided.
  const denials = await sql<DecisionRecord[]>`
    select ${ofDenial(sql)}
    from unnest(${refused.map(({ customerId }) => customerId)}::uuid[], ${refused.map(({ id }) => id)}::uuid[],
      ${refused.map(({ decidedAt }) => decidedAt.toISOString())}::timestamptz[]) as r (customer_id, transfer_id, decided_at)
    join denials d on d.customer_id = r.customer_id and d.transfer_id = r.transfer_id
      and d.at between r.decided_at - interval '1 minute' and r.decided_at + interval '1 minute'
    join customers c on c.id = d.customer_id
    join meters m on m.id = d.meter_id
    order by d.id limit ${FOUND_MAX}`;
  return [...transfers, ...denials];
}

/** The denials of a request, newest first. */
export function findDenialsOf(
  sql: Executor,
  scope: Tenant,
  requestId: string,
): Promise<DecisionRecord[]> {
  return sql<DecisionRecord[]>`
    select ${ofDenial(sql)}
    from (
      select denial_id from denial_requests
      where organisation_id = ${scope.organisationId} and mode = ${scope.mode} and request_id = ${requestId}
      order by denial_id desc limit ${FOUND_MAX}) r
    join denials d on d.id = r.denial_id
    join customers c on c.id = d.customer_id
    join meters m on m.id = d.meter_id
    order by d.id desc`;
}

/** Each decision once, newest first. */
export function merged(found: readonly DecisionRecord[]): DecisionRecord[] {
  const told = new Set<string>();
  for (const { kind, replayed, transferId } of found) {
    if (kind !== 'usage' && !replayed && transferId !== null) told.add(transferId);
  }
  return found
    .filter(({ id, kind }) => kind !== 'usage' || !told.has(id))
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1));
}

/** How many denials of the organisation have no row of their own in that time. */
export async function countLeftOut(
  sql: Executor,
  { organisationId, mode }: Tenant,
  { meterId, from, to }: { readonly meterId: string; readonly from: Date; readonly to: Date },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select coalesce(sum(count), 0)::float8 as count from denials
    where organisation_id = ${organisationId} and mode = ${mode} and customer_id is null
      and at between ${from} and ${to} and meter_id = ${meterId}`;
  return row?.count ?? 0;
}
