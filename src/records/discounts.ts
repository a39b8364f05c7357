import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { assert } from '../../ledger/kernel/assert.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import type { Executor, Sql, Transaction } from '../platform/postgres/postgres.ts';
import { type Page, pageOf } from './page.ts';
import { findRoom, ownerOfScope } from './capacity.ts';
import { isUuid } from './uuid.ts';

export type DiscountRecord = {
  readonly id: string;
  readonly code: string;
  /** A decimal; null where an amount is taken off. */
  readonly percentOff: string | null;
  /** In the currency's smallest unit. */
  readonly amountOff: bigint | null;
  readonly currency: string | null;
  readonly maxRedemptions: number | null;
  /** Payments made with it, and payments under way that are not at a bank. */
  readonly redemptions: number;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
};

export type NewDiscount = Omit<DiscountRecord, 'redemptions' | 'createdAt'>;

/** The shape of a code. Nothing else is looked up: a buyer may type anything. */
const CODE = /^[A-Za-z0-9_-]{1,64}$/;

const columns = (sql: Executor) => sql`
  id, code, percent_off as "percentOff", amount_off as "amountOff", currency, max_redemptions as "maxRedemptions",
  redemptions, expires_at as "expiresAt", created_at as "createdAt"`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  organisation_id = ${organisationId} and mode = ${mode} and deleted_at is null`;

export async function insertDiscount(
  sql: Transaction,
  scope: Tenant,
  options: { readonly discount: NewDiscount; readonly bounds: Bounds; readonly now: number },
): Promise<DiscountRecord | 'code_taken' | Full> {
  const { discount, bounds, now } = options;
  const { id, code, percentOff, amountOff, currency, maxRedemptions, expiresAt } = discount;
  const rows = sql`discounts where ${inScope(sql, scope)}`;
  const asked = { bound: 'discounts', owner: ownerOfScope(scope), rows } as const;
  const full = await findRoom(sql, bounds, asked);
  if (full !== null) return full;
  const [row] = await sql<DiscountRecord[]>`
    insert into discounts (id, organisation_id, mode, code, percent_off, amount_off, currency, max_redemptions,
      redemptions, expires_at, created_at)
    values (${id}, ${scope.organisationId}, ${scope.mode}, ${code}, ${percentOff}, ${amountOff}, ${currency},
      ${maxRedemptions}, 0, ${expiresAt}, ${new Date(now)})
    on conflict (organisation_id, mode, lower(code)) where deleted_at is null do nothing
    returning ${columns(sql)}`;
  return row ?? 'code_taken';
}

/** Newest first, without deleted ones; up to one row more than `limit`. */
export async function listDiscounts(
  sql: Executor,
  scope: Tenant,
  page: Page,
): Promise<DiscountRecord[]> {
  return sql<DiscountRecord[]>`
    select ${columns(sql)} from discounts where ${inScope(sql, scope)}
    ${pageOf(sql, 'discounts', page)}`;
}

/**
 * By what a buyer typed; case does not matter. It may be used up or expired: `redeemDiscount`
 * decides.
 */
export async function findDiscountByCode(
  sql: Executor,
  scope: Tenant,
  code: string,
): Promise<DiscountRecord | null> {
  if (!CODE.test(code)) return null;
  const [row] = await sql<DiscountRecord[]>`
    select ${columns(sql)} from discounts where ${inScope(sql, scope)} and lower(code) = lower(${code})`;
  return row ?? null;
}

/** By a checkout's reference; null where it was deleted meanwhile. */
export async function findDiscount(sql: Executor, id: string): Promise<DiscountRecord | null> {
  const [row] = await sql<DiscountRecord[]>`
    select ${columns(sql)} from discounts where id = ${id} and deleted_at is null`;
  return row ?? null;
}

/** By a checkout that was paid with it: also one that was deleted meanwhile. */
export async function findRedeemed(sql: Executor, id: string): Promise<DiscountRecord | null> {
  const [row] = await sql<DiscountRecord[]>`
    select ${columns(sql)} from discounts where id = ${id}`;
  return row ?? null;
}

/**
 * Keeps the row for the payments that were made with it, and frees the code. Whether it existed.
 */
export async function deleteDiscount(
  sql: Sql,
  scope: Tenant,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { count } = await sql`
    update discounts set deleted_at = ${new Date(now)} where ${inScope(sql, scope)} and id = ${id}`;
  return count === 1;
}

/**
 * Takes one redemption for a payment that begins; false where it is deleted, expired or used up.
 * One statement: of many at once no more succeed than there are redemptions.
 */
export async function redeemDiscount(sql: Transaction, id: string, now: number): Promise<boolean> {
  const { count } = await sql`
    update discounts set redemptions = redemptions + 1
    where id = ${id} and deleted_at is null
      and (expires_at is null or expires_at > ${new Date(now)})
      and (max_redemptions is null or redemptions < max_redemptions)`;
  return count === 1;
}

/** Gives back a redemption of a payment that failed, even of a deleted or expired discount. */
export async function releaseDiscount(sql: Transaction, id: string): Promise<void> {
  const { count } = await sql`
    update discounts set redemptions = redemptions - 1 where id = ${id}`;
  assert(count === 1, 'a discount that was redeemed is kept');
}
