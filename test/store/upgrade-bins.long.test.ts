// Usage that servers of before wrote is in bins once, whoever writes meanwhile, and whoever dies.
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

const VERSION = 64;
const START = Date.parse('2026-03-01T10:00:00Z');
const BINS = /bins|totals of a meter/;

const [METER, ORGANISATION] = [ids.next(), ids.next()];
const ACCOUNTS = [ids.next(), ids.next(), ids.next()] as const;

let database: FreshDatabase;
let sql: Sql;
beforeEach(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 3, applicationName: 'test upgrade' });
  for (const id of ACCOUNTS) {
    await sql`
      insert into accounts (id, organisation_id, customer_id, meter_id, kind, mode, slot)
      values (${id}, ${ORGANISATION}, ${ids.next()}, ${METER}, 'meter', 'test', 1)`;
  }
});
afterEach(async () => {
  await sql.end();
  await database.drop();
});

/** A seat, held for a minute or over for a minute. */
async function seat(node: number, isAlive: boolean): Promise<void> {
  await sql`
    insert into nodes (id, holder, epoch, seq, expires_at, leaving)
    values (${node}, ${ids.next()}, 1, 0, now() + ${isAlive ? 60 : -60} * interval '1 second', false)`;
}

/** As a server of before records usage: the statement knows nothing of bins. */
async function record(table: string, from: number, count: number): Promise<void> {
  await sql.unsafe(
    `INSERT INTO ${table} (id, debit, credit, at, event_at, value, amount, reason, consumed_after, kind, slot, node, guarded)
    SELECT gen_random_uuid(), ($1::uuid[])[1 + n % 3], $2, $3::timestamptz + n * interval '1 second',
      CASE WHEN n % 5 = 0 THEN $3::timestamptz - n * interval '1 minute' END, CASE WHEN n % 7 = 0 THEN -2 ELSE n END,
      CASE WHEN n % 7 = 0 THEN 2 WHEN n % 11 = 0 THEN 0 ELSE n END, 'ok', 0,
      (CASE WHEN n % 11 = 0 THEN 'refused' WHEN n % 7 = 0 THEN 'reverse' ELSE 'single' END)::transfer_kind, 1, 1, false
    FROM generate_series(1, $4::int) n`,
    [[...ACCOUNTS], ids.next(), new Date(from).toISOString(), count],
  );
}

