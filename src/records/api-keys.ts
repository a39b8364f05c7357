import type { Mode } from '../../ledger/kernel/tenant.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import { hashKey, newKey } from '../platform/crypto/keys.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { findRoom } from './capacity.ts';

/** A key belongs to one organisation or to one group. */
export type KeyOwner =
  | { readonly kind: 'organisation'; readonly organisationId: string }
  | { readonly kind: 'group'; readonly groupId: string };

export type FoundKey = {
  readonly id: string;
  readonly owner: KeyOwner;
  readonly mode: Mode;
  /** Milliseconds; null: never. */
  readonly expiresAt: number | null;
};

export type ListedKey = {
  readonly id: string;
  readonly mode: Mode;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
};

/**
 * null where the owner may have one more, until this transaction ends. Revoked and expired keys do
 * not count.
 */
export function findRoomForKey(
  sql: Transaction,
  bounds: Bounds,
  { owner, mode, now }: { readonly owner: KeyOwner; readonly mode: Mode; readonly now: number },
): Promise<Full | null> {
  const isOf =
    owner.kind === 'organisation'
      ? sql`organisation_id = ${owner.organisationId}`
      : sql`group_id = ${owner.groupId}`;
  const rows = sql`api_keys where ${isOf} and mode = ${mode} and revoked_at is null
    and (expires_at is null or expires_at > ${new Date(now)})`;
  const id = owner.kind === 'organisation' ? owner.organisationId : owner.groupId;
  return findRoom(sql, bounds, { bound: 'apiKeys', owner: `${id} ${mode}`, rows });
}

/** Returns the key, this one time. */
export async function insertKey(
  sql: Transaction,
  options: {
    readonly id: string;
    readonly owner: KeyOwner;
    readonly mode: Mode;
    readonly expiresAt: number | null;
    readonly now: number;
  },
): Promise<string> {
  const { id, owner, mode, expiresAt, now } = options;
  const key = newKey({ kind: owner.kind, mode });
  await sql`
    insert into api_keys (id, organisation_id, group_id, mode, hash, created_at, expires_at)
    values (
      ${id},
      ${owner.kind === 'organisation' ? owner.organisationId : null},
      ${owner.kind === 'group' ? owner.groupId : null},
      ${mode}, ${hashKey(key)}, ${new Date(now)},
      ${expiresAt === null ? null : new Date(expiresAt)})`;
  await notifyChange(sql, 'api_key', id);
  return key;
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
      expires_at: Date | null;
    }[]
  >`
    select encode(hash, 'hex') as hash, id, organisation_id, group_id, mode, expires_at from api_keys
    where hash = any(array(select decode(given, 'hex') from unnest(${[...hashes]}::text[]) given))
      and revoked_at is null`;
  return new Map(
    rows.map(({ hash, id, mode, expires_at: expiresAt, ...row }) => [
      hash,
      {
        id,
        mode,
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

/** Whether the key exists. A second revocation changes nothing. */
export async function revokeKey(
  sql: Transaction,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<boolean> {
  const rows = await sql`
    update api_keys set revoked_at = coalesce(revoked_at, ${new Date(now)})
    where id = ${id} returning id`;
  if (rows.length === 0) return false;
  await notifyChange(sql, 'api_key', id);
  return true;
}

export async function listKeys(sql: Executor, organisationId: string): Promise<ListedKey[]> {
  return sql<ListedKey[]>`
    select id, mode, created_at as "createdAt", expires_at as "expiresAt",
      revoked_at as "revokedAt", last_used_at as "lastUsedAt"
    from api_keys where organisation_id = ${organisationId} order by id`;
}

/** Several nodes write it; the later time wins. */
export async function markKeysUsed(
  sql: Executor,
  { ids, now }: { readonly ids: readonly string[]; readonly now: number },
): Promise<void> {
  await sql`
    update api_keys set last_used_at = greatest(last_used_at, ${new Date(now)})
    where id = any(${[...ids]}::uuid[])`;
}
