// Pools of credits: the lists of costs that a meter has had (docs/spec/usage.md#credits).
//
// Holds: a list never changes, the last is in force. Whoever adds one, or asks whether a meter is
// in one for what it writes, has the lock (`lockCreditCosts`), so that of two at once the second
// sees the first. A member of any list counts as one, for customers whose period began with that
// list.
// Does not: judge (`src/metering/credit-costs.ts`). The lists of a deleted pool stay as they were
// and count no more.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { type Bounds, Full } from '../platform/bounds.ts';
import { findRoom, ownerOfScope } from './capacity.ts';
import { type JoinedMeter, joinedMeter, meterOf } from './joined-meter.ts';

/** One of a list, as a meter is read with it. */
export type CreditCost = {
  readonly slug: string;
  readonly scale: number;
  /** The digits of a bigint: credits, scaled like the pool's, for one scaled unit of the member. */
  readonly rate: string;
};

/** A meter that a list names, and what it is to pools. */
export type Candidate = Pick<Meter, 'id' | 'slug' | 'aggregation' | 'scale'> & {
  readonly isActive: boolean;
  readonly isPool: boolean;
  /** The slug of the other pool that it is a member of. */
  readonly memberOf: string | null;
};

/**
 * Until the transaction ends nobody else of this scope changes a list, or what has to agree with
 * the lists. Taken before every other lock but that of an Idempotency-Key.
 */
