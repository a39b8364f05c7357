// What reconciliation reads of our side costs as much as connected accounts took: an index has no
// row of the sandbox, and gives the order.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { ids } from '../../src/platform/ids.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import {
  listUnlistedCharges,
  listUnlistedRefunds,
} from '../../src/records/processor-transactions.ts';
import { freshDatabase } from '../support/database.ts';

const asked: { query: string; parameters: unknown[] }[] = [];
let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres(database.url, {
    max: 1,
    types: { bigint: postgres.BigInt },
    // The tables are empty here, so PostgreSQL would rather read and sort them whole.
    connection: { enable_seqscan: false, enable_bitmapscan: false, enable_sort: false },
    debug: (_connection, query, parameters) => asked.push({ query, parameters }),
  });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const account = {
  organisationId: ids.next(),
  mode: 'live',
  processor: 'stripe:acct_1',
  accountId: ids.next(),
} as const;
const page = {
  window: { since: new Date(0), until: new Date() },
  after: { at: '2026-01-01 00:00:00+00', id: ids.next() },
  limit: 500,
};

test.each([
  ['charges', 'payments_at_processors', listUnlistedCharges],
  ['refunds', 'refunds_at_processors', listUnlistedRefunds],
] as const)('a processor transaction is recorded: %s', async (_name, index, list) => {
  await list(sql, account, page);
  const { query, parameters } =
    asked.findLast(({ query: text }) => text.includes('isListed')) ?? {};
  const rows = await sql.unsafe(`explain ${query}`, parameters as never[]);
  const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n');
  expect(plan).toContain(`using ${index}`);
  expect(plan).not.toContain('Sort');
  expect(plan).not.toContain('Seq Scan');
});
