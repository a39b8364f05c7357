// A schema that this program cannot use is reported in one line, and no node serves on it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { startProcess } from '../chaos/service-process.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 1, applicationName: 'test migrate' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

async function failure(): Promise<string> {
  return migrate(database.url).then(
    () => '',
    (error: unknown) => String(error),
  );
}

test('migrating a current database leaves it as it is', async () => {
  expect(await failure()).toBe('');
});

test('a migration file that changed after it was applied is refused', async () => {
  const [applied] = await sql`select md5 from schema_migrations where version = 5`;
  await sql`update schema_migrations set md5 = 'another' where version = 5`;
  expect(await failure()).toStartWith(
    'MigrationFailure: migration 5 is not what was applied to this database: start the release that it came from: ',
  );
  await sql`update schema_migrations set md5 = ${applied!['md5'] as string} where version = 5`;
});

test('a migration that PostgreSQL refuses stops the start', async () => {
  // It adds columns, which are there already.
  const undone = await sql<{ version: bigint; md5: string; name: string }[]>`
    delete from schema_migrations where version >= 45 returning version, md5, name`;
  expect(await failure()).toMatch(/^MigrationFailure: migration 45 failed: PostgresError: .*$/);
  await sql`insert into schema_migrations ${sql(
    undone.map(({ version, md5, name }) => ({ version: String(version), md5, name })),
  )}`;
  expect(await failure()).toBe('');
});

test('a database that is newer than the program: the server says so and ends', async () => {
  await sql`insert into schema_migrations (version, name) values (9999, 'of tomorrow')`;
  const server = await startProcess({ databaseUrl: database.url, leaseMs: 5000 });
  expect(await server.exited).toBe(1);
  expect(server.logged).toHaveLength(1);
  expect(server.logged[0]).toMatch(
    /^the database is at schema 9999; this program knows \d+: start a newer one$/,
  );
});