export async function lockCreditCosts(sql: Transaction, scope: Tenant): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`credit costs ${ownerOfScope(scope)}`}, 4))`;
}

/** The list in force of the row of `meters`, as `CreditCost[]`. */
export const creditCostsColumn = (sql: Executor) => sql`
  coalesce((
    select jsonb_agg(jsonb_build_object('slug', m.slug, 'scale', m.scale, 'rate', c.rate::text) order by c.position)
    from credit_costs c join meters m on m.id = c.meter_id
    where c.pool_id = meters.id
      and c.number = (select max(number) from credit_cost_lists l where l.pool_id = meters.id)), '[]')`;

/** Those with these slugs that are not deleted, for a list of the pool with this id. */
export async function listCandidates(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  { poolId, slugs }: { readonly poolId: string; readonly slugs: readonly string[] },
): Promise<readonly Candidate[]> {
  return sql<Candidate[]>`
    select id, slug, aggregation, scale, status = 'active' as "isActive", ${isPool(sql)} as "isPool",
      ${memberOf(sql, poolId)} as "memberOf"
    from meters where organisation_id = ${organisationId} and mode = ${mode} and deleted_at is null
      and slug = any(${[...slugs]})`;
}

/** Whether the row of `meters` ever had a list. */
const isPool = (sql: Executor) => sql`
  exists (select from credit_cost_lists l where l.pool_id = meters.id)`;

/** The slug of a pool that the row of `meters` is a member of, other than one; or null. */
const memberOf = (sql: Executor, poolId: string | null) => sql`
  (select p.slug from credit_costs c join meters p on p.id = c.pool_id
   where c.meter_id = meters.id and p.deleted_at is null and p.id is distinct from ${poolId}::uuid limit 1)`;

/** The slug of the pool that pays for this meter, or null. */
export async function findPoolOfMember(sql: Executor, meterId: string): Promise<string | null> {
  const [row] = await sql<{ slug: string | null }[]>`
    select ${memberOf(sql, null)} as slug from meters where id = ${meterId}`;
  return row?.slug ?? null;
}

/** The names of the pools that pay for these meters, by the id of the meter. */
export async function listPoolNames(
  sql: Executor,
  meterIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (meterIds.length === 0) return new Map();
  const rows = await sql<{ meterId: string; name: string }[]>`
    select c.meter_id as "meterId", p.name from credit_costs c join meters p on p.id = c.pool_id
    where c.meter_id = any(${[...meterIds]}::uuid[]) and p.deleted_at is null`;
  return new Map(rows.map(({ meterId, name }) => [meterId, name]));
}

/** How many lists it has had, and when the last began. */
export async function findLastList(
  sql: Transaction,
  poolId: string,
): Promise<{ readonly number: number; readonly since: Date } | null> {
  const [row] = await sql<{ number: number; since: Date }[]>`
    select number, since from credit_cost_lists where pool_id = ${poolId} order by number desc limit 1`;
  return row ?? null;
}

/** null where one more list may be made. Those of deleted pools do not count. */
export async function findRoomForList(
  sql: Transaction,
  scope: Tenant,
  bounds: Bounds,
): Promise<Full | null> {
  const { organisationId, mode } = scope;
  return findRoom(sql, bounds, {
    bound: 'creditCostLists',
    owner: ownerOfScope(scope),
    rows: sql`credit_cost_lists l join meters p on p.id = l.pool_id
      where p.organisation_id = ${organisationId} and p.mode = ${mode} and p.deleted_at is null`,
  });
}

/**
 * null where the pool may have these beside the members of its former lists. Who has more already
 * may go on without another one. The caller has the lock.
 */
export async function findRoomForMembers(
  sql: Transaction,
  bounds: Bounds,
  { poolId, meterIds }: { readonly poolId: string; readonly meterIds: readonly string[] },
): Promise<Full | null> {
  const rows = await sql<{ id: string }[]>`
    select distinct meter_id as id from credit_costs where pool_id = ${poolId}`;
  const known = new Set(rows.map(({ id }) => id));
  const added = meterIds.filter((id) => !known.has(id)).length;
  const max = bounds.featuresPerPool;
  return added > 0 && known.size + added > max ? new Full('featuresPerPool', max) : null;
}

export type NewList = {
  readonly poolId: string;
  readonly number: number;
  readonly since: Date;
  readonly members: readonly { readonly meterId: string; readonly rate: bigint }[];
};

export async function insertList(
  sql: Transaction,
  { organisationId }: Tenant,
  { poolId, number, since, members }: NewList,
): Promise<void> {
  await sql`
    insert into credit_cost_lists (pool_id, number, since) values (${poolId}, ${number}, ${since})`;
  await sql`
    insert into credit_costs (pool_id, number, position, meter_id, rate)
    select ${poolId}, ${number}, position, meter_id, rate
    from unnest(${members.map(({ meterId }) => meterId)}::uuid[], ${members.map(({ rate }) => String(rate))}::text[]::bigint[])
      with ordinality as given (meter_id, rate, position)`;
  await notifyChange(sql, 'meter', organisationId);
}

type Disagreement = { readonly reset: string | null; readonly priced: string | null };

/** Slugs of meters that cannot be members of the pool for what products give and sell. */
export async function findDisagreement(
  sql: Transaction,
  { poolId, meterIds }: { readonly poolId: string; readonly meterIds: readonly string[] },
): Promise<Disagreement> {
  const members = sql`meters m where m.id = any(${[...meterIds]}::uuid[])`;
  const [row] = await sql<Disagreement[]>`
    select
      (select m.slug from ${members} and exists (
        select from entitlements own join entitlements pools on pools.reset_interval <> own.reset_interval
        where own.meter_id = m.id and pools.meter_id = ${poolId}) limit 1) as reset,
      (select m.slug from ${members} and exists (
        select from usage_prices u where u.meter_id = m.id and u.status = 'active') limit 1) as priced`;
  return row ?? { reset: null, priced: null };
}

/** The slug of a meter that is in a pool with this one and is given with another reset, or null. */
export async function findOtherReset(
  sql: Transaction,
  { meterId, resetInterval }: { readonly meterId: string; readonly resetInterval: string },
): Promise<string | null> {
  const [row] = await sql<{ slug: string }[]>`
    select m.slug from entitlements e join meters m on m.id = e.meter_id
    where e.reset_interval <> ${resetInterval} and e.meter_id in (
      select c.meter_id from credit_costs c where c.pool_id = ${meterId}
      union all
      select c.pool_id from credit_costs c join meters p on p.id = c.pool_id
      where c.meter_id = ${meterId} and p.deleted_at is null)
    limit 1`;
  return row?.slug ?? null;
}

/** A pool that is not deleted, and how many lists it has had. */
export type CountedPool = { readonly meter: Meter; readonly lists: number };

/** Of one organisation, or of all. */
export async function listCountedPools(
  sql: Executor,
  organisationId: string | null,
): Promise<readonly CountedPool[]> {
  const owned = organisationId === null ? sql`` : sql`and m.organisation_id = ${organisationId}`;
  const rows = await sql<(JoinedMeter & { lists: number })[]>`
    select ${joinedMeter(sql)}, l.lists
    from meters m
    cross join lateral (select max(number) as lists from credit_cost_lists where pool_id = m.id) l
    where l.lists is not null and m.deleted_at is null ${owned}`;
  return rows.map((row) => ({ meter: meterOf(row), lists: row.lists }));
}

/** One list of a pool, as it is stored. */
export type StoredList = {
  readonly poolId: string;
  readonly since: Date;
  /** The id and the rate of each member. */
  readonly members: readonly (readonly [meterId: string, rate: string])[];
};

/** The next lists of each pool after its first `known`, in their order; at most `limit`. */
export async function listLaterLists(
  sql: Executor,
  pools: readonly { readonly poolId: string; readonly known: number }[],
  limit: number,
): Promise<readonly StoredList[]> {
  return sql<StoredList[]>`
    select l.pool_id as "poolId", l.since, coalesce((
      select jsonb_agg(jsonb_build_array(c.meter_id, c.rate::text) order by c.position)
      from credit_costs c where c.pool_id = l.pool_id and c.number = l.number), '[]') as members
    from unnest(${pools.map(({ poolId }) => poolId)}::uuid[], ${pools.map(({ known }) => known)}::integer[]) k (id, known)
    join credit_cost_lists l on l.pool_id = k.id and l.number > k.known
    order by l.pool_id, l.number limit ${limit}`;
}

/** Deleted ones too. */
export async function listMembers(
  sql: Executor,
  meterIds: readonly string[],
): Promise<readonly Meter[]> {
  const rows = await sql<JoinedMeter[]>`
    select ${joinedMeter(sql)} from meters m where m.id = any(${[...meterIds]}::uuid[])`;
  return rows.map(meterOf);
}
