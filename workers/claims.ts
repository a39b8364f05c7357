// Claims of due deliveries, in PostgreSQL: a worker claims them, and only that worker settles them.
//
// How it works: a claim writes the worker's id into the rows. A worker that falls silent loses its
// rows (`expireWorkers`); if even that fails, `next_at` makes them due again. One statement settles
// many results.
// Holds: one worker has a delivery at a time, and only its result counts.
import type { Mode } from '../ledger/kernel/tenant.ts';
import { iso } from '../ledger/kernel/iso.ts';
import type { Executor, Sql } from '../src/platform/postgres/postgres.ts';
import type { EventRecord } from '../src/records/events.ts';
import { FAILURES_OPEN } from './health.ts';

/** The endpoint, with its secrets as ciphertext. */
export type Target = {
  readonly endpointId: string;
  readonly url: string;
  readonly mode: Mode;
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly previousSecretUntil: Date | null;
  /** Failures since the last success. */
  readonly failures: number;
  readonly failingSince: Date | null;
};

export type Due = {
  readonly deliveryId: string;
  /** Attempts that counted so far, and when the first of them was made. */
  readonly attempts: number;
  readonly firstAt: Date | null;
  readonly createdAt: Date;
  readonly event: EventRecord;
};

export type Claimed = { readonly target: Target; readonly due: readonly Due[] };

/** One attempt, and the new state of its delivery. */
export type Settlement = {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly status: 'pending' | 'delivered' | 'exhausted' | 'held';
  /** When it is due again, where it is pending. */
  readonly nextAt: number;
  readonly at: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly address: string | null;
  readonly responseHead: string | null;
};

/** When a claim ends if nobody takes it from the worker: well beyond the deadline of an attempt. */
const LEASE_MS = 60_000;
/** How long the answer to a claim may take. */
const ANSWER_MS_MAX = 5000;

/**
 * Claims deliveries that are due at these endpoints, the earliest first; one where an endpoint is
 * only probed. An endpoint that is disabled or paused, or has nothing due, is not in the result.
 */
export async function claim(
  sql: Sql,
  options: {
    readonly asks: readonly { readonly endpointId: string; readonly atMost: number }[];
    readonly worker: string;
    readonly now: number;
  },
): Promise<Map<string, Claimed>> {
  const { asks, worker } = options;
  const [now, until] = [new Date(options.now), new Date(options.now + LEASE_MS)];
  const ids = asks.map(({ endpointId }) => endpointId);
  const rows = await sql<Row[]>`
    with target as (
      select w.*, case when w.failures >= ${FAILURES_OPEN} then 1 else a.at_most end as at_most
      from unnest(${ids}::uuid[], ${asks.map(({ atMost }) => atMost)}::int[]) as a (id, at_most)
      join webhook_endpoints w on w.id = a.id
      where w.status = 'enabled' and w.deleted_at is null and (w.paused_until is null or w.paused_until <= ${now})
    ), due as (
      select d.id from target t cross join lateral (
        select id from deliveries
        where endpoint_id = t.id and status = 'pending' and next_at <= ${now}
        order by next_at limit t.at_most for update skip locked
      ) d
    ), claimed as (
      -- As an array, so that it is planned for few: never with all deliveries.
      update deliveries set worker = ${worker}, next_at = ${until}
      where id = any(array(select id from due))
      returning id, endpoint_id, event_id, attempts, first_at, created_at
    )
    select c.id as "deliveryId", c.attempts, c.first_at as "firstAt", c.created_at as "createdAt", t.id as "endpointId", t.url,
      t.mode, t.secret, t.previous_secret as "previousSecret", t.previous_secret_until as "previousSecretUntil",
      t.failures, t.failing_since as "failingSince",
      e.id as "eventId", e.organisation_id as "organisationId", e.type, e.object_type as "objectType",
      e.object_id as "objectId", e.account_id as "accountId", e.sequence, e.at, e.data
    from claimed c join events e on e.id = c.event_id join target t on t.id = c.endpoint_id`;
  const claimed = new Map<string, { readonly target: Target; readonly due: Due[] }>();
  for (const row of rows) {
    const one = claimed.get(row.endpointId);
    if (one === undefined)
      claimed.set(row.endpointId, { target: targetOf(row), due: [dueOf(row)] });
    else one.due.push(dueOf(row));
  }
  return claimed;
}

type Row = Omit<Due, 'event'> &
  Target &
  Omit<EventRecord, 'id' | 'mode'> & { readonly eventId: string };

function targetOf(row: Row): Target {
  const { endpointId, url, mode, secret, failures, failingSince } = row;
  const { previousSecret, previousSecretUntil } = row;
  return {
    endpointId,
    url,
    mode,
    secret,
    previousSecret,
    previousSecretUntil,
    failures,
    failingSince,
  };
}

