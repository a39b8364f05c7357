// The second factor of a user: the secret of the codes, what was taken of them, and recovery codes.
//
// Holds: a code counts once, and none of an earlier step counts after it. After MISSES_MAX wrong
// ones in a row no code counts: a recovery code, or the operator, begins anew.
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';

const MISSES_MAX = 50;

export type SecondFactor = {
  /** Sealed for the id of the user. */
  readonly sealed: Uint8Array;
  readonly isConfirmed: boolean;
};

/** null: none was begun. */
export async function findSecondFactor(
  sql: Executor,
  userId: string,
): Promise<SecondFactor | null> {
  const [found] = await sql<SecondFactor[]>`
    select totp_secret as sealed, totp_confirmed_at is not null as "isConfirmed"
    from users where id = ${userId} and totp_secret is not null`;
  return found ?? null;
}

/** Stores a secret, unless there is one: another page may show it by now. */
export async function beginSecondFactor(
  sql: Executor,
  { userId, sealed }: { readonly userId: string; readonly sealed: Uint8Array },
): Promise<void> {
  await sql`update users set totp_secret = ${sealed} where id = ${userId} and totp_secret is null`;
}

/** With its first code. false: it is confirmed already, or the secret is another. */
export async function confirmSecondFactor(
  sql: Transaction,
  factor: {
    readonly userId: string;
    readonly sealed: Uint8Array;
    readonly step: number;
    readonly recoveryHashes: readonly Buffer[];
    readonly now: number;
  },
): Promise<boolean> {
  const { userId, sealed, step, recoveryHashes, now } = factor;
  const confirmed = await sql`
    update users set totp_confirmed_at = ${new Date(now)}, totp_step = ${step}, totp_misses = 0
    where id = ${userId} and totp_confirmed_at is null and totp_secret = ${sealed} returning id`;
  if (confirmed.length === 0) return false;
  await sql`delete from recovery_codes where user_id = ${userId}`;
  const hashes = recoveryHashes.map((hash) => hash.toString('hex'));
  await sql`
    insert into recovery_codes (user_id, hash)
    select ${userId}, decode(given, 'hex') from unnest(${hashes}::text[]) given`;
  return true;
}

/**
 * Takes a right code of this step; false: one of it or of a later one was taken, or none counts.
 */
export async function takeStep(
  sql: Executor,
  { userId, step }: { readonly userId: string; readonly step: number },
): Promise<boolean> {
  const taken = await sql`
    update users set totp_step = ${step}, totp_misses = 0
    where id = ${userId} and totp_confirmed_at is not null and totp_misses < ${MISSES_MAX}
      and (totp_step is null or totp_step < ${step})
    returning id`;
  return taken.length > 0;
}

export async function countMiss(sql: Executor, userId: string): Promise<void> {
  await sql`update users set totp_misses = totp_misses + 1 where id = ${userId}`;
}

/** false: it is none of the user, or was used. */
export async function takeRecoveryCode(
  sql: Transaction,
  { userId, hash, now }: { readonly userId: string; readonly hash: Buffer; readonly now: number },
): Promise<boolean> {
  const taken = await sql`
    update recovery_codes set used_at = ${new Date(now)}
    where user_id = ${userId} and hash = ${hash} and used_at is null returning user_id`;
  if (taken.length === 0) return false;
  await sql`update users set totp_misses = 0 where id = ${userId}`;
  return true;
}

export async function countRecoveryCodes(sql: Executor, userId: string): Promise<number> {
  const [row] = await sql<{ count: bigint }[]>`
    select count(*) from recovery_codes where user_id = ${userId} and used_at is null`;
  return Number(row?.count ?? 0n);
}

export async function dropSecondFactor(sql: Transaction, userId: string): Promise<void> {
  await sql`
    update users set totp_secret = null, totp_confirmed_at = null, totp_misses = 0
    where id = ${userId}`;
  await sql`delete from recovery_codes where user_id = ${userId}`;
}

/** Any one, to see at the start that the key opens it. */
export async function findSealedSecondFactor(
  sql: Executor,
): Promise<{ readonly sealed: Uint8Array; readonly ownerId: string } | null> {
  const [found] = await sql<{ sealed: Uint8Array; ownerId: string }[]>`
    select totp_secret as sealed, id as "ownerId" from users where totp_secret is not null limit 1`;
  return found ?? null;
}
