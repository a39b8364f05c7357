// Deliveries as merchants see them: what an endpoint is owed of each event, and its attempts.
// Workers claim and settle them; here they are read, and made due again.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { tell } from '../platform/postgres/tell.ts';
import { type EventType, insertEvent, type NewEvent } from './events.ts';
import { type Page, pageOf } from './page.ts';
import { isUuid } from './uuid.ts';
import { type EndpointOwner, endPause, ofOwner } from './webhook-endpoints.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'held', 'exhausted'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export type AttemptRecord = {
  readonly at: Date;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly responseHead: string | null;
};

export type DeliveryRecord = {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly endpointId: string;
  readonly status: DeliveryStatus;
  /** In the order of the attempts. */
  readonly attempts: readonly AttemptRecord[];
  /** null where there is no next attempt. */
  readonly nextAt: Date | null;
};

type Row = Omit<DeliveryRecord, 'attempts'>;

/** Why nothing can be sent again. */
export type NotSent = 'in_flight' | 'endpoint_disabled' | 'endpoint_deleted';

/** A replay takes as long as it needs: a month of a busy endpoint is millions of rows. */
const REPLAY_MS_MAX = 15 * 60_000;

const columns = (sql: Executor) => sql`
  deliveries.id, deliveries.event_id as "eventId", deliveries.event_type as "eventType", deliveries.endpoint_id as "endpointId", deliveries.status,
  case when deliveries.status = 'pending' then deliveries.next_at end as "nextAt"`;

/** By id. The endpoint may be deleted. */
export async function findDelivery(
  sql: Executor,
  owner: EndpointOwner,
  id: string,
): Promise<DeliveryRecord | null> {
  if (!isUuid(id)) return null;
  const rows = await sql<Row[]>`
    select ${columns(sql)} from deliveries
    where id = ${id}
      and exists (select from webhook_endpoints w where w.id = deliveries.endpoint_id and ${ofOwner(sql, owner)})`;
  const [delivery] = await withAttempts(sql, rows);
  return delivery ?? null;
}

/** Deliveries of the caller's own endpoint, newest first; up to one row more than `limit`. */
export async function listDeliveries(
  sql: Executor,
  endpointId: string,
  options: Page & {
    readonly status?: DeliveryStatus | undefined;
    readonly eventType?: EventType | undefined;
  },
): Promise<DeliveryRecord[]> {
  const { status, eventType } = options;
  const rows = await sql<Row[]>`
    select ${columns(sql)} from deliveries
    where endpoint_id = ${endpointId}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${status === 'held' || status === 'exhausted' ? sql`and status in ('held', 'exhausted')` : sql``}
      ${eventType === undefined ? sql`` : sql`and event_type = ${eventType}`}
    ${pageOf(sql, 'deliveries', options)}`;
  return withAttempts(sql, rows);
}

