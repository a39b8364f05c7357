import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Interval } from '../../ledger/kernel/calendar.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { findRoom } from './capacity.ts';
import { findOtherReset, lockCreditCosts } from './credit-costs.ts';
import { type JoinedMeter, joinedMeter, meterOf } from './joined-meter.ts';
import { lockProduct } from './products.ts';
import { conflictOfEntitlement, otherReset, type UsageConflict } from './usage-conflicts.ts';
import { isUuid } from './uuid.ts';

/** What a product gives of a feature. */
export type Entitlement = {
  readonly id: string;
  readonly productId: string;
  readonly meter: Meter;
  readonly type: 'metered' | 'boolean';
  /** Scaled like the meter's quantities. null: unlimited, and for a boolean feature. */
  readonly limit: bigint | null;
  readonly resetInterval: Interval | 'never';
  readonly overageAllowed: boolean;
  readonly rollover: { readonly max: bigint; readonly expiresAfterPeriods: number } | null;
  readonly priority: number;
  readonly createdAt: Date;
};

export type NewEntitlement = Omit<Entitlement, 'createdAt'>;

export type EntitlementRow = Omit<Entitlement, 'meter' | 'rollover'> & {
  readonly rolloverMax: bigint | null;
  readonly rolloverPeriods: number | null;
} & JoinedMeter;

/** Product and meter are in the scope. */
export async function insertEntitlement(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly entitlement: NewEntitlement;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<Entitlement | 'meter_deleted' | 'feature_taken' | UsageConflict | Full> {
  const { entitlement, bounds, now } = options;
  const { id, productId, meter, type, limit, resetInterval, overageAllowed, rollover, priority } =
    entitlement;
  const createdAt = new Date(now);
  await lockCreditCosts(sql, scope);
  // A feature that the product has is a conflict, even where there is no room.
  const rows = sql`entitlements where product_id = ${productId} and meter_id <> ${meter.id}`;
  const asked = { bound: 'entitlementsPerProduct', owner: productId, rows } as const;
  const full = await findRoom(sql, bounds, asked);
  if (full !== null) return full;
  await lockProduct(sql, productId);
  const feature = { productId, meterId: meter.id };
  const conflict = await conflictOfEntitlement(sql, feature, entitlement);
  if (conflict !== null) return conflict;
  // Locks the meter, so that it is not deleted meanwhile.
  const kept = await sql`
    select 1 from meters where id = ${meter.id} and deleted_at is null for share`;
  if (kept.length === 0) return 'meter_deleted';
  const other = await findOtherReset(sql, { meterId: meter.id, resetInterval });
  if (other !== null) return otherReset(other);
  const made = await sql`
    insert into entitlements (id, organisation_id, mode, product_id, meter_id, type, amount, reset_interval,
      overage_allowed, rollover_max, rollover_periods, priority, created_at)
    values (${id}, ${scope.organisationId}, ${scope.mode}, ${productId}, ${meter.id}, ${type}, ${limit}, ${resetInterval},
      ${overageAllowed}, ${rollover?.max ?? null}, ${rollover?.expiresAfterPeriods ?? null}, ${priority}, ${createdAt})
    on conflict (product_id, meter_id) do nothing
    returning id`;
  return made.length === 0 ? 'feature_taken' : { ...entitlement, createdAt };
}

/** Of the entitlement `e` and its meter `m`. */
export const entitlementColumns = (sql: Executor) => sql`
  e.id, e.product_id as "productId", e.type, e.amount as "limit", e.reset_interval as "resetInterval",
  e.overage_allowed as "overageAllowed", e.rollover_max as "rolloverMax", e.rollover_periods as "rolloverPeriods",
  e.priority, e.created_at as "createdAt", ${joinedMeter(sql)}`;

/** All that a product gives, in the order in which it was attached. */
export async function listEntitlements(
  sql: Executor,
  { organisationId, mode }: Tenant,
  productId: string,
): Promise<readonly Entitlement[]> {
  if (!isUuid(productId)) return [];
  const rows = await sql<EntitlementRow[]>`
    select ${entitlementColumns(sql)} from entitlements e join meters m on m.id = e.meter_id
    where e.product_id = ${productId} and e.organisation_id = ${organisationId} and e.mode = ${mode}
    order by e.id`;
  return rows.map(entitlementOf);
}

/** Customers keep what it granted until that expires. */
export async function deleteEntitlement(
  sql: Executor,
  { organisationId, mode }: Tenant,
  { productId, id }: { readonly productId: string; readonly id: string },
): Promise<boolean> {
  if (!isUuid(productId) || !isUuid(id)) return false;
  const rows = await sql`
    delete from entitlements
    where id = ${id} and product_id = ${productId} and organisation_id = ${organisationId} and mode = ${mode}
    returning id`;
  return rows.length > 0;
}

export function entitlementOf(row: EntitlementRow): Entitlement {
  const { rolloverMax: max, rolloverPeriods: expiresAfterPeriods } = row;
  return {
    id: row.id,
    productId: row.productId,
    meter: meterOf(row),
    type: row.type,
    limit: row.limit,
    resetInterval: row.resetInterval,
    overageAllowed: row.overageAllowed,
    rollover: max === null || expiresAfterPeriods === null ? null : { max, expiresAfterPeriods },
    priority: row.priority,
    createdAt: row.createdAt,
  };
}
