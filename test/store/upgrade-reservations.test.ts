// A server of the release before runs on beside the migration of reservations: what it writes counts.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import { untilFolded } from '../support/folded.ts';
import { databaseBefore } from './before.ts';

setDefaultTimeout(60_000);

const VERSION = 77;
const [ACCOUNT, METER] = [ids.next(), ids.next()];

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 1, applicationName: 'test upgrade' });
  await sql`
    insert into accounts (id, organisation_id, customer_id, meter_id, kind, mode, slot)
    values (${ACCOUNT}, ${ids.next()}, ${ids.next()}, ${METER}, 'meter', 'test', 1)`;
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

/** With the parameters of its flush: they have the types of before. */
async function flush(seq: number): Promise<void> {
  await sql.unsafe(
    `WITH moved AS (
      INSERT INTO transfers (id, debit, credit, at, value, reason, consumed_after, kind, slot, node, guarded, unbinned)
      VALUES ($1, $2, $3, now(), 1, 'ok', 1, 'single', 1, 1, false, NULL)
    )
    INSERT INTO usage_deltas (node, seq, slots, accounts, quarters, sums, events)
    SELECT 1, $4, '{1}'::smallint[], ARRAY[$2::uuid], ARRAY['2026-11-01T10:00:00Z'::timestamptz], '{1}'::bigint[], $5::integer[]`,
    [ids.next(), ACCOUNT, ids.next(), seq, '{1}'],
  );
}

test('an upgrade of reservations counts usage from before and after once', async () => {
  await flush(1);
  await migrate(database.url);
  await flush(2);
  await untilFolded(sql);
  const bins = await sql`select value::int, events::int from usage_bins`;
  expect([...bins]).toEqual([{ value: 2, events: 2 }]);
  const kept = await sql`select events from transfers`;
  expect([...kept]).toEqual([{ events: null }, { events: null }]);
});
