// A database of 0.1.0 gets its new constraints even when it is large, and reports whether
// organisation-wide keys were in use.
import { afterAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import { databaseBefore } from './before.ts';

setDefaultTimeout(60_000);

const VERSION = 25;

let database: FreshDatabase | undefined;
let sql: Sql;
beforeEach(async () => {
  await close();
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 1, applicationName: 'test upgrade' });
});
afterAll(close);

async function close(): Promise<void> {
  await sql?.end();
  await database?.drop();
  database = undefined;
}

async function record(id: string, slot: number, fingerprint: string | null): Promise<void> {
  await sql`
    insert into transfers (id, debit, credit, amount, at, value, reason, consumed_after, event_at, fingerprint, kind, slot, node, guarded)
    values (${id}, ${ids.next()}, ${ids.next()}, 1, now(), 1, 'ok', 1, now(), ${fingerprint}, 'single', ${slot}, 1, false)`;
}

async function begin(): Promise<void> {
  await sql`insert into organisations (id, name, created_at) values (${ids.next()}, 'One', now())`;
}

const since = async () => (await sql`select by_customer_since from usage_keys`).length;

test('in a new database an event id is unique in its slot', async () => {
  await record(ids.next(), 1, null);
  // Two processes start together: the one that waits keeps no index from being built.
  await Promise.all([migrate(database!.url), migrate(database!.url)]);
  const id = ids.next();
  await record(id, 1, null);
  await record(id, 2, null);
  expect(await record(id, 1, null).catch(String)).toContain('transfers_id_once');
  expect(await since()).toBe(0);
});

test('an older server without any key yet runs on beside the migration of keys', async () => {
  await begin();
  await migrate(database!.url);
  await record(ids.next(), 1, '7');
  expect(await since()).toBe(1);
});

test('the migration of keys in use completes after a killed start left half an index', async () => {
  await begin();
  await record(ids.next(), 1, '7');
  await sql`create unique index transfers_id_of_slot on transfers (slot)`;
  await migrate(database!.url);
  expect(await since()).toBe(1);
  const invalid = await sql`select from pg_index where not indisvalid`;
  expect(invalid).toHaveLength(0);
});
