// How the deliveries of webhook endpoints fare, by endpoint.
//
// Holds: the work is bounded, however much an endpoint is sent: its newest deliveries are read, up
// to a number, from the index of its list.
import type { Executor } from '../platform/postgres/postgres.ts';
import { type Page, pageOf } from './page.ts';
import { type EndpointOwner, ofOwner } from './webhook-endpoints.ts';

/** So many deliveries of an endpoint are read, the newest. */
export const DELIVERIES_READ_MAX = 1000;

const UUID_MIN = '00000000-0000-0000-0000-000000000000';
const UUID_MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Of deliveries, by what became of them. */
export type DeliveryCounts = {
  readonly delivered: bigint;
  /** Not tried yet. */
  readonly pending: bigint;
  /** Tried, and to be tried again. */
  readonly retrying: bigint;
  readonly held: bigint;
  readonly exhausted: bigint;
};

export type WebhookHealth = {
  readonly id: string;
  readonly today: DeliveryCounts;
  readonly week: DeliveryCounts;
  /** Whether the week has no more deliveries than were read. */
  readonly isComplete: boolean;
};

const PARTS = ['today', 'week'] as const;
const COUNTS = ['delivered', 'pending', 'retrying', 'held', 'exhausted'] as const;

type Row = { readonly id: string; readonly read: bigint; readonly oldest: Date | null } & {
  readonly [name in `${(typeof PARTS)[number]}_${(typeof COUNTS)[number]}`]: bigint;
};

/** In the order of the endpoints, newest first; up to one more than `limit`. */
export async function listWebhookHealth(
  sql: Executor,
  owner: EndpointOwner,
  options: Page & {
    readonly endpointId?: string | undefined;
    readonly today: Date;
    readonly week: Date;
  },
): Promise<WebhookHealth[]> {
  const { endpointId, today, week } = options;
  const rows = await sql<Row[]>`
    select e.id, h.* from (
      select id from webhook_endpoints
      where ${ofOwner(sql, owner)} and deleted_at is null
        ${endpointId === undefined ? sql`` : sql`and id = ${endpointId}`}
      ${pageOf(sql, 'webhookEndpoints', options)}
    ) e cross join lateral (
      select count(*) as read, min(created_at) as oldest,
        ${countsSince(sql, 'today', today)}, ${countsSince(sql, 'week', week)}
      from (
        select status, attempts, created_at from deliveries ${newestOf(sql, sql`e.id`)}
      ) d
    ) h
    order by e.id desc`;
  return rows.map((row) => ({
    id: row.id,
    today: countsOf(row, 'today'),
    week: countsOf(row, 'week'),
    isComplete:
      Number(row.read) < DELIVERIES_READ_MAX || (row.oldest !== null && row.oldest < week),
  }));
}

/**
 * A range in the order of `deliveries_listed`, which no other index gives: with `=` the order would
 * be that of all deliveries, whose index may be as good by the planner's statistics.
 */
function newestOf(sql: Executor, endpointId: ReturnType<Executor>) {
  return sql`
    where (endpoint_id, id) >= (${endpointId}, ${UUID_MIN}::uuid)
      and (endpoint_id, id) <= (${endpointId}, ${UUID_MAX}::uuid)
    order by endpoint_id desc, id desc limit ${DELIVERIES_READ_MAX}`;
}

function countsSince(sql: Executor, part: (typeof PARTS)[number], since: Date) {
  const count = (name: (typeof COUNTS)[number], isOne: ReturnType<Executor>) =>
    sql`count(*) filter (where created_at >= ${since} and ${isOne}) as ${sql(`${part}_${name}`)}`;
  return sql`
    ${count('delivered', sql`status = 'delivered'`)},
    ${count('pending', sql`status = 'pending' and attempts = 0`)},
    ${count('retrying', sql`status = 'pending' and attempts > 0`)},
    ${count('held', sql`status = 'held'`)},
    ${count('exhausted', sql`status = 'exhausted'`)}`;
}

function countsOf(row: Row, part: (typeof PARTS)[number]): DeliveryCounts {
  const entries = COUNTS.map((name) => [name, row[`${part}_${name}`]] as const);
  return Object.fromEntries(entries) as DeliveryCounts;
}

export type EndpointCounts = {
  readonly endpoints: bigint;
  readonly disabled: bigint;
  /** Of deliveries that were made since, of each endpoint the newest. */
  readonly delivered: bigint;
  readonly waiting: bigint;
  readonly exhausted: bigint;
};

/** Of all endpoints together. */
export async function countEndpoints(
  sql: Executor,
  owner: EndpointOwner,
  since: Date,
): Promise<EndpointCounts> {
  const [row] = await sql<EndpointCounts[]>`
    with own as (
      select id, status from webhook_endpoints where ${ofOwner(sql, owner)} and deleted_at is null
    ), made as (
      select d.status from own cross join lateral (
        select status, created_at from deliveries ${newestOf(sql, sql`own.id`)}
      ) d where d.created_at >= ${since})
    select (select count(*) from own) as endpoints, (select count(*) from own where status = 'disabled') as disabled,
      count(*) filter (where status = 'delivered') as delivered,
      count(*) filter (where status in ('pending', 'held')) as waiting,
      count(*) filter (where status = 'exhausted') as exhausted
    from made`;
  return row ?? { endpoints: 0n, disabled: 0n, delivered: 0n, waiting: 0n, exhausted: 0n };
}
