// Creates an organisation or a group with its first keys, in one transaction.
import type { Ids } from '../../ledger/ports.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { insertKey, type KeyOwner } from '../records/api-keys.ts';
import { insertMember } from '../records/members.ts';
import {
  anyOrganisationExists,
  groupExists,
  insertGroup,
  insertOrganisation,
  lockGroupOf,
  moveToGroup,
} from '../records/organisations.ts';
import { insertSignInLink } from '../records/sign-in-links.ts';
import { ensureUser } from '../records/users.ts';

export type Setting = { readonly sql: Sql; readonly ids: Ids; readonly now: number };

export type FirstKeys = { readonly id: string; readonly testKey: string; readonly liveKey: string };

const DEMO_NAME = 'Demo';
/** Nobody has this address: its domain is kept for examples (RFC 2606). */
const DEMO_OWNER = { email: 'owner@example.com', name: 'Demo owner' };
const DEMO_LOCK = 7_206_520;

export async function createOrganisation(
  { sql, ids, now }: Setting,
  { name, groupId }: { readonly name: string; readonly groupId: string | null },
): Promise<FirstKeys | 'no_such_group'> {
  return sql.begin(async (transaction) => {
    if (groupId !== null && !(await groupExists(transaction, groupId))) return 'no_such_group';
    const id = ids.next();
    await insertOrganisation(transaction, { id, groupId, name, now });
    // The endpoints of the group receive it too.
    if (groupId !== null) await notifyChange(transaction, 'webhook_endpoint', id);
    const owner: KeyOwner = { kind: 'organisation', organisationId: id };
    const key = { owner, expiresAt: null, now };
    const testKey = await insertKey(transaction, { ...key, id: ids.next(), mode: 'test' });
    const liveKey = await insertKey(transaction, { ...key, id: ids.next(), mode: 'live' });
    return { id, testKey, liveKey };
  });
}

/**
 * Moves an organisation into a group, or out of its group. From then on the endpoints of the new
 * group receive its events.
 */
export async function changeGroup(
  { sql, now }: Pick<Setting, 'sql' | 'now'>,
  { id, groupId }: { readonly id: string; readonly groupId: string | null },
): Promise<'changed' | 'no_such_organisation' | 'no_such_group'> {
  return sql.begin(async (transaction) => {
    const found = await lockGroupOf(transaction, id);
    if (found === undefined) return 'no_such_organisation';
    if (groupId !== null && !(await groupExists(transaction, groupId))) return 'no_such_group';
    if (found.groupId === groupId) return 'changed';
    await moveToGroup(transaction, id, { from: found.groupId, to: groupId, now });
    await notifyChange(transaction, 'webhook_endpoint', id);
    return 'changed';
  });
}

export async function createGroup(
  { sql, ids, now }: Setting,
  { name }: { readonly name: string },
): Promise<FirstKeys> {
  return sql.begin(async (transaction) => {
    const id = ids.next();
    await insertGroup(transaction, { id, name, now });
    const key = { owner: { kind: 'group', groupId: id } as const, expiresAt: null, now };
    const testKey = await insertKey(transaction, { ...key, id: ids.next(), mode: 'test' });
    const liveKey = await insertKey(transaction, { ...key, id: ids.next(), mode: 'live' });
    return { id, testKey, liveKey };
  });
}

/** What the first start shows, this one time. */
export type Demo = { readonly testKey: string; readonly signInToken: string };

/**
 * The first start makes a demo organisation, so there is a key to try things with, and an owner who
 * signs in by a link. null if an organisation exists.
 */
export async function createDemoOrganisation(
  setting: Setting & { readonly newToken: () => string },
): Promise<Demo | null> {
  const { sql, ids, now, newToken } = setting;
  return sql.begin(async (transaction) => {
    // Two processes that start on the same empty database make one.
    await transaction`select pg_advisory_xact_lock(${DEMO_LOCK})`;
    if (await anyOrganisationExists(transaction)) return null;
    const organisationId = ids.next();
    await insertOrganisation(transaction, {
      id: organisationId,
      groupId: null,
      name: DEMO_NAME,
      now,
    });
    const owner: KeyOwner = { kind: 'organisation', organisationId };
    const key = { id: ids.next(), owner, mode: 'test', expiresAt: null, now } as const;
    const testKey = await insertKey(transaction, key);
    const wanted = { ...DEMO_OWNER, id: ids.next(), isProven: true, now };
    const { id: userId } = await ensureUser(transaction, wanted);
    const member = { id: ids.next(), organisationId, userId, role: 'owner', now } as const;
    await insertMember(transaction, member);
    const signInToken = newToken();
    const link = { id: ids.next(), token: signInToken, userId, openMax: 1, now };
    await insertSignInLink(transaction, link);
    return { testKey, signInToken };
  });
}
