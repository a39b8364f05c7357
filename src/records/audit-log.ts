// The rows of the audit log. The database takes no change of one.
import type { Mode, Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor, Json } from '../platform/postgres/postgres.ts';
import { type Cursor, type Page, pageOf } from './page.ts';

export const ACTOR_KINDS = ['user', 'key', 'customer', 'command_line'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

type State = Readonly<Record<string, Json>> | null;

export type AuditRecord = {
  readonly id: string;
  /** null: both. */
  readonly mode: Mode | null;
  readonly at: Date;
  readonly actorKind: ActorKind;
  readonly actorId: string | null;
  readonly actorLabel: string;
  readonly sessionId: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  readonly operation: string;
  readonly objectType: string;
  readonly objectId: string | null;
  readonly status: number | null;
  readonly before: State;
  readonly after: State;
};

export type NewAuditRecord = Omit<AuditRecord, 'actorLabel'> & {
  readonly organisationId: string | null;
  readonly groupId: string | null;
  /** null for a key and a customer: what they are called is looked up. */
  readonly actorLabel: string | null;
  /**
   * The id where another action has this one: its Idempotency-Key was used a day before or earlier,
   * and forgotten since. null where the row may be there already.
   */
  readonly otherId: string | null;
};

/** Nothing where the row is there. */
export async function insertAuditRecord(sql: Executor, row: NewAuditRecord): Promise<void> {
  const { id, otherId, actorId } = row;
  const json = (state: State) => (state === null ? null : sql.json(state));
  await sql`
    insert into audit_log (id, organisation_id, group_id, mode, at, actor_kind, actor_id, actor_label, session_id, address,
      user_agent, request_id, operation, object_type, object_id, status, before, after)
    select
      case when ${otherId}::uuid is not null and exists (
        select from audit_log where id = ${id} and at < ${row.at}::timestamptz - interval '1 day')
      then ${otherId}::uuid else ${id}::uuid end,
      ${row.organisationId}, ${row.groupId}, ${row.mode}, ${row.at}, ${row.actorKind}, ${actorId},
      coalesce(${row.actorLabel}::text, (select concat_ws(' ', name, '…' || last4) from api_keys where id = ${actorId}),
        (select coalesce(email, external_customer_id, name) from customers where id = ${actorId}), ''),
      ${row.sessionId}, ${row.address}, ${row.userAgent}, ${row.requestId}, ${row.operation}, ${row.objectType},
      ${row.objectId}, ${row.status}, ${json(row.before)}, ${json(row.after)}
    on conflict (id) do nothing`;
}

/**
 * Rows of both modes: how many a user has of one operation since then, in one organisation or in
 * none.
 */
export async function countAuditRecordsOf(
  sql: Executor,
  of: {
    readonly organisationId: string | null;
    readonly actorId: string;
    readonly operation: string;
    readonly since: Date;
  },
): Promise<number> {
  const { organisationId, actorId, operation, since } = of;
  const where =
    organisationId === null
      ? sql`organisation_id is null`
      : sql`organisation_id = ${organisationId}`;
  const [row] = await sql<{ count: bigint }[]>`
    select count(*) from audit_log where ${where} and actor_id = ${actorId} and at >= ${since}
      and mode is distinct from 'test' and operation = ${operation}`;
  return Number(row?.count ?? 0n);
}

/** What a user has refunded since then, as a decimal in major units, whatever the currencies. */
export async function sumRefundsOf(
  sql: Executor,
  { organisationId, mode }: Tenant,
  { userId, since }: { readonly userId: string; readonly since: Date },
): Promise<string> {
  // Written out, as below.
  const other = mode === 'test' ? sql`'live'` : sql`'test'`;
  const [row] = await sql<{ sum: string }[]>`
    select coalesce(sum((after ->> 'amount')::numeric), 0)::text as sum from audit_log
    where organisation_id = ${organisationId} and actor_id = ${userId} and at >= ${since}
      and mode is distinct from ${other} and mode = ${mode} and operation = 'refundPayment'`;
  return row?.sum ?? '0';
}

export type Owner = Pick<NewAuditRecord, 'organisationId' | 'groupId' | 'mode'>;

/** Whose a thing is that a command names by its id; null where it is of the installation. */
export async function findOwner(sql: Executor, id: string): Promise<Owner | null> {
  const [row] = await sql<Owner[]>`
    select organisation_id as "organisationId", group_id as "groupId", mode from api_keys where id = ${id}
    union all select organisation_id, null, mode from portal_tokens where id = ${id}
    union all select id, null, null from organisations where id = ${id}
    union all select null, id, null from groups where id = ${id}
    limit 1`;
  return row ?? null;
}

export type AuditFilter = {
  readonly actorId: string | undefined;
  readonly actorKind: ActorKind | undefined;
  readonly operation: string | undefined;
  readonly objectId: string | undefined;
  readonly from: Date | null;
  readonly to: Date | null;
};

/** Times of the log have milliseconds, so a Date has all of one. */
export const auditPlaceOf = ({ id, at }: AuditRecord): Cursor => ({ id, at: at.toISOString() });

/** Newest first; up to one row more than `limit`. From `from` on, before `to`. */
export function listAuditRecords(
  sql: Executor,
  { organisationId, mode }: Tenant,
  options: Page & AuditFilter,
): Promise<AuditRecord[]> {
  const { actorId, actorKind, operation, objectId, from, to } = options;
  const only = (column: string, value: string | undefined) =>
    value === undefined ? sql`` : sql`and ${sql(`audit_log.${column}`)} = ${value}`;
  // Written out, because a parameter does not tell the planner which index has the rows.
  const other = mode === 'test' ? sql`'live'` : sql`'test'`;
  return sql<AuditRecord[]>`
    select id, mode, at, actor_kind as "actorKind", actor_id as "actorId", actor_label as "actorLabel",
      session_id as "sessionId", address, user_agent as "userAgent", request_id as "requestId", operation,
      object_type as "objectType", object_id as "objectId", status, before, after
    from audit_log where organisation_id = ${organisationId} and mode is distinct from ${other}
      ${only('actor_id', actorId)} ${only('actor_kind', actorKind)} ${only('operation', operation)}
      ${only('object_id', objectId)}
      ${from === null ? sql`` : sql`and at >= ${from}`} ${to === null ? sql`` : sql`and at < ${to}`}
    ${pageOf(sql, 'auditLog', options)}`;
}