async function archived(month: string, count: number): Promise<void> {
  const from = new Date(`${month}-01T00:00:00Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
  const name = `transfers_archive_${month.replace('-', '_')}`;
  await sql.unsafe(
    `CREATE TABLE ${name} PARTITION OF transfers_archive FOR VALUES FROM ('${from.toISOString()}') TO ('${to.toISOString()}')`,
  );
  await record('transfers_archive', from.getTime() + DAY_MS, count);
}

async function backfillAll(): Promise<void> {
  for (;;) {
    const found = await backfillUsage(sql);
    if (found === 'whole') break;
    expect(found).toBe('read');
  }
  await untilFolded(sql);
}

/** What the audit says of bins; whether there are any. */
async function findings(): Promise<readonly string[]> {
  const [bins] = await sql<{ count: number }[]>`select count(*)::int from usage_bins`;
  expect(bins!.count).toBeGreaterThan(0);
  const found = await audit(sql);
  return found.filter(({ check }) => BINS.test(check)).map(({ check }) => check);
}

test('an upgrade fills bins from transfers, the archive, and what is left of dropped months', async () => {
  await record('transfers', START, 20_000);
  await archived('2026-01', 500);
  await archived('2026-02', 500);
  await sql`
    insert into closing_balances (account_id, events_total, events_signed)
    values (${ACCOUNTS[0]}, 700, 7), (${ACCOUNTS[1]}, 0, 0)`;
  await migrate(database.url);
  expect(await isUsageBinned(sql)).toBe(false);
  await backfillAll();
  expect(await isUsageBinned(sql)).toBe(true);
  expect(await findings()).toEqual([]);
  // Each that counts is one, corrections too.
  const [number] = await sql<{ bins: number; events: number }[]>`
    select (select sum(events + 2 * corrections) from usage_bins)::int as bins,
      (select count(*) from (select value, kind from transfers union all select value, kind from transfers_archive) t
        where value is not null and kind <> 'refused')::int as events`;
  expect(number!.bins).toBe(number!.events);
  const [closed] = await sql`
    select unbinned_total::int as total, unbinned_signed::int as signed from closing_balances where account_id = ${ACCOUNTS[0]}`;
  expect(closed).toEqual({ total: 700, signed: 7 });
});

test('an upgrade of a database without usage fills its bins at once', async () => {
  await migrate(database.url);
  expect(await backfillUsage(sql)).toBe('whole');
});

test('an upgrade of bins waits for older servers, and counts what they write', async () => {
  await seat(1, true);
  await seat(2, false);
  await record('transfers', START, 300);
  await migrate(database.url);
  expect(await backfillUsage(sql)).toBe('waits');
  await record('transfers', START + DAY_MS, 300);
  // The seat of one that is gone is fenced: it may be frozen.
  await sql`update nodes set expires_at = now() - interval '1 second'`;
  expect(await backfillUsage(sql)).toBe('read');
  const epochs = await sql<{ epoch: bigint }[]>`select epoch from nodes order by id`;
  expect(epochs.map(({ epoch }) => epoch)).toEqual([2n, 3n]);
  await backfillAll();
  expect(await findings()).toEqual([]);
});

test('an upgrade of bins waits for a frozen older server that is in the middle of a flush', async () => {
  await seat(1, false);
  await record('transfers', START, 300);
  await migrate(database.url);
  const begun = Promise.withResolvers<void>();
  const frozen = Promise.withResolvers<void>();
  const flushing = sql.begin(async (transaction) => {
    await transaction`update nodes set seq = seq + 1, expires_at = now() + interval '1 minute' where id = 1 and epoch = 1`;
    begun.resolve();
    await frozen.promise;
  });
  await begun.promise;
  const beginning = backfillUsage(sql);
  frozen.resolve();
  await flushing;
  expect(await beginning).toBe('waits');
});

test('a server of this release writes beside an upgrade of bins', async () => {
  await record('transfers', START, 9000);
  await migrate(database.url);
  expect(await backfillUsage(sql)).toBe('read');
  expect(await backfillUsage(sql)).toBe('read');
  // As a flush does: its transfer is on a page that is still to be read.
  await sql`
    with own as (
      insert into transfers (id, debit, credit, at, value, reason, consumed_after, kind, slot, node, guarded, unbinned)
      values (${ids.next()}, ${ACCOUNTS[0]}, ${ids.next()}, ${new Date(START)}, 5, 'ok', 5, 'single', 1, 1, false, null)
    )
    insert into usage_deltas (node, seq, slots, accounts, quarters, sums, events)
    values (1, 1, '{1}', ${[ACCOUNTS[0]]}::uuid[], array[${new Date(START)}::timestamptz], '{5}', '{1}')`;
  await backfillAll();
  expect(await findings()).toEqual([]);
});

test('a step of an upgrade of bins that is killed is done again; two processes take turns', async () => {
  await record('transfers', START, 9000);
  await migrate(database.url);
  await backfillUsage(sql);
  // It dies after it has written what it read.
  await sql.unsafe(`
    CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$;
    CREATE TRIGGER dies BEFORE UPDATE ON usage_backfills EXECUTE FUNCTION die()`);
  expect(await backfillUsage(sql).catch(String)).toContain('killed');
  await sql`drop trigger dies on usage_backfills`;
  while (!(await isUsageBinned(sql))) await Promise.all([backfillUsage(sql), backfillUsage(sql)]);
  await untilFolded(sql);
  expect(await findings()).toEqual([]);
});

test('retention leaves usage where it is until the upgrade has put it in bins', async () => {
  await record('transfers', START, 300);
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
  expect(before?.rows).not.toHaveProperty('transfers');
  await backfillAll();
  const after = await retain(deps, policy);
  expect(after).toMatchObject({ rows: { transfers: 300 }, busy: false });
  expect(after?.closed.length).toBeGreaterThan(0);
  expect(await findings()).toEqual([]);
});
