// Webhook endpoints: an organisation's own, and a group's, which hear the events of every
// organisation in it.
//
// Holds: a secret is stored encrypted, and only its ciphertext leaves this module. A deleted
// endpoint keeps its row for the history of its deliveries, and is never found again.
// src/records/delivery-reconciliation.ts puts its deliveries right after a change.
import { NAMED_EVENTS } from '../../ledger/event.ts';
import type { Mode } from '../../ledger/kernel/tenant.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import type { Executor, Sql, Transaction } from '../platform/postgres/postgres.ts';
import type { KeyOwner } from './api-keys.ts';
import { EVENT_TYPES, type EventType } from './events.ts';
import { ofScope, type Page, pageOf, type Whose } from './page.ts';
import { findRoom } from './capacity.ts';
import { isUuid } from './uuid.ts';

/** The owner: an organisation or a group, in one mode. */
export type EndpointOwner = KeyOwner & { readonly mode: Mode };

export type EndpointStatus = 'enabled' | 'disabled';

/** Types by name, or `*` alone. */
export type Subscription = readonly (EventType | '*')[];

export type EndpointRecord = {
  readonly id: string;
  readonly mode: Mode;
  readonly groupId: string | null;
  readonly url: string;
  readonly eventTypes: Subscription;
  readonly description: string | null;
  readonly status: EndpointStatus;
  /** Why it was disabled, if not by its owner. */
  readonly disabledReason: 'gone' | 'failing' | null;
  /** Since when all attempts have failed. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type NewEndpoint = Pick<
  EndpointRecord,
  'id' | 'url' | 'eventTypes' | 'description' | 'status'
> & {
  /** Encrypted. */
  readonly secret: Buffer;
};

/** What may change; undefined leaves it as it is. */
export type EndpointPatch = {
  readonly [field in 'url' | 'eventTypes' | 'description' | 'status']?:
    | EndpointRecord[field]
    | undefined;
};

const NAMED: readonly EventType[] = NAMED_EVENTS;

/** What an organisation's endpoint hears by default: all but what must be named. */
export const DEFAULT_TYPES: Subscription = EVENT_TYPES.filter((type) => !NAMED.includes(type));

/** What a group's endpoint hears by default: the refund lifecycle (contract). */
export const PARTNER_DEFAULT_TYPES: Subscription = ['payment.refunded', 'payment.refund_failed'];

/** How long a replaced secret still signs, too (docs/spec/events.md#signature). */
const OVERLAP_MS = 24 * 3_600_000;

const columns = (sql: Executor) => sql`
  id, mode, group_id as "groupId", url, event_types as "eventTypes", description, status,
  disabled_reason as "disabledReason", failing_since as "failingSince", created_at as "createdAt",
  updated_at as "updatedAt"`;

/** The rows of `webhook_endpoints` of an owner, with deleted ones. */
export const ofOwner = (sql: Executor, owner: EndpointOwner) =>
  owner.kind === 'organisation'
    ? sql`organisation_id = ${owner.organisationId} and mode = ${owner.mode}`
    : sql`group_id = ${owner.groupId} and mode = ${owner.mode}`;

/** The same, as a list names its owner. */
export function whoseEndpoints(owner: EndpointOwner): Whose {
  return owner.kind === 'organisation'
    ? ofScope(owner)
    : { group_id: owner.groupId, mode: owner.mode };
}

export async function insertEndpoint(
  sql: Transaction,
  owner: EndpointOwner,
  options: { readonly endpoint: NewEndpoint; readonly bounds: Bounds; readonly now: number },
): Promise<EndpointRecord | Full> {
  const { endpoint, bounds, now } = options;
  const { id, url, eventTypes, description, status, secret } = endpoint;
  const at = new Date(now);
  const organisationId = owner.kind === 'organisation' ? owner.organisationId : null;
  const groupId = owner.kind === 'group' ? owner.groupId : null;
  const rows = sql`webhook_endpoints where ${ofOwner(sql, owner)} and deleted_at is null`;
  const ownerName = `${organisationId ?? groupId} ${owner.mode}`;
  const asked = { bound: 'webhookEndpoints', owner: ownerName, rows } as const;
  const full = await findRoom(sql, bounds, asked);
  if (full !== null) return full;
  const [row] = await sql<[EndpointRecord]>`
    insert into webhook_endpoints (id, organisation_id, group_id, mode, url, event_types, description, status, secret,
      created_at, updated_at)
    values (${id}, ${organisationId}, ${groupId}, ${owner.mode}, ${url}, ${[...eventTypes]}, ${description}, ${status},
      ${secret}, ${at}, ${at})
    returning ${columns(sql)}`;
  await notifyChange(sql, 'webhook_endpoint', id);
  return row;
}

