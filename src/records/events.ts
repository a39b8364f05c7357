import type { Executor, Json, Transaction } from '../platform/postgres/postgres.ts';
import type { Mode, Tenant } from '../../ledger/kernel/tenant.ts';
import { type Page, pageOf } from './page.ts';
import { tell } from '../platform/postgres/tell.ts';
import { isUuid } from './uuid.ts';

/** The catalog: the contract's (docs/spec/contract.md), and then those that are ours. */
export const EVENT_TYPES = [
  'payment.succeeded',
  'payment.failed',
  'payment.errored',
  'payment.refunded',
  'payment.refund_failed',
  'invoice.created',
  'invoice.updated',
  'subscription.created',
  'subscription.updated',
  'subscription.canceled',
  'subscription.expired',
  'subscription.trial_ended',
  'customer.created',
  'customer.updated',
  'subscription.overdue_changed',
  'subscription.blocked',
  'tag.created',
  'tag.deleted',
  'custom_field.created',
  'custom_field.deleted',
  'organization.config_changed',
  'entitlement.granted',
  'entitlement.exhausted',
  'usage.recorded',
  'customer.spend_cap_reached',
  'payment.disputed',
  'alert.triggered',
  'alert.recovered',
  'auto_topup.succeeded',
  'auto_topup.failed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const OBJECT_TYPES = [
  'PAYMENT',
  'SUBSCRIPTION',
  'INVOICE',
  'CUSTOMER',
  'TAG',
  'CUSTOM_FIELD',
  'ORGANIZATION',
  'ENTITLEMENT',
  'USAGE',
] as const;
export type ObjectType = (typeof OBJECT_TYPES)[number];

/**
 * An entry of the outbox, written in the transaction that made it true
 * (docs/spec/events.md#envelope).
 */
export type NewEvent = {
  readonly id: string;
  readonly type: EventType;
  readonly objectType: ObjectType;
  readonly objectId: string;
  readonly accountId: string | null;
  /** 1, 2, 3 … for each object. */
  readonly sequence: bigint;
  readonly at: Date;
  /** The type's own fields; what all events carry is added by `envelopeOf`. */
  readonly data: Json;
};

export type EventRecord = Omit<NewEvent, 'data'> &
  Tenant & { readonly data: Readonly<Record<string, unknown>> };

/** An event as it leaves: the same fields, byte for byte, over REST and in a webhook. */
export type EventEnvelope = {
  readonly id: string;
  readonly type: EventType;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>> & {
    readonly id: string;
    readonly eventType: EventType;
    readonly objectId: string;
    readonly objectType: ObjectType;
    readonly accountId: string | null;
    readonly organizationId: string;
    readonly timestamp: string;
    readonly mode: Mode;
    readonly sequence: number;
  };
};

/**
 * The body of a webhook is JSON.stringify of this, and its signature is of that body. So it is the
 * same bytes at each attempt, in each process and after each deploy: a function of the row, which
 * never changes after the commit. jsonb orders its keys by itself; the fields that all events have
 * come after them. test/http/events/envelopes.jsonl pins it.
 */
export function envelopeOf(event: EventRecord): EventEnvelope {
  const { id, type } = event;
  const timestamp = event.at.toISOString();
  return {
    id,
    type,
    timestamp,
    data: {
      // First, so that a field of the type never replaces one that all events have.
      ...event.data,
      id,
      eventType: type,
      objectId: event.objectId,
      objectType: event.objectType,
      accountId: event.accountId,
      organizationId: event.organisationId,
      timestamp,
      mode: event.mode,
      sequence: Number(event.sequence),
    },
  };
}

const columns = (sql: Executor) => sql`
  id, organisation_id as "organisationId", mode, type, object_type as "objectType", object_id as "objectId",
  account_id as "accountId", sequence, at, data`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  organisation_id = ${organisationId} and mode = ${mode}`;

export async function insertEvent(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  event: NewEvent & {
    /** A sample: the one endpoint that it is for. */
    readonly endpointId?: string;
  },
): Promise<void> {
  await sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, account_id,
      sequence, at, data, endpoint_id)
    values (${event.id}, ${organisationId}, ${mode}, ${event.type}, ${event.objectType},
      ${event.objectId}, ${event.accountId}, ${event.sequence}, ${event.at}, ${sql.json(event.data)},
      ${event.endpointId ?? null})`;
  if (event.endpointId === undefined) tellOfEvents(sql);
  // Its delivery is written with it.
  else tell(sql, 'tollhouse_deliveries', event.endpointId);
}

/** For whoever writes events in a statement of its own. */
export function tellOfEvents(sql: Transaction): void {
  tell(sql, 'tollhouse_events');
}

/** As JSON that becomes a row of `events`. */
export function eventRow(event: Tenant & NewEvent) {
  return {
    id: event.id,
    organisation_id: event.organisationId,
    mode: event.mode,
    type: event.type,
    object_type: event.objectType,
    object_id: event.objectId,
    account_id: event.accountId,
    sequence: String(event.sequence),
    at: event.at.toISOString(),
    data: event.data,
  };
}

/** The events of one transaction, in one statement. */
export async function insertEvents(
  sql: Transaction,
  events: readonly (Tenant & NewEvent)[],
): Promise<void> {
  const rows = events.map(eventRow);
  await sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, account_id, sequence, at, data)
    select id, organisation_id, mode, type, object_type, object_id, account_id, sequence, at, data
    from jsonb_populate_recordset(null::events, ${sql.json(rows)})`;
  tellOfEvents(sql);
}

export async function findEvent(
  sql: Executor,
  scope: Tenant,
  id: string,
): Promise<EventRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<EventRecord[]>`
    select ${columns(sql)} from events where ${inScope(sql, scope)} and id = ${id}`;
  return row ?? null;
}

/**
 * Newest first, without samples; up to one row more than `limit`. `since` is inclusive, `until` is
 * not.
 */
export async function listEvents(
  sql: Executor,
  scope: Tenant,
  options: Page & {
    readonly type?: EventType | undefined;
    readonly objectId?: string | undefined;
    readonly since?: Date | undefined;
    readonly until?: Date | undefined;
  },
): Promise<EventRecord[]> {
  const { type, objectId, since, until } = options;
  // Recorded usage must stay cheap: the index of types leaves it out, and the query must say so.
  const others = type === 'usage.recorded' ? sql`` : sql`and type <> 'usage.recorded'`;
  return sql<EventRecord[]>`
    select ${columns(sql)} from events
    where ${inScope(sql, scope)} and endpoint_id is null
      ${type === undefined ? sql`` : sql`and type = ${type} ${others}`}
      ${objectId === undefined ? sql`` : sql`and object_id = ${objectId}`}
      ${since === undefined ? sql`` : sql`and at >= ${since}`}
      ${until === undefined ? sql`` : sql`and at < ${until}`}
    ${pageOf(sql, objectId === undefined ? 'events' : 'eventsOfObject', options)}`;
}
