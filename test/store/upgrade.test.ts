// A database from before subscriptions is upgraded: its allowances keep their periods.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import { databaseBefore, scriptOf } from './before.ts';

setDefaultTimeout(60_000);

const VERSION = 9;

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 1, applicationName: 'test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const ANCHOR = new Date('2026-01-31T12:00:00Z');
const PERIOD_END = new Date('2026-03-31T12:00:00Z');
const LATER = new Date('2026-05-01T00:00:00Z');

test('an upgrade of allowances gives each its cycle, and live ones their next reset', async () => {
  const [organisation, customer, meter] = [ids.next(), ids.next(), ids.next()];
  await sql`
    insert into customer_meters (slot, customer_id, meter_id, period_start, period_end, cycle_anchor, cycle_interval, allocated,
      ever_expired, exhausted, sequence, event_at)
    values (1, ${customer}, ${meter}, '2026-02-28T12:00:00Z', ${PERIOD_END}, ${ANCHOR}, 'month', 0, false, false, 0, 'epoch')`;
  const insert = async (fields: {
    interval: string | null;
    started: boolean;
    at: Date;
    ended: Date | null;
  }) => {
    const id = ids.next();
    await sql`
      insert into grants (slot, id, organisation_id, mode, customer_id, meter_id, source, amount, used, effective_at, priority,
        overage_allowed, reset_interval, started, created_at, ended_at, ended_how)
      values (1, ${id}, ${organisation}, 'test', ${customer}, ${meter}, 'manual', 10, 0, ${fields.at}, 100, false,
        ${fields.interval}, ${fields.started}, now(), ${fields.ended}, ${fields.ended === null ? null : 'voided'})`;
    return id;
  };
  const live = await insert({ interval: 'month', started: true, at: ANCHOR, ended: null });
  const planned = await insert({ interval: 'day', started: false, at: LATER, ended: null });
  const ended = await insert({ interval: 'week', started: true, at: LATER, ended: LATER });
  const topUp = await insert({ interval: null, started: true, at: LATER, ended: null });
  await sql.unsafe(scriptOf(VERSION));
  const rows = await sql`
    select id, cycle_anchor, reset_interval, reset_count, cycle_zone, renews_at, suspended, is_boolean from grants`;
  const plain = { suspended: null, is_boolean: false };
  const cycle = { reset_count: 1, cycle_zone: 'UTC', ...plain };
  expect(new Map(rows.map(({ id, ...row }) => [id, row]))).toEqual(
    new Map<string, object>([
      [live, { cycle_anchor: ANCHOR, reset_interval: 'month', renews_at: PERIOD_END, ...cycle }],
      [planned, { cycle_anchor: LATER, reset_interval: 'day', renews_at: null, ...cycle }],
      [ended, { cycle_anchor: LATER, reset_interval: 'week', renews_at: null, ...cycle }],
      [
        topUp,
        {
          cycle_anchor: null,
          reset_interval: null,
          reset_count: null,
          cycle_zone: null,
          renews_at: null,
          ...plain,
        },
      ],
    ]),
  );
});