/** Makes it due now. A settled one begins its schedule again; a pending one goes on in its own. */
export async function retryDelivery(
  sql: Transaction,
  owner: EndpointOwner,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<DeliveryRecord | 'not_found' | NotSent> {
  if (!isUuid(id)) return 'not_found';
  const [found] = await sql<
    { endpointId: string; isInFlight: boolean; isDisabled: boolean; isDeleted: boolean }[]
  >`
    select d.endpoint_id as "endpointId", d.worker is not null as "isInFlight", w.status = 'disabled' as "isDisabled",
      w.deleted_at is not null as "isDeleted"
    from deliveries d join (select * from webhook_endpoints where ${ofOwner(sql, owner)}) w on w.id = d.endpoint_id
    where d.id = ${id} for update of d`;
  if (found === undefined) return 'not_found';
  if (found.isDeleted) return 'endpoint_deleted';
  if (found.isDisabled) return 'endpoint_disabled';
  if (found.isInFlight) return 'in_flight';
  const rows = await sql<Row[]>`
    update deliveries set status = 'pending', next_at = ${new Date(now)}, settled_at = null,
      attempts = case when status = 'pending' then attempts else 0 end,
      first_at = case when status = 'pending' then first_at end
    where id = ${id} returning ${columns(sql)}`;
  await wake(sql, found.endpointId);
  const [delivery] = await withAttempts(sql, rows);
  return delivery ?? 'not_found';
}

export type ReplayRange = {
  /** Inclusive. */
  readonly since: Date;
  /** Exclusive. */
  readonly until: Date;
  readonly types: readonly EventType[];
};

/**
 * Makes every event of the range due at the endpoint, whether it was sent before or never owed.
 * Returns exactly how many are sent. Without deliveries that a worker is sending now, events that
 * the relay has not passed yet, and samples.
 */
export async function replay(
  sql: Transaction,
  scope: Tenant,
  options: ReplayRange & { readonly endpointId: string; readonly now: number },
): Promise<number> {
  const { endpointId } = options;
  const at = new Date(options.now);
  await sql`select set_config('statement_timeout', ${String(REPLAY_MS_MAX)}, true)`;
  // Until this is committed, retention deletes none of the events.
  await sql`select since from retention where kind = 'events' for key share`;
  const [row] = await sql<{ count: bigint }[]>`
    with chosen as materialized (
      select id, type from events e where ${inRange(sql, scope, options)}
    ), again as (
      update deliveries d set status = 'pending', attempts = 0, first_at = null, next_at = ${at}, settled_at = null
      from chosen where d.event_id = chosen.id and d.endpoint_id = ${endpointId} and d.worker is null
      returning 1
    ), made as (
      insert into deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
      select uuidv7(), ${endpointId}, chosen.id, chosen.type, 'pending', ${at}, ${at} from chosen
      where not exists (select from deliveries d where d.event_id = chosen.id and d.endpoint_id = ${endpointId})
      order by chosen.id
      on conflict do nothing
      returning event_id
    ), owed as (
      -- In the order of the events, so that two replays never deadlock.
      insert into event_fanouts as f (event_id, owed, written_at) select event_id, 1, ${at} from made order by event_id
      on conflict (event_id) do update set owed = f.owed + 1
    )
    select (select count(*) from again) + (select count(*) from made) as count`;
  await wake(sql, endpointId);
  return Number(row?.count ?? 0n);
}

/** How many events `replay` would make due. */
export async function countReplay(
  sql: Executor,
  scope: Tenant,
  { endpointId, ...range }: ReplayRange & { readonly endpointId: string },
): Promise<number> {
  const [row] = await sql<{ count: bigint }[]>`
    select count(*) from events e
    where ${inRange(sql, scope, range)} and not exists (
      select from deliveries d where d.event_id = e.id and d.endpoint_id = ${endpointId} and d.worker is not null)`;
  return Number(row?.count ?? 0n);
}

/**
 * Writes an event for one endpoint alone. It is owed to that one at once, whatever types it
 * subscribes to.
 */
export async function sendSample(
  sql: Transaction,
  scope: Tenant,
  { event, endpointId }: { readonly event: NewEvent; readonly endpointId: string },
): Promise<DeliveryRecord | null> {
  await insertEvent(sql, scope, { ...event, endpointId });
  await endPause(sql, endpointId);
  const rows = await sql<Row[]>`
    select ${columns(sql)} from deliveries where event_id = ${event.id} and endpoint_id = ${endpointId}`;
  const [delivery] = await withAttempts(sql, rows);
  return delivery ?? null;
}

const inRange = (
  sql: Executor,
  { organisationId, mode }: Tenant,
  { since, until, types }: ReplayRange,
) => sql`
  e.organisation_id = ${organisationId} and e.mode = ${mode} and e.at >= ${since} and e.at < ${until}
  and e.type = any(${[...types]}) and e.endpoint_id is null and exists (select from event_fanouts where event_id = e.id)`;

async function wake(sql: Transaction, endpointId: string): Promise<void> {
  await endPause(sql, endpointId);
  tell(sql, 'tollhouse_deliveries', endpointId);
}

/**
 * The last attempts of each delivery. A schedule has 19, and a merchant may ask for any number
 * more.
 */
const ATTEMPTS_SHOWN = 50;

async function withAttempts(sql: Executor, rows: readonly Row[]): Promise<DeliveryRecord[]> {
  if (rows.length === 0) return [];
  const attempts = await sql<(AttemptRecord & { deliveryId: string })[]>`
    select a.delivery_id as "deliveryId", a.at, a.status_code as "statusCode", a.error, a.duration_ms as "durationMs",
      a.response_head as "responseHead"
    from unnest(${rows.map((row) => row.id)}::uuid[]) as d (id) cross join lateral (
      select * from delivery_attempts where delivery_id = d.id order by at desc limit ${ATTEMPTS_SHOWN}
    ) a
    order by a.delivery_id, a.at`;
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt.deliveryId);
  return rows.map((row) => ({ ...row, attempts: byDelivery.get(row.id) ?? [] }));
}
