// Invitations to an organisation: for an address, as a role, for a week. Only the hash of what the
// mailed link ends in is stored.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import { hashKey } from '../platform/crypto/keys.ts';
import { isToken } from '../platform/crypto/tokens.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { findRoom } from './capacity.ts';
import type { Role } from './members.ts';
import { type OfAddress, revokeInvitationsFor } from './invitations-for.ts';
import { type Page, pageOf } from './page.ts';
import { isEmailOf } from './users.ts';
import { isUuid } from './uuid.ts';

const INVITED_MS = 7 * DAY_MS;

export type InvitationRecord = {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** The address of the member who invited; null for a key. */
  readonly invitedBy: string | null;
  /** Whether its link was in a mail alone: who has it reads the mails of the address. */
  readonly isMailed: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
  readonly revokedAt: Date | null;
};

/** Who invites: a member, or a key and its end. */
export type Inviter =
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'key'; readonly id: string; readonly expiresAt: Date | null };

export type OpenInvitation = InvitationRecord & {
  readonly organisationId: string;
  readonly organisationName: string;
};

function columns(sql: Executor) {
  return sql`invitations.id, invitations.email, role, inviter.email as "invitedBy", mailed as "isMailed",
    invitations.created_at as "createdAt", expires_at as "expiresAt",
    accepted_at as "acceptedAt", revoked_at as "revokedAt"`;
}

function open(sql: Executor, now: number) {
  return sql`accepted_at is null and revoked_at is null and expires_at > ${new Date(now)}`;
}

/** An open one of the address, which is not ended: it is for one of the roles to spare. */
export type Spared = 'spared';

/** It takes the place of one that the address has. One by a key ends with the key. */
export async function insertInvitation(
  sql: Transaction,
  bounds: Bounds,
  invitation: {
    readonly id: string;
    readonly organisationId: string;
    readonly email: string;
    readonly role: Role;
    readonly token: string;
    readonly isMailed: boolean;
    readonly by: Inviter;
    /** Whose open invitations the inviter may not end. */
    readonly spare: readonly Role[];
    readonly now: number;
  },
): Promise<InvitationRecord | Full | Spared> {
  const { id, organisationId, email, role, token, isMailed, by, spare, now } = invitation;
  const rows = sql`invitations where organisation_id = ${organisationId} and ${open(sql, now)}
    and not ${isEmailOf(sql, 'email', email)}`;
  const asked = { bound: 'members', owner: `${organisationId} invited`, rows } as const;
  const full = await findRoom(sql, bounds, asked);
  if (full !== null) return full;
  const held = await holdOpen(sql, { organisationId, email, now });
  if (held.some((each) => spare.includes(each))) return 'spared';
  await revokeInvitationsFor(sql, { organisationId, email, now });
  const [made] = await sql<InvitationRecord[]>`
    with made as (
      insert into invitations (
        id, organisation_id, email, role, hash, mailed, invited_by, invited_by_key, created_at, expires_at)
      values (
        ${id}, ${organisationId}, ${email}, ${role}, ${hashKey(token)}, ${isMailed},
        ${by.kind === 'user' ? by.id : null}, ${by.kind === 'key' ? by.id : null}, ${new Date(now)},
        least(${new Date(now + INVITED_MS)}, ${by.kind === 'key' ? by.expiresAt : null}::timestamptz))
      returning *)
    select ${columns(sql)} from made as invitations left join users inviter on inviter.id = invited_by`;
  if (made === undefined) throw new Error('the row that was just inserted');
  return made;
}

/** For what an address is invited to an organisation. The rows are locked until the commit. */
async function holdOpen(
  sql: Transaction,
  { organisationId, email, now }: OfAddress,
): Promise<Role[]> {
  const rows = await sql<{ role: Role }[]>`
    select role from invitations
    where organisation_id = ${organisationId} and ${isEmailOf(sql, 'email', email)}
      and ${open(sql, now)} for update`;
  return rows.map(({ role }) => role);
}

export async function listInvitations(
  sql: Executor,
  organisationId: string,
  page: Page,
): Promise<InvitationRecord[]> {
  return sql<InvitationRecord[]>`
    select ${columns(sql)} from invitations left join users inviter on inviter.id = invited_by
    where organisation_id = ${organisationId} ${pageOf(sql, 'invitations', page)}`;
}