function dueOf(row: Row): Due {
  const { deliveryId, attempts, firstAt, createdAt, eventId: id, organisationId, mode, type } = row;
  const { objectType, objectId, accountId, sequence, at, data } = row;
  const about = { objectType, objectId, accountId, sequence, at, data };
  const event = { id, organisationId, mode, type, ...about };
  return { deliveryId, attempts, firstAt, createdAt, event };
}

/**
 * Writes the results and the log of the attempts. Returns the deliveries that the worker had lost:
 * they are unchanged.
 */
export async function settle(
  sql: Executor,
  worker: string,
  settlements: readonly Settlement[],
): Promise<string[]> {
  const column = <T>(of: (settlement: Settlement) => T): T[] => settlements.map(of);
  const lost = await sql<{ id: string }[]>`
    with results as (
      select * from unnest(${column((s) => s.deliveryId)}::uuid[], ${column((s) => s.status)}::text[],
        ${column((s) => iso(s.nextAt))}::text[]::timestamptz[], ${column((s) => iso(s.at))}::text[]::timestamptz[],
        ${column((s) => s.statusCode)}::smallint[], ${column((s) => s.error)}::text[], ${column((s) => s.durationMs)}::int[],
        ${column((s) => s.address)}::text[]::inet[], ${column((s) => s.responseHead)}::text[])
        as r (id, status, next_at, at, status_code, error, duration_ms, address, response_head)
    ), settled as (
      update deliveries d set
        status = r.status, next_at = r.next_at, worker = null, attempts = d.attempts + 1,
        first_at = coalesce(d.first_at, r.at), settled_at = case when r.status = 'pending' then null else r.at end
      from results r where d.id = r.id and d.worker = ${worker}
      returning d.id
    ), logged as (
      insert into delivery_attempts (delivery_id, at, status_code, error, duration_ms, address, response_head)
      -- A database that was restored meanwhile may not have the delivery.
      select id, at, status_code, error, duration_ms, address, response_head from results r
      where exists (select from deliveries d where d.id = r.id)
      on conflict do nothing
    )
    select id from results where id not in (select id from settled)`;
  return lost.map((row) => row.id);
}

/**
 * Endpoints with due deliveries that may be sent. It skips from endpoint to endpoint, however many
 * rows each has.
 */
export async function endpointsDue(sql: Executor, now: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive owed as (
      (select endpoint_id as id from deliveries where status = 'pending' order by endpoint_id limit 1)
      union all
      select (select endpoint_id from deliveries where status = 'pending' and endpoint_id > owed.id
        order by endpoint_id limit 1)
      from owed where owed.id is not null
    )
    select w.id from owed join webhook_endpoints w on w.id = owed.id
    where w.status = 'enabled' and w.deleted_at is null and (w.paused_until is null or w.paused_until <= ${new Date(now)})
      and exists (select from deliveries d
        where d.endpoint_id = w.id and d.status = 'pending' and d.next_at <= ${new Date(now)})`;
  return rows.map((row) => row.id);
}

/**
 * Renews the worker's life sign. False where the worker expired: then it has lost its
 * deliveries.
 */
export async function heartbeat(sql: Executor, worker: string): Promise<boolean> {
  const { count } = await sql`update delivery_workers set seen_at = now() where id = ${worker}`;
  return count === 1;
}

export async function signOn(sql: Executor, worker: string): Promise<void> {
  await sql`insert into delivery_workers (id, seen_at) values (${worker}, now())`;
}

/** Releases all deliveries that the worker still has. */
export async function signOff(sql: Executor, worker: string): Promise<void> {
  await sql`
    with gone as (delete from delivery_workers where id = ${worker})
    update deliveries set worker = null, next_at = now() where worker = ${worker}`;
}

/**
 * Strikes silent workers off, by the database's clock. Their deliveries are due now, and so are
 * those that a worker claimed after it expired.
 */
export async function expireWorkers(sql: Executor, silenceMs: number): Promise<void> {
  await sql`
    with gone as (
      delete from delivery_workers where seen_at < now() - ${silenceMs} * interval '1 millisecond' returning id
    )
    update deliveries d set worker = null, next_at = now()
    where d.worker is not null
      and (d.worker in (select id from gone) or not exists (select from delivery_workers w where w.id = d.worker))`;
}

/**
 * Releases what the rows say a worker has, and it has not: the answer to its claim was lost with a
 * connection.
 */
export async function letGoOfLost(
  sql: Sql,
  {
    worker,
    inHand,
    now,
  }: { readonly worker: string; readonly inHand: readonly string[]; readonly now: number },
): Promise<void> {
  await sql`
    update deliveries set worker = null, next_at = now()
    where worker = ${worker} and next_at < ${new Date(now + LEASE_MS - ANSWER_MS_MAX)} and id <> all(${[...inHand]}::uuid[])`;
}
