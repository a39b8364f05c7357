// Users: people who may sign in. An address is one user, in upper or lower case.
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';

export type User = { readonly id: string; readonly email: string; readonly name: string };

export type UserRecord = User & {
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  readonly hasSecondFactor: boolean;
  /** Whether the address is known to be the user's (people/proof.ts). */
  readonly isProven: boolean;
};

/** Only the letters of ASCII have two cases: what is taken for an address is that address. */
export function isEmailOf(sql: Executor, column: string, email: string) {
  return sql`lower(${sql(column)} collate "C") = lower(${email}::text collate "C")`;
}

function columns(sql: Executor) {
  return sql`id, email, name, created_at as "createdAt", disabled_at as "disabledAt",
    totp_confirmed_at is not null as "hasSecondFactor", email_proven_at is not null as "isProven"`;
}

/** The user of an address, made where there is none: `isProven` is about a new one. */
export async function ensureUser(
  sql: Executor,
  { id, email, name, isProven, now }: User & { readonly isProven: boolean; readonly now: number },
): Promise<UserRecord & { readonly isNew: boolean }> {
  const at = new Date(now);
  const [made] = await sql<UserRecord[]>`
    insert into users (id, email, name, created_at, email_proven_at)
    values (${id}, ${email}, ${name}, ${at}, ${isProven ? at : null})
    on conflict (lower(email collate "C")) do nothing
    returning ${columns(sql)}`;
  if (made !== undefined) return { ...made, isNew: true };
  const found = await findUserByEmail(sql, email);
  if (found === null) throw new Error('a user is never deleted');
  return { ...found, isNew: false };
}

export async function findUserByEmail(sql: Executor, email: string): Promise<UserRecord | null> {
  const [found] = await sql<UserRecord[]>`
    select ${columns(sql)} from users where ${isEmailOf(sql, 'email', email)}`;
  return found ?? null;
}

export async function renameUser(
  sql: Executor,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  await sql`update users set name = ${name} where id = ${id}`;
}

/**
 * From now on the address is the user's. null where it was before; else whether a second factor was
 * enrolled.
 */
export async function markProven(
  sql: Transaction,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<{ readonly hasSecondFactor: boolean } | null> {
  const [marked] = await sql<{ hasSecondFactor: boolean }[]>`
    update users set email_proven_at = ${new Date(now)} where id = ${id} and email_proven_at is null
    returning totp_confirmed_at is not null as "hasSecondFactor"`;
  return marked ?? null;
}

/** From now on, or no more. */
export async function disableUser(
  sql: Executor,
  { id, at }: { readonly id: string; readonly at: Date | null },
): Promise<void> {
  await sql`update users set disabled_at = ${at} where id = ${id}`;
}

/** Its row is locked until the commit. */
export async function holdUser(sql: Transaction, id: string): Promise<void> {
  await sql`select from users where id = ${id} for no key update`;
}

/** What a user is called who has said no name. */
export function nameIn(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}
