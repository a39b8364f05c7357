// Slugs that products have when the schema learns whose they are stay their organisations'.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { databaseBefore } from './before.ts';

setDefaultTimeout(60_000);

const VERSION = 199;

test('an upgrade keeps the slugs of products for their organisations, also from servers of before', async () => {
  const database = await databaseBefore(VERSION);
  const sql = openPool(database.url, { max: 1, applicationName: 'test upgrade' });
  const [one, two] = [ids.next(), ids.next()];
  await sql`
    insert into organisations (id, name, created_at) values (${one}, 'One', now()), (${two}, 'Two', now())`;
  /** As a server of before makes it. */
  const make = async (organisationId: string, slug: string) => {
    const rows = await sql`
      insert into products (id, organisation_id, mode, slug, name, description, status, metadata, created_at, updated_at)
      values (${ids.next()}, ${organisationId}, 'test', ${slug}, 'x', '', 'active', '{}', now(), now())
      on conflict (slug) do nothing returning id`;
    return rows.length === 1;
  };
  const rename = async (from: string, to: string) => {
    try {
      await sql`update products set slug = ${to} where slug = ${from}`;
      return 'renamed';
    } catch (error) {
      return (error as { constraint_name?: string }).constraint_name;
    }
  };
  expect(await make(one, 'old')).toBe(true);
  await migrate(database.url);
  expect(await rename('old', 'new')).toBe('renamed');
  expect([await make(two, 'old'), await make(two, 'theirs')]).toEqual([false, true]);
  expect(await rename('theirs', 'old')).toBe('products_slug_once');
  expect(await rename('new', 'old')).toBe('renamed');
  expect([await make(two, 'new'), await make(one, 'new')]).toEqual([false, true]);
  await sql.end();
  await database.drop();
});
