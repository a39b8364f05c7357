// What keys of the release before were answered is answered again.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { databaseBefore } from './before.ts';

setDefaultTimeout(60_000);

const VERSION = 173;

test('an upgrade gives the operation of each stored answer its one name', async () => {
  const database = await databaseBefore(VERSION);
  const sql = openPool(database.url, { max: 1, applicationName: 'test upgrade' });
  const names = ['POST /invoices/:id/pay', 'POST /products/{id}/prices', 'POST /tags'];
  await sql`
    insert into idempotency (organisation_id, mode, operation, key_hash, request_hash, status, body, created_at)
    select uuidv7(), 'test', name, 'key', 'body', 200, '{}', now() from unnest(${names}::text[]) as name`;
  await migrate(database.url);
  const rows = await sql`select operation from idempotency order by operation`;
  expect(rows.map((row) => row['operation'] as string)).toEqual([
    'POST /invoices/{id}/pay',
    'POST /products/{id}/prices',
    'POST /tags',
  ]);
  await sql.end();
  await database.drop();
});
