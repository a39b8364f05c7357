import { DAY_MS } from '../../ledger/kernel/durations.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import { hashKey } from '../platform/crypto/keys.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { isToken } from '../platform/crypto/tokens.ts';
import { findRoom } from './capacity.ts';
import { isUuid } from './uuid.ts';

/** For how many seconds a token opens the portal. */
export const PORTAL_TTL_S_DEFAULT = 86_400;
export const PORTAL_TTL_S_MAX = 30 * 86_400;

/**
 * Of one in a mail: until access is blocked, by the usual settings, and longer than between two
 * mails.
 */
export const PORTAL_TTL_DAYS_MAILED = 14;

/** How long expired tokens are kept, to explain what became of them. */
const KEPT_MS = 30 * DAY_MS;

/** What a token opens where it opens one page alone. */
export type PortalPage = 'payment_method';

/** Who makes one: a member, or a key and when what it makes ends. */
export type PortalTokenMaker =
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'key'; readonly id: string; readonly endsAt: Date | null };

export type PortalToken = {
  readonly id: string;
  readonly customerId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** Where a token opens the portal. */
export function portalUrl(appUrl: string, token: string): string {
  return `${appUrl}/portal/${token}`;
}

/** The customer whose portal a token opens. */
export type PortalAccess = Tenant & {
  readonly customerId: string;
  readonly tokenId: string;
  /** null: all of it. */
  readonly page: PortalPage | null;
};

/**
 * In the customer's own organisation and mode; null without such a customer. Only a hash of `token`
 * is stored. It ends with the right of its maker, whom the caller keeps until the commit.
 */
export async function insertPortalToken(
  sql: Transaction,
  options: {
    readonly id: string;
    readonly customerId: string;
    readonly token: string;
    readonly ttlS: number;
    readonly page: PortalPage | null;
    /** null: the service itself, or an operator. */
    readonly by: PortalTokenMaker | null;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<PortalToken | Full | null> {
  const { id, customerId, token, ttlS, page, by, bounds, now } = options;
  await sql`
    delete from portal_tokens
    where customer_id = ${customerId} and expires_at < ${new Date(now - KEPT_MS)}`;
  const rows = sql`portal_tokens
    where customer_id = ${customerId} and ${isOpen(sql, now)}`;
  const asked = { bound: 'portalTokensPerCustomer', owner: customerId, rows } as const;
  const full = await findRoom(sql, bounds, asked);
  if (full !== null) return full;
  const [made] = await sql<PortalToken[]>`
    insert into portal_tokens (
      id, organisation_id, mode, customer_id, page, hash, created_by, created_by_user, created_at, expires_at)
    select ${id}, organisation_id, mode, id, ${page}, ${hashKey(token)},
      ${by?.kind === 'key' ? by.id : null}, ${by?.kind === 'user' ? by.id : null}, ${new Date(now)}::timestamptz,
      least(${new Date(now + ttlS * 1000)}, ${by?.kind === 'key' ? by.endsAt : null}::timestamptz)
    from customers where id = ${customerId}
    returning id, customer_id as "customerId", created_at as "createdAt", expires_at as "expiresAt"`;
  return made ?? null;
}

/** Whether it was made, revoked and expired ones included. */
export async function wasPortalTokenMade(sql: Executor, id: string): Promise<boolean> {
  const rows = await sql`select 1 from portal_tokens where id = ${id}`;
  return rows.length > 0;
}

/**
 * null where the token is unknown, revoked or expired. Never cached, so a revocation works at once.
 */
export async function findPortalAccess(
  sql: Executor,
  token: string,
  now: number,
): Promise<PortalAccess | null> {
  if (!isToken(token)) return null;
  const [found] = await sql<PortalAccess[]>`
    select id as "tokenId", organisation_id as "organisationId", mode, customer_id as "customerId", page
    from portal_tokens
    where hash = ${hashKey(token)} and ${isOpen(sql, now)}`;
  return found ?? null;
}

/**
 * Whether the token exists; in any organisation where `scope` is null. A second revocation changes
 * nothing.
 */
export async function revokePortalToken(
  sql: Executor,
  scope: Tenant | null,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<boolean> {
  if (!isUuid(id)) return false;
  const own =
    scope === null
      ? sql``
      : sql`and organisation_id = ${scope.organisationId} and mode = ${scope.mode}`;
  const rows = await sql`
    update portal_tokens set revoked_at = coalesce(revoked_at, ${new Date(now)})
    where id = ${id} ${own} returning id`;
  return rows.length > 0;
}

/** The open ones that a user has made; in every organisation unless one is named. How many. */
export async function revokePortalTokensBy(
  sql: Executor,
  by: { readonly userId: string; readonly organisationId?: string; readonly now: number },
): Promise<number> {
  const { userId, organisationId, now } = by;
  const where = organisationId === undefined ? sql`` : sql`and organisation_id = ${organisationId}`;
  const ended = await sql`
    update portal_tokens set revoked_at = ${new Date(now)}
    where created_by_user = ${userId} and ${isOpen(sql, now)} ${where}`;
  return ended.count;
}

/** The open ones of a key that is revoked, and of the keys whose place it took. */
export async function revokePortalTokensOf(
  sql: Executor,
  { keyId, now }: { readonly keyId: string; readonly now: number },
): Promise<void> {
  await sql`
    update portal_tokens set revoked_at = ${new Date(now)}
    where ${isOpen(sql, now)} and created_by = any(array(
      with recursive line as (
        select ${keyId}::uuid as id
        union select k.id from line join api_keys k on k.replaced_by = line.id)
      select id from line))`;
}

function isOpen(sql: Executor, now: number) {
  return sql`revoked_at is null and expires_at > ${new Date(now)}`;
}
