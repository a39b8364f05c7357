// Events that the relay could not pass and has set aside (workers/relay.ts).
import type { Executor } from '../platform/postgres/postgres.ts';

/** Queues them again, in their old places; how many. */
export async function retryEvents(sql: Executor): Promise<number> {
  const { count } = await sql`
    with again as (
      delete from event_faults returning organisation_id, place, event_id, written_at
    ), told as (
      select pg_notify('tollhouse_events', '')
    )
    insert into event_queue (organisation_id, place, event_id, written_at)
    select again.* from again, told`;
  return count;
}
