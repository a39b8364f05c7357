// Corrections that servers of before wrote count in the number of events once, whoever writes and
// folds meanwhile, and whoever dies.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { migrate } from '../../src/database/migrate.ts';
import { retain } from '../../src/database/retention.ts';
import { backfillUsage, isUsageBinned } from '../../src/database/usage-backfill.ts';
import { clock, timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import { untilFolded } from '../support/folded.ts';
import { databaseBefore } from './before.ts';
import { DAY_MS, POLICY } from './keeping.ts';

setDefaultTimeout(60_000);

const VERSION = 193;
const START = Date.parse('2026-03-01T10:00:00Z');
const BINS = /bins|totals of a meter/;

const [ACCOUNT, METER] = [ids.next(), ids.next()];

let database: FreshDatabase;
let sql: Sql;
let flushes = 0;
beforeEach(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 3, applicationName: 'test upgrade' });
  await sql`
    insert into accounts (id, organisation_id, customer_id, meter_id, kind, mode, slot)
    values (${ACCOUNT}, ${ids.next()}, ${ids.next()}, ${METER}, 'meter', 'test', 1)`;
});
afterEach(async () => {
  await sql.end();
  await database.drop();
});

/** A seat of a server of before, held for a minute or over for a minute. */
async function seat(isAlive: boolean): Promise<void> {
  await sql`
    insert into nodes (id, holder, epoch, seq, expires_at, leaving, keeps_bins)
    values (1, ${ids.next()}, 1, 0, now() + ${isAlive ? 60 : -60} * interval '1 second', false, true)`;
}

/** Usage as a flush of before writes it, or of now: a third of it are corrections. */
async function flush(count: number, { isOfNow = false, table = 'transfers', from = START } = {}) {
  flushes += 1;
  await sql.unsafe(
    `WITH moved AS (
      INSERT INTO ${table} (id, debit, credit, at, value, amount, reason, consumed_after, kind, slot, node, guarded, unbinned, events)
      SELECT gen_random_uuid(), $1, $2, $3::timestamptz + n * interval '1 second', CASE WHEN n % 3 = 0 THEN -2 ELSE 5 END, 2, 'ok', 0,
        (CASE WHEN n % 12 = 0 THEN 'refused' WHEN n % 3 = 0 THEN 'reverse' ELSE 'single' END)::transfer_kind, 1, 1, false, NULL,
        CASE WHEN n % 3 = 0 AND $4 THEN -1 END
      FROM generate_series(1, $5::int) n
      RETURNING *
    ), entries AS (
      SELECT date_bin('15 minutes', at, 'epoch') AS quarter, sum(value)::bigint AS value, sum(sign(value))::bigint AS events,
        count(*) FILTER (WHERE value < 0) AS corrections
      FROM moved WHERE kind <> 'refused' GROUP BY 1
    )${isOfNow ? ', corrected AS (INSERT INTO usage_corrections (node, seq, slot, account_id, quarter, corrections) SELECT 1, $6, 1, $1, quarter, corrections FROM entries)' : ''}
    INSERT INTO usage_deltas (node, seq, slots, accounts, quarters, sums, events)
    SELECT 1, $6, array_agg(1), array_agg($1::uuid), array_agg(quarter), array_agg(value), array_agg(events) FROM entries`,
    [ACCOUNT, ids.next(), new Date(from).toISOString(), isOfNow, count, flushes],
  );
}

/** As a server of before does: it knows nothing of corrections. */
async function foldAsBefore(): Promise<void> {
  await sql`
    with gone as (delete from usage_deltas returning *
    ), added as materialized (
      select slot, account_id, quarter, sum(sum) as value, sum(events) as events from (
        select unnest(slots) as slot, unnest(accounts) as account_id, unnest(quarters) as quarter, unnest(sums) as sum,
          unnest(events) as events from gone
      ) entries group by 1, 2, 3
    ), binned as (
      insert into usage_bins as b (slot, account_id, quarter, value, events) select * from added
      on conflict (slot, account_id, quarter) do update
      set value = b.value + excluded.value, events = b.events + excluded.events
    )
    insert into usage_totals as t (meter_id, quarter, value, events)
    select (select a.meter_id from accounts a where a.slot = d.slot and a.id = d.account_id), d.quarter, d.value, d.events from added d
    on conflict (meter_id, quarter) do update
    set value = t.value + excluded.value, events = t.events + excluded.events`;
}

