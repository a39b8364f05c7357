import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { freshDatabase } from '../support/database.ts';
import { testServices } from '../support/services.ts';

test('test databases made at once are separate, and gone after drop', async () => {
  const databases = await Promise.all([freshDatabase(), freshDatabase(), freshDatabase()]);
  expect(new Set(databases.map(({ url }) => url)).size).toBe(3);
  for (const { url } of databases) {
    const sql = postgres(url, { max: 1 });
    // This would fail in a shared database.
    await sql`create table mine ()`;
    await sql.end();
  }
  await Promise.all(databases.map((database) => database.drop()));
  const sql = postgres(testServices().databaseUrl, { max: 1 });
  const names = databases.map(({ url }) => new URL(url).pathname.slice(1));
  expect(await sql`select datname from pg_database where datname in ${sql(names)}`).toBeEmpty();
  await sql.end();
});

test("a test database's connection that was left open fails the drop, with its last query", async () => {
  const database = await freshDatabase();
  const leaked = postgres(database.url, { max: 1, onclose: () => undefined });
  await leaked`select 'the leaking query'`;
  expect(await database.drop().catch(String)).toContain('the leaking query');
  await leaked.end();
});
