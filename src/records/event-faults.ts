// Events that the relay could not pass and has set aside (workers/relay.ts).
import type { Sql } from '../platform/postgres/postgres.ts';
import { tell } from '../platform/postgres/tell.ts';

/** Queues them again, in their old places; how many. */
export async function retryEvents(sql: Sql): Promise<number> {
  const { count } = await sql`
    with again as (
      delete from event_faults returning organisation_id, place, event_id, written_at
    )
    insert into event_queue (organisation_id, place, event_id, written_at) select * from again`;
  tell(sql, 'tollhouse_events');
  return count;
}
