// The plain way: for each request a transaction locks the customer's row, inserts the event,
// updates the row and commits. It is durable, correct, and what most people would write first.
import postgres from 'postgres';
import type { Usage } from './answers.ts';
import { peerSettings } from './door.ts';
import { serve, type UsageEvent } from './ways.ts';

const settings = peerSettings();
const pool = {
  max: settings.pool,
  // Without it postgres.js loses most of its rate under a steady queue. Its types lack the option,
  // so it is set here, where unknown options compile.
  max_pipeline: 1,
};
const reads = postgres(settings.databaseUrl, pool);
// A pool of its own, because postgres.js loses a BEGIN that it sends behind another query
// (porsager/postgres#1189).
const writes = postgres(settings.databaseUrl, pool);

interface Row {
  readonly id: string;
  readonly granted: string;
  readonly consumed: string;
}

async function check(externalId: string): Promise<Usage> {
  return usageOf(
    await reads<
      Row[]
    >`select id, granted, consumed from customers where external_id = ${externalId}`,
  );
}

async function track(event: UsageEvent) {
  return writes.begin(async (transaction) => {
    const before = usageOf(
      await transaction<Row[]>`
        select id, granted, consumed from customers where external_id = ${event.externalId} for update`,
    );
    const inserted = await transaction`
      insert into events (id, customer_id, value) values (${event.id}, ${before.customerId}, ${event.value})
      on conflict (id) do nothing`;
    if (inserted.count === 0) return { usage: before, duplicate: true };
    const usage = usageOf(
      await transaction<Row[]>`
        update customers set consumed = consumed + ${event.value} where id = ${before.customerId}
        returning id, granted, consumed`,
    );
    return { usage, duplicate: false };
  });
}

/**
 * One transaction for all events of a call. Customers are locked in the same order by every call.
 */
async function ingest(events: readonly UsageEvent[]): Promise<readonly boolean[]> {
  const ids = events.map((event) => event.id);
  const names = events.map((event) => event.externalId);
  const values = events.map((event) => event.value);
  const inserted = await writes.begin(async (transaction) => {
    await transaction`
      select 1 from customers where external_id = any(${names}::text[]) order by id for update`;
    return transaction<{ id: string }[]>`
      with inserted as (
        insert into events (id, customer_id, value)
        select event.id, customers.id, event.value
        from unnest(${ids}::uuid[], ${names}::text[], ${values}::bigint[]) as event (id, name, value)
        join customers on customers.external_id = event.name
        on conflict (id) do nothing returning id, customer_id, value
      ), updated as (
        update customers set consumed = consumed + sums.value
        from (select customer_id, sum(value)::bigint as value from inserted group by 1) as sums
        where customers.id = sums.customer_id
      ) select id from inserted`;
  });
  const isNew = new Set(inserted.map((row) => row.id));
  return ids.map((id) => isNew.has(id));
}

function usageOf([row]: readonly Row[]): Usage {
  if (row === undefined) throw new Error('unknown customer');
  return { customerId: row.id, limit: Number(row.granted), consumed: Number(row.consumed) };
}

await serve(settings, { check, track, ingest });
