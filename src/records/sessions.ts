// Sessions of users: signed in since when, from where, until when.
//
// Holds: only the hash of what the browser holds is stored. A session ends after 12 hours without a
// request, after 7 days, when it is revoked, and with its user.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import { hashKey } from '../platform/crypto/keys.ts';
import { isToken } from '../platform/crypto/tokens.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import type { Role } from './members.ts';
import type { User } from './users.ts';

const IDLE_MS = 12 * 3_600_000;
const SESSION_MS = 7 * DAY_MS;
/** How often `seen_at` is written. */
const SEEN_EVERY_MS = 60_000;
/** Live ones of a user: the oldest makes room. */
const LIVE_MAX = 50;
/** How long sessions that ended are kept. */
const KEPT_MS = 30 * DAY_MS;
const AGENT_LENGTH_MAX = 255;
const ADDRESS_LENGTH_MAX = 64;

export type NewSession = {
  readonly id: string;
  readonly token: string;
  readonly userId: string;
  readonly secondFactorAt: number | null;
  readonly address: string;
  readonly userAgent: string;
  readonly now: number;
};

export type FoundSession = {
  readonly sessionId: string;
  /** When it began, in ms since the epoch: each sign-in begins one. */
  readonly signedInAt: number;
  readonly user: User;
  readonly memberships: readonly {
    readonly organisationId: string;
    readonly organisationName: string;
    readonly role: Role;
    readonly requiresSecondFactor: boolean;
  }[];
  /** Whether the address is known to be the user's. */
  readonly isProven: boolean;
  readonly hasSecondFactor: boolean;
  readonly secondFactorAt: number | null;
};

export type SessionRecord = {
  readonly id: string;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly address: string;
  readonly userAgent: string;
};

function isLive(sql: Executor, now: number) {
  return sql`revoked_at is null and sessions.created_at > ${new Date(now - SESSION_MS)}
    and seen_at > ${new Date(now - IDLE_MS)}`;
}

export async function insertSession(sql: Transaction, session: NewSession): Promise<void> {
  const { id, token, userId, secondFactorAt, now } = session;
  const address = session.address.slice(0, ADDRESS_LENGTH_MAX);
  const userAgent = session.userAgent.slice(0, AGENT_LENGTH_MAX).toWellFormed();
  await sql`
    delete from sessions where user_id = ${userId} and created_at < ${new Date(now - KEPT_MS)}`;
  await sql`
    update sessions set revoked_at = ${new Date(now)} where id in (
      select id from sessions where user_id = ${userId} and ${isLive(sql, now)}
      order by created_at desc, id desc offset ${LIVE_MAX - 1})`;
  await sql`
    insert into sessions (
      id, hash, user_id, created_at, seen_at, second_factor_at, address, user_agent)
    values (
      ${id}, ${hashKey(token)}, ${userId}, ${new Date(now)}, ${new Date(now)},
      ${secondFactorAt === null ? null : new Date(secondFactorAt)}, ${address}, ${userAgent})`;
}

/**
 * null where it is unknown, over or revoked, or its user is disabled. Never cached. `isUse`:
 * whether its 12 hours begin anew.
 */
export async function findSession(
  sql: Executor,
  {
    token,
    address,
    isUse,
    now,
  }: {
    readonly token: string;
    readonly address: string;
    readonly isUse: boolean;
    readonly now: number;
  },
): Promise<FoundSession | null> {
  if (!isToken(token)) return null;
  type Row = Omit<FoundSession, 'signedInAt' | 'secondFactorAt'> & {
    readonly signedInAt: Date;
    readonly secondFactorAt: Date | null;
    readonly seenAt: Date;
  };
  const [row] = await sql<Row[]>`
    select sessions.id as "sessionId", sessions.created_at as "signedInAt", seen_at as "seenAt", second_factor_at as "secondFactorAt",
      jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name) as user,
      u.totp_confirmed_at is not null as "hasSecondFactor", u.email_proven_at is not null as "isProven",
      (select coalesce(jsonb_agg(jsonb_build_object(
          'organisationId', o.id, 'organisationName', coalesce(s.name, o.name), 'role', m.role,
          'requiresSecondFactor', o.requires_second_factor) order by m.id), '[]')
        from organisation_members m join organisations o on o.id = m.organisation_id
        left join organisation_settings s on s.organisation_id = o.id and s.mode = 'live'
        where m.user_id = u.id) as memberships
    from sessions join users u on u.id = user_id
    where hash = ${hashKey(token)} and ${isLive(sql, now)} and u.disabled_at is null`;
  if (row === undefined) return null;
  const { seenAt, signedInAt, secondFactorAt, ...found } = row;
  if (isUse && now - seenAt.getTime() >= SEEN_EVERY_MS) {
    await sql`
      update sessions set seen_at = greatest(seen_at, ${new Date(now)}),
        address = ${address.slice(0, ADDRESS_LENGTH_MAX)}
      where id = ${found.sessionId}`;
  }
  const given = secondFactorAt?.getTime() ?? null;
  return { ...found, signedInAt: signedInAt.getTime(), secondFactorAt: given };
}

/** Those that are open, newest first. */
export async function listSessions(
  sql: Executor,
  { userId, now }: { readonly userId: string; readonly now: number },
): Promise<SessionRecord[]> {
  return sql<SessionRecord[]>`
    select id, created_at as "createdAt", seen_at as "seenAt", address, user_agent as "userAgent"
    from sessions where user_id = ${userId} and ${isLive(sql, now)}
    order by created_at desc, id desc`;
}

/**
 * A code was given: from now on another token is the session's. false where it has ended meanwhile.
 */
export async function renewSession(
  sql: Executor,
  { id, token, now }: { readonly id: string; readonly token: string; readonly now: number },
): Promise<boolean> {
  const renewed = await sql`
    update sessions set hash = ${hashKey(token)}, second_factor_at = ${new Date(now)}
    where id = ${id} and ${isLive(sql, now)} returning id`;
  return renewed.length > 0;
}

/** Ends one of a user. false: it is none, or was ended. */
export async function revokeSession(
  sql: Executor,
  { userId, id, now }: { readonly userId: string; readonly id: string; readonly now: number },
): Promise<boolean> {
  const ended = await sql`
    update sessions set revoked_at = ${new Date(now)}
    where id = ${id} and user_id = ${userId} and revoked_at is null returning id`;
  return ended.length > 0;
}

/** Ends all of a user, but one. Returns how many. */
export async function revokeSessions(
  sql: Executor,
  {
    userId,
    except = null,
    now,
  }: {
    readonly userId: string;
    readonly except?: string | null;
    readonly now: number;
  },
): Promise<number> {
  const ended = await sql`
    update sessions set revoked_at = ${new Date(now)}
    where user_id = ${userId} and ${isLive(sql, now)} and id is distinct from ${except}::uuid
    returning id`;
  return ended.length;
}
