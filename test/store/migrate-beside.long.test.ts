// An upgrade while an older server runs: it delays no call for long, and tries again later where a
// lock is in its way. And an upgrade that is killed at its most critical points.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { migrate } from '../../src/database/migrate.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { databaseBefore, scriptOf, VERSIONS } from './before.ts';

setDefaultTimeout(60_000);

/** The migrations after the last release whose trigger fanned out. */
const VERSION = 23;
const NEWEST = BigInt(must(VERSIONS.at(-1), 'a version'));

let database: FreshDatabase;
let sql: Sql;
beforeEach(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 4, applicationName: 'test upgrade' });
});
afterEach(async () => {
  await sql.end();
  await database.drop();
});

async function tell(on: Pick<Sql, 'unsafe'> = sql): Promise<void> {
  const id = ids.next();
  await on.unsafe(`
    insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data)
    values ('${id}', '${id}', 'test', 'usage.recorded', 'USAGE', '${id}', 1, now(), '{}')`);
}

async function replayed(on: Pick<Sql, 'unsafe'> = sql): Promise<void> {
  await on.unsafe(`insert into event_fanouts (event_id, owed) values ('${ids.next()}', 1)`);
}

const waits = () => until('the migration waits', () => isWaiting());
async function isWaiting(): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity where datname = current_database()
      and application_name = 'tollhouse migrate' and wait_event_type = 'Lock'`;
  return rows.length > 0;
}

async function versions(): Promise<bigint> {
  const [row] = await sql<{ newest: bigint }[]>`
    select max(version) as newest from schema_migrations`;
  return must(row, 'a version').newest;
}

test('during a migration a server that writes events and then deliveries waits for no lock', async () => {
  let migrating: Promise<void> | undefined;
  await sql.begin(async (writer) => {
    await writer`lock table events in row exclusive mode`;
    migrating = migrate(database.url);
    await waits();
    await tell(writer);
    await replayed(writer);
  });
  await migrating;
  expect(await versions()).toBe(NEWEST);
});

test('during a migration that waits for a long read, other statements continue', async () => {
  let migrating: Promise<void> | undefined;
  await sql.begin(async (reader) => {
    await reader`select from events limit 1`;
    migrating = migrate(database.url);
    await waits();
    await tell();
  });
  await migrating;
  const [row] = await sql`select count(*)::int as count from event_fanouts where position = 0`;
  expect(row).toEqual({ count: 1 });
  // An older server still replays.
  await replayed();
});

test('a migration that was interrupted is recorded as applied, or was not applied', async () => {
  for (const version of VERSIONS.filter((one) => one >= VERSION)) {
    await sql.unsafe(`
      alter table schema_migrations drop constraint if exists not_this_one;
      alter table schema_migrations add constraint not_this_one check (version <> ${version})`);
    const failure = await migrate(database.url).catch(String);
    expect(failure).toStartWith(`MigrationFailure: migration ${version} failed: `);
    expect(failure).toContain('not_this_one');
  }
  await sql`alter table schema_migrations drop constraint not_this_one`;
  await migrate(database.url);
  expect(await versions()).toBe(NEWEST);
});

test('a migration that is no transaction may be killed after each of its statements', async () => {
  for (const version of VERSIONS.filter((one) => one >= VERSION)) {
    const script = scriptOf(version);
    if (!script.startsWith('-- Outside a transaction:')) continue;
    await sql.unsafe(`
      alter table schema_migrations drop constraint if exists not_this_one;
      alter table schema_migrations add constraint not_this_one check (version <> ${version})`);
    await migrate(database.url).catch(() => undefined);
    const statements = script.split(/;\s*\n/);
    // Each attempt continues where the one before was killed.
    for (const index of statements.keys()) {
      for (const statement of statements.slice(0, index + 1)) await sql.unsafe(statement);
    }
  }
  await sql`alter table schema_migrations drop constraint not_this_one`;
  await migrate(database.url);
  expect(await sql`select from pg_index where not indisvalid`).toHaveLength(0);
});
