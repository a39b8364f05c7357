// Puts the deliveries of an endpoint right after the endpoint changed.
//
// Who calls: the routes, for the endpoint that they have just changed; and the workers' sweep, for
// all: a fan-out may read an endpoint's status just before it changes and commit its rows just
// after, and an outage may leave a million.
// Holds: an enabled endpoint has nothing held, a disabled one nothing pending, a deleted one
// neither. A delivery in a worker's hands is put right after that. The number of an event's
// deliveries never changes here, only their status.
import type { Executor } from '../platform/postgres/postgres.ts';
import { tell } from '../platform/postgres/tell.ts';

/** Rows of each kind in one statement. */
const BATCH_MAX = 2000;

/** One batch, of one endpoint or of all. Whether there may be more. */
export async function reconcileDeliveries(
  sql: Executor,
  { endpointId, now }: { readonly endpointId?: string; readonly now: number },
): Promise<boolean> {
  const at = new Date(now);
  const named = endpointId === undefined ? sql`` : sql`and w.id = ${endpointId}`;
  const [row] = await sql<{ moved: number; due: string[] }[]>`
    with to_send as (
      select d.id, case when w.deleted_at is null then 'pending' else 'exhausted' end as status
      from webhook_endpoints w cross join lateral (
        select id from deliveries where endpoint_id = w.id and status = 'held'
        limit ${BATCH_MAX} for update skip locked
      ) d
      where (w.status = 'enabled' or w.deleted_at is not null) ${named}
      limit ${BATCH_MAX}
    ), to_hold as (
      select d.id, case when w.deleted_at is null then 'held' else 'exhausted' end as status
      from webhook_endpoints w cross join lateral (
        select id from deliveries where endpoint_id = w.id and status = 'pending' and worker is null
        limit ${BATCH_MAX} for update skip locked
      ) d
      where (w.status = 'disabled' or w.deleted_at is not null) ${named}
      limit ${BATCH_MAX}
    ), moved as (
      -- A held delivery begins its schedule again: the 24 hours of the first one may be over.
      update deliveries d set status = m.status, next_at = ${at},
        attempts = case when m.status = 'pending' then 0 else d.attempts end,
        first_at = case when m.status = 'pending' then null else d.first_at end,
        settled_at = case when m.status = 'exhausted' then ${at}::timestamptz end
      from (select * from to_send union all select * from to_hold) m where d.id = m.id
      returning d.endpoint_id, d.status
    )
    select (select count(*) from moved)::int as moved,
      array(select distinct endpoint_id::text from moved where status = 'pending') as due`;
  for (const id of row?.due ?? []) tell(sql, 'tollhouse_deliveries', id);
  return (row?.moved ?? 0) >= BATCH_MAX;
}
