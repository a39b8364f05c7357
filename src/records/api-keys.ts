import type { Mode, Tenant } from '../../ledger/kernel/tenant.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import { hashKey, newKey } from '../platform/crypto/keys.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { findRoom } from './capacity.ts';
import { expireInvitationsOf, revokeInvitationsOf } from './invitations.ts';
import { type Page, pageOf } from './page.ts';
import { revokePortalTokensOf } from './portal-tokens.ts';

/** A key belongs to one organisation or to one group. */
export type KeyOwner =
  | { readonly kind: 'organisation'; readonly organisationId: string }
  | { readonly kind: 'group'; readonly groupId: string };

/** What a key may do (src/http/policy.ts). A group's key may do `all`. */
export const KEY_SCOPES = ['all', 'read', 'metering'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export type FoundKey = {
  readonly id: string;
  readonly owner: KeyOwner;
  readonly mode: Mode;
  readonly scope: KeyScope;
  /** Milliseconds; null: never. */
  readonly expiresAt: number | null;
};

export type KeyRecord = {
  readonly id: string;
  readonly name: string | null;
  readonly mode: Mode;
  readonly scope: KeyScope;
  /** null for a key that was made before its end was stored. */
  readonly last4: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  /** null for the command line. */
  readonly createdBy: (KeyMaker & { readonly label: string | null }) | null;
};

/** Who makes a key: another one, or a member. */
export type KeyMaker = { readonly kind: 'key' | 'user'; readonly id: string };

export type NewKey = {
  readonly id: string;
  readonly owner: KeyOwner;
  readonly mode: Mode;
  readonly name?: string | null;
  readonly scope?: KeyScope;
  readonly expiresAt: number | null;
  readonly createdBy?: KeyMaker | null;
  readonly now: number;
};

/** So many keys of an owner and mode that have ended are kept, the last ones. */
const ENDED_MAX = 1000;

/**
 * Makes a key where its owner has room for one more; the ones that are revoked or expired do not
 * count. Returns its text, this one time. `replaced` is a key that ends when this transaction does,
 * and so makes room.
 */
export async function addKey(
  sql: Transaction,
  bounds: Bounds,
  { replaced, ...wanted }: NewKey & { readonly replaced?: string | undefined },
): Promise<string | Full> {
  const { owner, mode, now } = wanted;
  const all = sql`api_keys where ${isOf(sql, owner)} and mode = ${mode}`;
  const other = replaced === undefined ? sql`` : sql`and id <> ${replaced}`;
  const rows = sql`${all} and revoked_at is null
    and (expires_at is null or expires_at > ${new Date(now)}) ${other}`;
  const ownerId = owner.kind === 'organisation' ? owner.organisationId : owner.groupId;
  const asked = { bound: 'apiKeys', owner: `${ownerId} ${mode}`, rows } as const;
  const full = await findRoom(sql, bounds, asked);
  if (full !== null) return full;
  // They end by time or by hand: the earlier of the two is the end.
  await sql`
    delete from api_keys where id in (
      select id from ${all} and (revoked_at is not null or expires_at <= ${new Date(now)})
      order by least(revoked_at, expires_at) desc, id desc offset ${ENDED_MAX})`;
  return insertKey(sql, wanted);
}

function isOf(sql: Executor, owner: KeyOwner) {
  return owner.kind === 'organisation'
    ? sql`organisation_id = ${owner.organisationId}`
    : sql`group_id = ${owner.groupId}`;
}

/** Makes a key, whatever its owner has. Returns its text, this one time. */
export async function insertKey(sql: Transaction, wanted: NewKey): Promise<string> {
  const { id, owner, mode, name = null, scope = 'all', expiresAt, createdBy = null, now } = wanted;
  const key = newKey({ kind: owner.kind, mode });
  await sql`
    insert into api_keys (
      id, organisation_id, group_id, mode, name, scope, hash, last4, created_at, expires_at,
      created_by, created_by_user)
    values (
      ${id},
      ${owner.kind === 'organisation' ? owner.organisationId : null},
      ${owner.kind === 'group' ? owner.groupId : null},
      ${mode}, ${name}, ${scope}, ${hashKey(key)}, ${lastOf(key)}, ${new Date(now)},
      ${expiresAt === null ? null : new Date(expiresAt)},
      ${createdBy?.kind === 'key' ? createdBy.id : null}, ${createdBy?.kind === 'user' ? createdBy.id : null})`;
  return key;
}

/** The last characters of a key, by which people tell it from others. */
function lastOf(key: string): string {
  return key.slice(-4);
}

/**
 * The keys with these hashes (hexadecimal), without revoked ones. The caller checks the expiry,
 * each time.
 */
export async function findKeys(
  sql: Executor,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, FoundKey>> {
  const rows = await sql<
    {
      hash: string;
      id: string;
      organisation_id: string | null;
      group_id: string | null;
      mode: Mode;
      scope: KeyScope;
      expires_at: Date | null;
    }[]
  >`
    select encode(hash, 'hex') as hash, id, organisation_id, group_id, mode, scope, expires_at
    from api_keys
    where hash = any(array(select decode(given, 'hex') from unnest(${[...hashes]}::text[]) given))
      and revoked_at is null`;
  return new Map(
    rows.map(({ hash, id, mode, scope, expires_at: expiresAt, ...row }) => [
      hash,
      {
        id,
        mode,
        scope,
        owner: ownerOf(row.organisation_id, row.group_id),
        expiresAt: expiresAt?.getTime() ?? null,
      },
    ]),
  );
}

/** Of these keys the ones that are not revoked, and when they expire; null: never. */
export async function findKeyEnds(
  sql: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  const rows = await sql<{ id: string; expires_at: Date | null }[]>`
    select id, expires_at from api_keys where id = any(${[...ids]}::uuid[]) and revoked_at is null`;
  return new Map(rows.map((row) => [row.id, row.expires_at?.getTime() ?? null]));
}

function ownerOf(organisationId: string | null, groupId: string | null): KeyOwner {
  if (organisationId !== null) return { kind: 'organisation', organisationId };
  // A constraint of the table: one of the two is set.
  return { kind: 'group', groupId: groupId ?? '' };
}

/**
 * Whether the key exists. The invitations and the links to the portal that it made end. A second
 * revocation changes nothing.
 */
export async function revokeKey(
  sql: Transaction,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<boolean> {
  const rows = await sql`
    update api_keys set revoked_at = coalesce(revoked_at, ${new Date(now)})
    where id = ${id} returning id`;
  if (rows.length === 0) return false;
  await revokeInvitationsOf(sql, { keyId: id, now });
  await revokePortalTokensOf(sql, { keyId: id, now });
  await notifyChange(sql, 'api_key', id);
  return true;
}

/**
 * Of these keys the tenant's own, by id. Until the transaction ends nobody else revokes, rotates or
 * uses up one of them. They are locked in the order of their ids: two that hold the same wait, and
 * do not meet.
 */
export async function holdKeys(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeyRecord>> {
  const rows = await sql<KeyRecord[]>`
    select ${columns(sql)} from api_keys
    where id = any(${[...ids]}::uuid[]) and organisation_id = ${organisationId} and mode = ${mode}
    order by id for no key update`;
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * When what a key makes now ends: with it, or with the last of those that took its place; null:
 * never. 'ended': the key opens nothing any more. Until the transaction ends none of them is
 * revoked.
 */
export async function endToKeep(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<Date | null | 'ended'> {
  type Row = Pick<KeyRecord, 'id' | 'expiresAt' | 'revokedAt'>;
  const line = await sql<Row[]>`
    select id, expires_at as "expiresAt", revoked_at as "revokedAt" from api_keys
    where organisation_id = ${organisationId} and mode = ${mode} and id = any(array(
      with recursive line as (
        select ${id}::uuid as id
        union select k.replaced_by from line join api_keys k on k.id = line.id
        where k.replaced_by is not null)
      select id from line))
    order by id for share`;
  const live = line.filter((key) => isLive(key, now));
  if (!live.some((key) => key.id === id)) return 'ended';
  const ends = live.map(({ expiresAt }) => expiresAt?.getTime() ?? Infinity);
  const last = Math.max(...ends);
  return last === Infinity ? null : new Date(last);
}

/** Whether the key opens anything at this time. */
export function isLive(
  { revokedAt, expiresAt }: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>,
  now: number,
): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > now);
}

/**
 * Ends a key at a time, unless it ends sooner, and the invitations that it made. Its links to the
 * portal stay: the key `by` answers for them.
 */
export async function replaceKey(
  sql: Transaction,
  { id, by, at }: { readonly id: string; readonly by: string; readonly at: number },
): Promise<void> {
  await sql`
    update api_keys set replaced_by = ${by}, expires_at = least(expires_at, ${new Date(at)}::timestamptz)
    where id = ${id}`;
  await expireInvitationsOf(sql, { keyId: id, at });
  await notifyChange(sql, 'api_key', id);
}

/** Of an organisation in both modes, for the command line. */
export async function listKeys(sql: Executor, organisationId: string): Promise<KeyRecord[]> {
  return sql<KeyRecord[]>`
    select ${columns(sql)} from api_keys where organisation_id = ${organisationId} order by id`;
}

export async function listKeysOf(
  sql: Executor,
  { organisationId, mode }: Tenant,
  page: Page,
): Promise<KeyRecord[]> {
  return sql<KeyRecord[]>`
    select ${columns(sql)} from api_keys
    where organisation_id = ${organisationId} and mode = ${mode} ${pageOf(sql, 'apiKeys', page)}`;
}

function columns(sql: Executor) {
  return sql`id, name, mode, scope, last4, created_at as "createdAt", expires_at as "expiresAt",
    last_used_at as "lastUsedAt", revoked_at as "revokedAt",
    case
      when created_by_user is not null then jsonb_build_object('kind', 'user', 'id', created_by_user,
        'label', (select u.email from users u where u.id = created_by_user))
      when created_by is not null then jsonb_build_object('kind', 'key', 'id', created_by,
        'label', (select coalesce(m.name, m.last4) from api_keys m where m.id = api_keys.created_by))
    end as "createdBy"`;
}

/**
 * Several nodes write it; the later time wins. Locked in the order of their ids, as `holdKeys`
 * does.
 */
export async function markKeysUsed(
  sql: Executor,
  { ids, now }: { readonly ids: readonly string[]; readonly now: number },
): Promise<void> {
  await sql`
    with held as (
      select id from api_keys where id = any(${[...ids]}::uuid[]) order by id for no key update)
    update api_keys k set last_used_at = greatest(last_used_at, ${new Date(now)})
    from held where k.id = held.id`;
}
