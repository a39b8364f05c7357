// Users: people who may sign in. An address is one user, in upper or lower case.
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';

export type User = { readonly id: string; readonly email: string; readonly name: string };

export type UserRecord = User & {
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  readonly hasSecondFactor: boolean;
};

/** Only the letters of ASCII have two cases: what is taken for an address is that address. */
export function isEmailOf(sql: Executor, column: string, email: string) {
  return sql`lower(${sql(column)} collate "C") = lower(${email}::text collate "C")`;
}

function columns(sql: Executor) {
  return sql`id, email, name, created_at as "createdAt", disabled_at as "disabledAt",
    totp_confirmed_at is not null as "hasSecondFactor"`;
}

/** The user of an address, made where there is none. */
export async function ensureUser(
  sql: Executor,
  { id, email, name, now }: User & { readonly now: number },
): Promise<UserRecord & { readonly isNew: boolean }> {
  const [made] = await sql<UserRecord[]>`
    insert into users (id, email, name, created_at) values (${id}, ${email}, ${name}, ${new Date(now)})
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
