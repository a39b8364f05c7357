// Lists read as much of a table as they show: the database finds their order in an index, however many rows there are.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { ids } from '../../src/platform/ids.ts';
import type { Sql } from '../../src/platform/postgres.ts';
import { listAnnotations } from '../../src/records/annotations.ts';
import { listInvoices } from '../../src/records/invoices.ts';
import { listSubscriptions } from '../../src/records/subscriptions.ts';
import { freshDatabase } from '../support/database.ts';

const scope = { organisationId: ids.next(), mode: 'live' } as const;
const page = { limit: 50, offset: 0 };
const one = ids.next();

const asked: string[] = [];
let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres(database.url, {
    max: 1,
    types: { bigint: postgres.BigInt },
    // Tables are empty here, and would be read whole.
    connection: { enable_seqscan: false, enable_bitmapscan: false },
    debug: (_connection, query) => asked.push(query),
  });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const LISTS: [string, () => Promise<unknown>][] = [
  ['subscriptions', () => listSubscriptions(sql, scope, page)],
  [
    'subscriptions of a customer',
    () => listSubscriptions(sql, scope, { ...page, customerId: one }),
  ],
  ['invoices', () => listInvoices(sql, scope, page)],
  ['invoices of a customer', () => listInvoices(sql, scope, { ...page, customerId: one })],
  ['tags', () => listAnnotations(sql, scope, { ...page, kind: 'tag' })],
  ['tags of a name', () => listAnnotations(sql, scope, { ...page, kind: 'tag', name: 'vip' })],
];

test.each(LISTS)('%s', async (_name, list) => {
  asked.length = 0;
  await list();
  const [query = ''] = asked.filter((text) => /order by .* limit/s.test(text));
  const plan = await sql.unsafe(`explain (generic_plan, costs off) ${query}`);
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('Index Scan');
  expect(text).not.toMatch(/^\s*(?:->\s+)?Sort$/m);
});
