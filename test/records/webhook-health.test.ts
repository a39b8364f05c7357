// How an endpoint fares is read from its own deliveries, however many others have.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { ids } from '../../src/platform/ids.ts';
import type { Executor, Sql } from '../../src/platform/postgres/postgres.ts';
import { countEndpoints, listWebhookHealth } from '../../src/records/webhook-health.ts';
import { freshDatabase } from '../support/database.ts';

const BUSY = ids.next();
const QUIET = ids.next();
const BUSY_DELIVERIES = 60_000;
const QUIET_DELIVERIES = 3;
/** Rows at the ends of an index that the planner may look at. */
const PLANNED_MAX = 8;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres(database.url, { max: 1, types: { bigint: postgres.BigInt } });
  await insert(BUSY, BUSY_DELIVERIES, '0');
  // By these the newest delivery of all is as good as one of the endpoint.
  await sql`analyze deliveries`;
  await insert(QUIET, QUIET_DELIVERIES, '-1 hour');
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

/** An endpoint of an organisation with its id. */
async function insert(id: string, deliveries: number, ago: string): Promise<void> {
  await sql`insert into organisations (id, name, created_at) values (${id}, 'x', now())`;
  await sql`
    insert into webhook_endpoints (id, organisation_id, mode, url, event_types, status, secret, created_at, updated_at)
    values (${id}, ${id}, 'live', 'https://a.example', '{*}', 'enabled', '', now(), now())`;
  await sql`
    insert into deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    select uuidv7(${ago}::interval), ${id}, uuidv7(), 'x', 'delivered', now(), now()
    from generate_series(1, ${deliveries}::int)`;
}

async function rowsRead(tx: Executor): Promise<number> {
  const [counted] = await tx<{ rows: number }[]>`
    select (idx_tup_fetch + seq_tup_read)::int as rows
    from pg_stat_xact_user_tables where relname = 'deliveries'`;
  return counted!.rows;
}

const owner = { kind: 'organisation', organisationId: QUIET, mode: 'live' } as const;
const since = new Date(0);
const page = { limit: 10, offset: 0, today: since, week: since };

// prettier-ignore
const READS: [string, (tx: Executor) => Promise<bigint | undefined>][] = [
  ['one by one', async (tx) => (await listWebhookHealth(tx, owner, page))[0]?.week.delivered],
  ['together',   async (tx) => (await countEndpoints(tx, owner, since)).delivered],
];

test.each(READS)(
  'how endpoints fare is read from their own deliveries: %s',
  async (_how, count) => {
    await sql.begin(async (tx) => {
      const before = await rowsRead(tx);
      expect(await count(tx)).toBe(BigInt(QUIET_DELIVERIES));
      expect((await rowsRead(tx)) - before).toBeLessThanOrEqual(QUIET_DELIVERIES + PLANNED_MAX);
    });
  },
);
