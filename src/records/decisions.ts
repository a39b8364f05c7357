// Decisions about usage, read from what they left: a transfer for what was recorded or refused under
// a key, a denial for each no.
//
// Holds: each query reads a bounded number of rows of one customer. A refusal that left both a
// transfer and a denial is one decision (`merged`).
// What it does not do: find a check that was allowed. It leaves nothing.
import type { Reason } from '../../ledger/kernel/transfers.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { DenialKind } from './denials.ts';

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
  const found = await Promise.all(
    (['before', 'after'] as const).flatMap((side) => [
      ...transferTables(around).map((table) =>
        listTransfers(sql, scope, { ...around, side, table }),
      ),
      listDenials(sql, scope, { ...around, side }),
    ]),
  );
  return found.flat();
}

function transferTables({ only, isOld }: Around): ('transfers' | 'transfers_archive')[] {
  if (only === 'denied') return [];
  return isOld ? ['transfers', 'transfers_archive'] : ['transfers'];
}

type Side = { readonly side: 'before' | 'after' };

function listTransfers(
  sql: Executor,
  scope: Tenant,
  {
    customerId,
    meterId,
    at,
    limit,
    side,
    table,
  }: Around & Side & { readonly table: 'transfers' | 'transfers_archive' },
): Promise<DecisionRecord[]> {
  const slot = slotOf(customerId);
  const time = sql`coalesce(event_at, at)`;
  const asked = side === 'before' ? sql`${time} <= ${at}` : sql`${time} > ${at}`;
  const order = side === 'before' ? sql`desc` : sql`asc`;
  const periods = (of: 'before' | 'after', count: number) => sql`
    (select id, period_start from accounts where slot = ${slot} and customer_id = ${customerId} and meter_id = k.meter_id
      and ${of === 'before' ? sql`period_start <= ${at} order by period_start desc` : sql`period_start > ${at} order by period_start`}
      limit ${count})`;
  return sql<DecisionRecord[]>`
    select ${ofTransfer(sql)}
    from customer_meters k
    cross join lateral (${periods('before', PERIODS_BEFORE)} union all ${periods('after', PERIODS_AFTER)}) a
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
