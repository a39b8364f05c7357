// Every table says which of its rows a change is of, so that all of them can be published.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeMonths } from '../../src/database/archive-months.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 1, applicationName: 'a test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

/** Tables of which PostgreSQL refuses an UPDATE and a DELETE once they are published. */
const nameless = async (): Promise<string[]> => {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relpersistence = 'p'
      and not (relreplident = 'f'
        or relreplident = 'd' and exists (select from pg_index where indrelid = c.oid and indisprimary)
        or relreplident = 'i' and exists (select from pg_index where indrelid = c.oid and indisreplident))
    order by 1`;
  return rows.map(({ name }) => name);
};

test('every table has a replica identity, and so has each new month of the archive', async () => {
  await makeMonths(sql, [{ month: new Date('2031-05-01T00:00:00Z') }]);
  expect(await nameless()).toEqual([]);
});
