// Spans of levels that run at the upgrade learn their period; what has ended, and what is used up, stays as it is.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import { databaseBefore } from './before.ts';

const VERSION = 195;
const START = '2026-03-01T00:00:00.000Z';
const END = '2026-04-01T00:00:00.000Z';

let database: FreshDatabase;
let sql: Sql;
beforeEach(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 1, applicationName: 'test upgrade' });
  // Its organization, customer and subscription are not looked at.
  await sql`set session_replication_role = replica`;
});
afterEach(async () => {
  await sql.end();
  await database.drop();
});

/** A row with these fields; the others are what the table gives, or nothing. */
async function insert(table: string, fields: Record<string, string | number | boolean>) {
  await sql`insert into ${sql(table)} ${sql(fields)}`;
}

/** A span of a meter, in a period of March. Returns its id. */
async function span(aggregation: string, fields: Record<string, string | number> = {}) {
  const [id, account, meter, organisation] = [ids.next(), ids.next(), ids.next(), ids.next()];
  const tenant = { organisation_id: organisation, mode: 'test' };
  const slug = `m-${meter}`;
  await insert('meters', {
    id: meter,
    ...tenant,
    slug,
    name: slug,
    event_name: slug,
    aggregation,
    scale: 0,
    metadata: '{}',
    status: 'active',
    created_at: START,
    updated_at: START,
  });
  const place = { slot: 1, customer_id: ids.next(), meter_id: meter };
  await insert('accounts', {
    id: account,
    ...tenant,
    ...place,
    kind: 'meter',
    period_start: START,
  });
  await insert('balances', {
    id: account,
    slot: 1,
    capped: false,
    debits_posted: 0,
    credits_posted: 0,
    debits_pending: 0,
    credits_pending: 0,
    aggregate: 0,
    period_end: END,
    updated_at: START,
  });
  await insert('usage_spans', {
    id,
    ...tenant,
    ...place,
    subscription_id: ids.next(),
    usage_price_id: ids.next(),
    account_id: account,
    started_at: START,
    opening_aggregate: 0,
    live: true,
    ...fields,
  });
  return id;
}

test('spans of levels that run learn their period', async () => {
  const running = await span('last');
  const over = await span('last', { ended_at: END, closing_aggregate: 0 });
  const flow = await span('sum');
  await migrate(database.url);
  const rows = await sql<{ id: string; period_start: Date | null; period_end: Date | null }[]>`
    select id, period_start, period_end from usage_spans`;
  const periods = new Map(rows.map((row) => [row.id, [row.period_start, row.period_end]]));
  expect(periods.get(running)).toEqual([new Date(START), new Date(END)]);
  expect([periods.get(over), periods.get(flow)]).toEqual([
    [null, null],
    [null, null],
  ]);
});
