// Events in the order of their positions, which the relay gives them (workers/relay.ts): what a
// stream of events begins with, and what comes after a position.
//
// Holds: a position is visible when all lower ones are, because they are given by one transaction
// after the other. So what a page does not have before its last row never comes.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { EventRecord } from './events.ts';

// The index of the positions is of no use here, which has those of all tenants: a tenant is a range
// of rows in the order of `event_fanouts_streamed`, which no other index gives. With `=` the order
// would be that of the positions alone, and by the planner's statistics their index may be as good.

/** Before every position, and none is after it. */
export const BEGINNING = -(2n ** 63n);
const END = 2n ** 63n - 1n;

/** Of one page, in events and in bytes of what is stored of them. One event may be more. */
const PAGE_EVENTS_MAX = 200;
const PAGE_BYTES_MAX = 64 * 1024;
/** Events that wait for the relay and are looked at for the newest one of a mode. */
const WAITING_LOOKED_AT = 1000;

export type Start = {
  /** The tenant's last event that has a position, as of now. */
  readonly last: { readonly id: string; readonly position: bigint } | null;
  /**
   * The event to go on after; null where there is none. Its position is null while the relay has
   * not passed it.
   */
  readonly from: { readonly id: string; readonly position: bigint | null } | null;
};

type StartRow = {
  last_id: string | null;
  last_position: bigint | null;
  from_id: string | null;
  from_position: bigint | null;
};

/**
 * Where streams of a tenant begin, in the order of `afters`, in one snapshot. Each is the id of an
 * event, or null for what was written last by now. Samples and events that are set aside are not
 * there.
 */
export async function findStarts(
  sql: Executor,
  { organisationId, mode }: Tenant,
  afters: readonly (string | null)[],
): Promise<Start[]> {
  const rows = await sql<StartRow[]>`
    with last as materialized (
      select f.event_id, f.position from event_fanouts f
      where (f.organisation_id, f.mode, f.position) >= (${organisationId}, ${mode}, ${BEGINNING}::int8)
        and (f.organisation_id, f.mode, f.position) <= (${organisationId}, ${mode}, ${END}::int8)
      order by f.organisation_id desc, f.mode desc, f.position desc limit 1),
    waiting as materialized (
      select w.event_id from (
        select q.event_id, q.place from event_queue q
        where q.organisation_id = ${organisationId} and ${afters.includes(null)}
        order by q.place desc limit ${WAITING_LOOKED_AT}) w
      join events e on e.id = w.event_id and e.mode = ${mode}
      order by w.place desc limit 1)
    select last.event_id as last_id, last.position as last_position,
      case when a.after is not null then given.id else coalesce(waiting.event_id, last.event_id) end as from_id,
      case when a.after is not null then given.position
        when waiting.event_id is null then last.position end as from_position
    from unnest(${[...afters]}::uuid[]) with ordinality as a (after, n)
    left join last on true
    left join waiting on true
    left join lateral (
      select e.id, f.position from events e left join event_fanouts f on f.event_id = e.id
      where e.id = a.after and e.organisation_id = ${organisationId} and e.mode = ${mode}
        and e.endpoint_id is null
        and not exists (select from event_faults x where x.event_id = e.id)) given on true
    order by a.n`;
  return rows.map((row) => ({
    last:
      row.last_id === null || row.last_position === null
        ? null
        : { id: row.last_id, position: row.last_position },
    from: row.from_id === null ? null : { id: row.from_id, position: row.from_position },
  }));
}

export type PositionedEvent = EventRecord & { readonly position: bigint };

export type EventPage = {
  /** The first ones after the position, in order. */
  readonly events: readonly PositionedEvent[];
  /** Whether there may be more. Otherwise the page has all that had a position when it was read. */
  readonly more: boolean;
};

type PageRow = PositionedEvent & {
  readonly n: number;
  readonly bytes: number;
  readonly before: number;
};

/** A page for each of these, in one statement and one snapshot. */
export async function pagesAfter(
  sql: Executor,
  places: readonly (Tenant & { readonly position: bigint })[],
): Promise<EventPage[]> {
  const rows = await sql<PageRow[]>`
    select a.n::int, p.* from unnest(${places.map(({ organisationId }) => organisationId)}::uuid[],
      ${places.map(({ mode }) => mode)}::text[], ${places.map(({ position }) => String(position))}::int8[])
      with ordinality as a (organisation_id, mode, position, n)
    cross join lateral (
      select q.*, (sum(q.bytes) over (order by q.position) - q.bytes)::int as before from (
        select f.position, e.id, e.organisation_id as "organisationId", e.mode, e.type,
          e.object_type as "objectType", e.object_id as "objectId", e.account_id as "accountId",
          e.sequence, e.at, e.data, octet_length(e.data::text) as bytes
        from event_fanouts f join events e on e.id = f.event_id
        where (f.organisation_id, f.mode, f.position) > (a.organisation_id, a.mode::mode, a.position)
          and (f.organisation_id, f.mode, f.position) <= (a.organisation_id, a.mode::mode, ${END}::int8)
        order by f.organisation_id, f.mode, f.position limit ${PAGE_EVENTS_MAX}) q) p
    where p.before < ${PAGE_BYTES_MAX}
    order by a.n, p.position`;
  const pages: PageRow[][] = places.map(() => []);
  for (const row of rows) pages[row.n - 1]?.push(row);
  return pages.map((events) => ({ events, more: isCut(events) }));
}

function isCut(rows: readonly PageRow[]): boolean {
  const last = rows.at(-1);
  if (last === undefined) return false;
  return rows.length === PAGE_EVENTS_MAX || last.before + last.bytes >= PAGE_BYTES_MAX;
}
