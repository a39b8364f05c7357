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
  /** A decimal, or null where an amount is taken off. */
  readonly percentOff: string | null;
  /** In units of the currency's smallest coin. */
  readonly amountOff: bigint | null;
  readonly currency: string | null;
  readonly maxRedemptions: number | null;
  /** Payments that were made with it, or are being made and not at a bank. */
  readonly redemptions: number;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
};

export type NewDiscount = Omit<DiscountRecord, 'redemptions' | 'createdAt'>;

/** What a code can be. Nothing else is looked for: a buyer may type anything. */
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

/** Newest first, without the deleted ones; up to one row more than `limit`. */
export async function listDiscounts(
  sql: Executor,
  scope: Tenant,
  page: Page,
): Promise<DiscountRecord[]> {
  return sql<DiscountRecord[]>`
    select ${columns(sql)} from discounts where ${inScope(sql, scope)}
    ${pageOf(sql, 'discounts', page)}`;
}

/** By what a buyer typed, in upper or lower case. It may be spent or expired: `redeemDiscount` decides. */
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

/** What a checkout names by its id; null where it was deleted meanwhile. */
export async function findDiscount(sql: Executor, id: string): Promise<DiscountRecord | null> {
  const [row] = await sql<DiscountRecord[]>`
    select ${columns(sql)} from discounts where id = ${id} and deleted_at is null`;
  return row ?? null;
}

/** Keeps the row, for the payments that were made with it, and gives the code back. Whether there was one. */
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
 * Takes one of its redemptions for a payment that begins; false where it is deleted, expired or used up. One statement: however many
 * come at once, no more get one than there are.
 */
export async function redeemDiscount(sql: Transaction, id: string, now: number): Promise<boolean> {
  const { count } = await sql`
    update discounts set redemptions = redemptions + 1
    where id = ${id} and deleted_at is null
      and (expires_at is null or expires_at > ${new Date(now)})
      and (max_redemptions is null or redemptions < max_redemptions)`;
  return count === 1;
}

/** Gives back what `redeemDiscount` took, when the payment came to nothing. Whether it is deleted or expired does not matter. */
export async function releaseDiscount(sql: Transaction, id: string): Promise<void> {
  const { count } = await sql`
    update discounts set redemptions = redemptions - 1 where id = ${id}`;
  assert(count === 1, 'a discount that was redeemed is kept');
}
