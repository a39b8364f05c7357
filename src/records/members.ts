// The people of an organisation: who may sign in to its dashboard, and as what.
//
// Holds: no change here takes the last owner who may sign in from an organisation. Who takes an
// owner away holds the rows of all its owners until the commit, so of two at once the second counts
// what the first has left.
import { revokeInvitationsFor } from './invitations-for.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { findRoom } from './capacity.ts';
import { type Page, pageOf } from './page.ts';
import { disableUser, isEmailOf } from './users.ts';
import { isUuid } from './uuid.ts';

/** What a member may do (src/http/policy.ts). */
export const ROLES = ['owner', 'admin', 'support', 'read_only'] as const;
export type Role = (typeof ROLES)[number];

export type MemberRecord = {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly hasSecondFactor: boolean;
  readonly createdAt: Date;
};

/** Of the organisation without which it would have no owner. */
export type LastOwner = 'last_owner';

function columns(sql: Executor) {
  return sql`organisation_members.id, user_id as "userId", users.email, users.name, role,
    totp_confirmed_at is not null as "hasSecondFactor", organisation_members.created_at as "createdAt"`;
}

export type NewMember = {
  readonly id: string;
  readonly organisationId: string;
  readonly userId: string;
  readonly role: Role;
  readonly now: number;
};

/** Where there is room for one more. false: the user is a member already, as whatever. */
export async function addMember(
  sql: Transaction,
  bounds: Bounds,
  member: NewMember,
): Promise<boolean | Full> {
  const { organisationId: owner } = member;
  const rows = sql`organisation_members where organisation_id = ${owner}`;
  const full = await findRoom(sql, bounds, { bound: 'members', owner, rows });
  return full ?? insertMember(sql, member);
}

/** The same, however many there are. */
export async function insertMember(
  sql: Executor,
  { id, organisationId, userId, role, now }: NewMember,
): Promise<boolean> {
  const made = await sql`
    insert into organisation_members (id, organisation_id, user_id, role, created_at)
    values (${id}, ${organisationId}, ${userId}, ${role}, ${new Date(now)})
    on conflict (user_id, organisation_id) do nothing returning id`;
  return made.length > 0;
}

/** The member of an address; null where there is none. */
export async function findMemberByEmail(
  sql: Executor,
  organisationId: string,
  email: string,
): Promise<MemberRecord | null> {
  const [found] = await sql<MemberRecord[]>`
    select ${columns(sql)} from organisation_members join users on users.id = user_id
    where organisation_id = ${organisationId} and ${isEmailOf(sql, 'users.email', email)}`;
  return found ?? null;
}

export async function listMembers(
  sql: Executor,
  organisationId: string,
  page: Page,
): Promise<MemberRecord[]> {
  return sql<MemberRecord[]>`
    select ${columns(sql)} from organisation_members join users on users.id = user_id
    where organisation_id = ${organisationId} ${pageOf(sql, 'members', page)}`;
}

export async function findMember(
  sql: Executor,
  organisationId: string,
  id: string,
): Promise<MemberRecord | null> {
  if (!isUuid(id)) return null;
  const [found] = await sql<MemberRecord[]>`
    select ${columns(sql)} from organisation_members join users on users.id = user_id
    where organisation_id = ${organisationId} and organisation_members.id = ${id}`;
  return found ?? null;
}

/** In the order in which they came, for the command line. */
export async function listAllMembers(
  sql: Executor,
  organisationId: string,
): Promise<MemberRecord[]> {
  return sql<MemberRecord[]>`
    select ${columns(sql)} from organisation_members join users on users.id = user_id
    where organisation_id = ${organisationId} order by organisation_members.id`;
}

/** Those of which the user is a member, in the order in which it came. */
export async function listOrganisationsOf(sql: Executor, userId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select organisation_id as id from organisation_members where user_id = ${userId}
    order by organisation_members.id`;
  return rows.map(({ id }) => id);
}

/** Its row is locked until the commit. */
export async function holdMember(
  sql: Transaction,
  organisationId: string,
  id: string,
): Promise<MemberRecord | null> {
  if (!isUuid(id)) return null;
  // First the owners, in one order: two that hold the same wait, and do not meet.
  await sql`
    select from organisation_members where organisation_id = ${organisationId} and role = 'owner'
    order by id for update`;
  const [found] = await sql<MemberRecord[]>`
    select ${columns(sql)} from organisation_members join users on users.id = user_id
    where organisation_id = ${organisationId} and organisation_members.id = ${id}
    for update of organisation_members`;
  return found ?? null;
}

/**
 * What a user is there, who may sign in; null for nobody. Until the commit the role stays, and the
 * user may.
 */
export async function roleToKeep(
  sql: Transaction,
  organisationId: string,
  userId: string,
): Promise<Role | null> {
  const [found] = await sql<{ role: Role }[]>`
    select role from organisation_members join users on users.id = user_id
    where organisation_id = ${organisationId} and user_id = ${userId} and disabled_at is null
    for share`;
  return found?.role ?? null;
}

/** `member` is held. */
export async function changeRole(
  sql: Transaction,
  organisationId: string,
  { member, role }: { readonly member: MemberRecord; readonly role: Role },
): Promise<LastOwner | 'changed'> {
  if (role !== 'owner' && (await isLastOwner(sql, organisationId, member))) return 'last_owner';
  await sql`update organisation_members set role = ${role} where id = ${member.id}`;
  return 'changed';
}

/** `member` is held. No invitation of before brings it back. */
export async function removeMember(
  sql: Transaction,
  organisationId: string,
  { member, now }: { readonly member: MemberRecord; readonly now: number },
): Promise<LastOwner | 'removed'> {
  if (await isLastOwner(sql, organisationId, member)) return 'last_owner';
  await revokeInvitationsFor(sql, { organisationId, email: member.email, now });
  await sql`delete from organisation_members where id = ${member.id}`;
  return 'removed';
}

/**
 * A user who may not sign in may again, as a member of nothing: who lets it in speaks for no other
 * organisation that it was in. How many it has left. No owner is lost: none who is disabled counts.
 */
export async function readmitUser(sql: Transaction, userId: string): Promise<number> {
  await disableUser(sql, { id: userId, at: null });
  const left = await sql`delete from organisation_members where user_id = ${userId}`;
  return left.count;
}

async function isLastOwner(
  sql: Transaction,
  organisationId: string,
  { id, role }: MemberRecord,
): Promise<boolean> {
  if (role !== 'owner') return false;
  // One who may sign in no more is none.
  const others = await sql`
    select from organisation_members join users on users.id = user_id
    where organisation_id = ${organisationId} and role = 'owner' and disabled_at is null
      and organisation_members.id <> ${id} limit 1`;
  return others.length === 0;
}