export async function findEndpoint(
  sql: Executor,
  owner: EndpointOwner,
  id: string,
): Promise<EndpointRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<EndpointRecord[]>`
    select ${columns(sql)} from webhook_endpoints
    where ${ofOwner(sql, owner)} and deleted_at is null and id = ${id}`;
  return row ?? null;
}

/** Newest first; up to one row more than `limit`. */
export async function listEndpoints(
  sql: Executor,
  owner: EndpointOwner,
  page: Page,
): Promise<EndpointRecord[]> {
  return sql<EndpointRecord[]>`
    select ${columns(sql)} from webhook_endpoints where ${ofOwner(sql, owner)} and deleted_at is null
    ${pageOf(sql, 'webhookEndpoints', page)}`;
}

/**
 * Short, because a worker that has a result waits for it. A new URL, or `enabled`, even again,
 * resets its failures.
 */
export async function updateEndpoint(
  sql: Sql,
  owner: EndpointOwner,
  options: { readonly id: string; readonly patch: EndpointPatch; readonly now: number },
): Promise<EndpointRecord | null> {
  const { id, patch, now } = options;
  if (!isUuid(id)) return null;
  const { url, eventTypes, description, status } = patch;
  const isNewStart = url !== undefined || status === 'enabled';
  const changes = {
    ...(url !== undefined && { url }),
    ...(eventTypes !== undefined && { event_types: [...eventTypes] }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status, disabled_reason: null }),
    ...(isNewStart && { failures: 0, failing_since: null, exhausted: 0, paused_until: null }),
    updated_at: new Date(now),
  };
  return sql.begin(async (transaction) => {
    const [row] = await transaction<EndpointRecord[]>`
      update webhook_endpoints set ${transaction(changes)}
      where ${ofOwner(transaction, owner)} and deleted_at is null and id = ${id}
      returning ${columns(transaction)}`;
    if (row === undefined) return null;
    await notifyChange(transaction, 'webhook_endpoint', id);
    return row;
  });
}

/**
 * The new secret signs from now on, and the old one signs too until the returned time. null without
 * such an endpoint.
 */
export async function replaceSecret(
  sql: Transaction,
  owner: EndpointOwner,
  options: { readonly id: string; readonly secret: Buffer; readonly now: number },
): Promise<Date | null> {
  const { id, secret, now } = options;
  if (!isUuid(id)) return null;
  const until = new Date(now + OVERLAP_MS);
  const { count } = await sql`
    update webhook_endpoints set secret = ${secret}, previous_secret = secret, previous_secret_until = ${until},
      updated_at = ${new Date(now)}
    where ${ofOwner(sql, owner)} and deleted_at is null and id = ${id}`;
  if (count === 0) return null;
  await notifyChange(sql, 'webhook_endpoint', id);
  return until;
}

/** Whether it existed. */
export async function deleteEndpoint(
  sql: Sql,
  owner: EndpointOwner,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<boolean> {
  if (!isUuid(id)) return false;
  return sql.begin(async (transaction) => {
    const { count } = await transaction`
      update webhook_endpoints set deleted_at = ${new Date(now)}
      where ${ofOwner(transaction, owner)} and deleted_at is null and id = ${id}`;
    if (count === 0) return false;
    await notifyChange(transaction, 'webhook_endpoint', id);
    return true;
  });
}

/** Any one of them, to see whether the configured key decrypts it. */
export async function findSealedSecret(
  sql: Executor,
): Promise<{ readonly sealed: Buffer; readonly ownerId: string } | null> {
  const [row] = await sql<{ sealed: Buffer; ownerId: string }[]>`
    select secret as sealed, id as "ownerId" from webhook_endpoints where deleted_at is null limit 1`;
  return row ?? null;
}

/** A person waits for the next delivery, so it ignores the pause of a failing endpoint. */
export async function endPause(sql: Executor, id: string): Promise<void> {
  await sql`
    update webhook_endpoints set paused_until = null where id = ${id} and paused_until is not null`;
}
