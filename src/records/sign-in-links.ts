// Links that sign in. Each counts once and for a quarter of an hour; only its hash is stored.
import { hashKey } from '../platform/crypto/keys.ts';
import { isToken } from '../platform/crypto/tokens.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { holdUser, type User } from './users.ts';

export const LINK_MS = 15 * 60_000;
/** That a user may ask for at a time. */
export const ASKED_MAX = 5;

/** false: the user has `openMax` that are open. Those that ended are deleted. */
export async function insertSignInLink(
  sql: Transaction,
  link: {
    readonly id: string;
    readonly token: string;
    readonly userId: string;
    readonly openMax: number;
    readonly now: number;
  },
): Promise<boolean> {
  const { id, token, userId, openMax, now } = link;
  // One at a time for each user.
  await holdUser(sql, userId);
  await sql`
    delete from sign_in_links
    where user_id = ${userId} and (expires_at <= ${new Date(now)} or used_at is not null)`;
  const made = await sql`
    insert into sign_in_links (id, hash, user_id, created_at, expires_at)
    select ${id}, ${hashKey(token)}, ${userId}, ${new Date(now)}, ${new Date(now + LINK_MS)}
    where (select count(*) from sign_in_links where user_id = ${userId}) < ${openMax}
    returning id`;
  return made.length > 0;
}

/** Whom it signs in; null where it is unknown, used or over, or its user is disabled. */
export async function findSignInLink(
  sql: Executor,
  { token, now }: { readonly token: string; readonly now: number },
): Promise<User | null> {
  if (!isToken(token)) return null;
  const [found] = await sql<User[]>`
    select u.id, u.email, u.name from sign_in_links l join users u on u.id = l.user_id
    where l.hash = ${hashKey(token)} and l.used_at is null and l.expires_at > ${new Date(now)}
      and u.disabled_at is null`;
  return found ?? null;
}

/** The same, and it is used: of two at once one finds it. */
export async function useSignInLink(
  sql: Transaction,
  { token, now }: { readonly token: string; readonly now: number },
): Promise<User | null> {
  if (!isToken(token)) return null;
  const [used] = await sql<User[]>`
    update sign_in_links l set used_at = ${new Date(now)} from users u
    where l.hash = ${hashKey(token)} and l.used_at is null and l.expires_at > ${new Date(now)}
      and u.id = l.user_id and u.disabled_at is null
    returning u.id, u.email, u.name`;
  return used ?? null;
}

/** Why a link is refused, and whom it was for; null if that is unknown. */
export async function findEndedLink(
  sql: Executor,
  token: string,
): Promise<{
  readonly user: User;
  readonly why: 'link_used' | 'link_over' | 'user_disabled';
} | null> {
  if (!isToken(token)) return null;
  const [found] = await sql<(User & { isUsed: boolean; isDisabled: boolean })[]>`
    select u.id, u.email, u.name, l.used_at is not null as "isUsed",
      u.disabled_at is not null as "isDisabled"
    from sign_in_links l join users u on u.id = l.user_id where l.hash = ${hashKey(token)}`;
  if (found === undefined) return null;
  const { isUsed, isDisabled, ...user } = found;
  return { user, why: isUsed ? 'link_used' : isDisabled ? 'user_disabled' : 'link_over' };
}