async function archived(month: string, count: number): Promise<void> {
  const from = new Date(`${month}-01T00:00:00Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
  const table = `transfers_archive_${month.replace('-', '_')}`;
  await sql.unsafe(
    `CREATE TABLE ${table} PARTITION OF transfers_archive FOR VALUES FROM ('${from.toISOString()}') TO ('${to.toISOString()}')`,
  );
  await flush(count, { table: 'transfers_archive', from: from.getTime() + DAY_MS });
}

async function backfillAll(): Promise<void> {
  for (;;) {
    const found = await backfillUsage(sql);
    if (found === 'whole') break;
    expect(found).toBe('read');
  }
}

/** Bins have each event that counts once, by the audit and by a count. */
async function expectCounted(events: number): Promise<void> {
  expect(await isUsageBinned(sql)).toBe(true);
  await untilFolded(sql);
  for (const table of ['usage_bins', 'usage_totals']) {
    const [bins] = await sql`
      select sum(events + 2 * corrections)::int as number from ${sql(table)}`;
    expect(bins).toEqual({ number: events });
  }
  const found = await audit(sql);
  expect(found.filter(({ check }) => BINS.test(check))).toEqual([]);
}

/** One in twelve is refused. */
const counting = (count: number): number => count - Math.floor(count / 12);

test('an upgrade counts corrections of transfers and of the archive', async () => {
  await flush(20_000);
  await archived('2026-01', 500);
  await foldAsBefore();
  await archived('2026-02', 500);
  await migrate(database.url);
  expect(await isUsageBinned(sql)).toBe(false);
  await backfillAll();
  await expectCounted(counting(20_000) + 2 * counting(500));
});

test('an upgrade of a database without usage has its corrections at once', async () => {
  await migrate(database.url);
  expect(await backfillUsage(sql)).toBe('whole');
});

test('an upgrade of corrections waits for older servers, which write and fold beside one of now', async () => {
  await seat(true);
  await flush(300);
  await migrate(database.url);
  expect(await backfillUsage(sql)).toBe('waits');
  await flush(600, { isOfNow: true });
  await flush(900);
  await foldAsBefore();
  await flush(1200, { isOfNow: true });
  expect(await backfillUsage(sql)).toBe('waits');
  // The seat of one that is gone is fenced: it may be frozen.
  await sql`update nodes set expires_at = now() - interval '1 second'`;
  await backfillAll();
  const [node] = await sql<{ epoch: bigint }[]>`select epoch from nodes`;
  expect(node!.epoch).toBe(2n);
  await flush(1500, { isOfNow: true });
  await expectCounted(counting(300 + 600 + 900 + 1200 + 1500));
});

test('a server of before gets no seat after the upgrade', async () => {
  await migrate(database.url);
  expect(String(await seat(true).catch(String))).toContain('counts_corrections');
});

test('a step of an upgrade of corrections that is killed is done again; two processes take turns', async () => {
  await flush(9000);
  await migrate(database.url);
  await backfillUsage(sql);
  // It dies after it has written what it read.
  await sql.unsafe(`
    CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$;
    CREATE TRIGGER dies BEFORE UPDATE ON correction_backfills EXECUTE FUNCTION die()`);
  expect(await backfillUsage(sql).catch(String)).toContain('killed');
  await sql`drop trigger dies on correction_backfills`;
  while (!(await isUsageBinned(sql))) await Promise.all([backfillUsage(sql), backfillUsage(sql)]);
  await expectCounted(counting(9000));
});

test('retention leaves corrections where they are until the upgrade has counted them', async () => {
  await flush(300);
  await archived('2026-01', 300);
  await migrate(database.url);
  const policy = { ...POLICY, usageMonths: 1 };
  const deps = {
    sql,
    clock: { ...clock, now: () => START + 60 * DAY_MS },
    timers,
    ids,
    dryRun: false,
  };
  const before = await retain(deps, policy);
  expect(before).toMatchObject({ closed: [], busy: true });
  await backfillAll();
  const after = await retain(deps, policy);
  expect(after).toMatchObject({ rows: { transfers: 300 }, busy: false });
  expect(after?.closed.length).toBeGreaterThan(0);
  await expectCounted(2 * counting(300));
});