/** Its row is locked until the commit. */
export async function holdInvitation(
  sql: Transaction,
  organisationId: string,
  id: string,
): Promise<InvitationRecord | null> {
  if (!isUuid(id)) return null;
  const [found] = await sql<InvitationRecord[]>`
    select ${columns(sql)} from invitations left join users inviter on inviter.id = invited_by
    where organisation_id = ${organisationId} and invitations.id = ${id} for update of invitations`;
  return found ?? null;
}

/** A second time changes nothing. */
export async function revokeInvitation(
  sql: Executor,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<void> {
  await sql`
    update invitations set revoked_at = ${new Date(now)}
    where id = ${id} and accepted_at is null and revoked_at is null`;
}

/**
 * The open ones that a user has made for these roles; in every organisation unless one is named.
 * How many.
 */
export async function revokeInvitationsBy(
  sql: Executor,
  by: {
    readonly userId: string;
    readonly organisationId?: string;
    readonly roles: readonly Role[];
    readonly now: number;
  },
): Promise<number> {
  const { userId, organisationId, roles, now } = by;
  const where = organisationId === undefined ? sql`` : sql`and organisation_id = ${organisationId}`;
  const ended = await sql`
    update invitations set revoked_at = ${new Date(now)}
    where invited_by = ${userId} and role = any(${[...roles]}) and ${open(sql, now)} ${where}`;
  return ended.count;
}

/** The open ones of a key end with it, at this time. */
export async function expireInvitationsOf(
  sql: Executor,
  { keyId, at }: { readonly keyId: string; readonly at: number },
): Promise<void> {
  await sql`
    update invitations set expires_at = least(expires_at, ${new Date(at)}::timestamptz)
    where invited_by_key = ${keyId} and accepted_at is null and revoked_at is null`;
}

/** The open ones of a key that is revoked. */
export async function revokeInvitationsOf(
  sql: Executor,
  { keyId, now }: { readonly keyId: string; readonly now: number },
): Promise<void> {
  await sql`
    update invitations set revoked_at = ${new Date(now)}
    where invited_by_key = ${keyId} and ${open(sql, now)}`;
}

type Named =
  /** By its link. */
  | { readonly token: string }
  /** By its id, by the user whom it is for: one whose address is proven. */
  | { readonly id: string; readonly userId: string };

/** null where it is unknown, over, accepted or withdrawn. */
export async function findOpenInvitation(
  sql: Executor,
  named: Named,
  now: number,
): Promise<OpenInvitation | null> {
  const [found] = await readOpen(sql, named, { now, lock: sql`` });
  return found ?? null;
}

/** The same; its row is locked until the commit. */
export async function holdOpenInvitation(
  sql: Transaction,
  named: Named,
  now: number,
): Promise<OpenInvitation | null> {
  const [found] = await readOpen(sql, named, { now, lock: sql`for update of invitations` });
  return found ?? null;
}

/** Those for a user, in any organisation; none while the address is not proven. */
export async function listOpenInvitations(
  sql: Executor,
  userId: string,
  now: number,
): Promise<OpenInvitation[]> {
  return sql<OpenInvitation[]>`
    ${openColumns(sql)} where ${isForUser(sql, userId)} and ${open(sql, now)}
    order by invitations.id desc limit 100`;
}

function isForUser(sql: Executor, userId: string) {
  return sql`lower(invitations.email collate "C") = (
    select lower(u.email collate "C") from users u
    where u.id = ${userId} and u.email_proven_at is not null)`;
}

export async function acceptInvitation(
  sql: Executor,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<void> {
  await sql`update invitations set accepted_at = ${new Date(now)} where id = ${id}`;
}

function openColumns(sql: Executor) {
  return sql`
    select ${columns(sql)}, o.id as "organisationId", coalesce(s.name, o.name) as "organisationName"
    from invitations join organisations o on o.id = invitations.organisation_id
    left join organisation_settings s on s.organisation_id = o.id and s.mode = 'live'
    left join users inviter on inviter.id = invited_by`;
}

async function readOpen(
  sql: Executor,
  named: Named,
  { now, lock }: { readonly now: number; readonly lock: ReturnType<Executor> },
): Promise<OpenInvitation[]> {
  if ('token' in named ? !isToken(named.token) : !isUuid(named.id)) return [];
  const which =
    'token' in named
      ? sql`hash = ${hashKey(named.token)}`
      : sql`invitations.id = ${named.id} and ${isForUser(sql, named.userId)}`;
  return sql<OpenInvitation[]>`${openColumns(sql)} where ${which} and ${open(sql, now)} ${lock}`;
}
