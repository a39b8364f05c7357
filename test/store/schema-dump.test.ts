// schema.sql is what the migrations make, and PostgreSQL makes the same from it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { expectGenerated } from '../support/generated.ts';
import { scriptOf, VERSIONS } from './before.ts';
import { readComments } from './schema-comments.ts';
import { dumpSchema } from './schema-dump.ts';

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 1, applicationName: 'test schema dump' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

test('schema.sql is what the migrations make, and makes the same', async () => {
  const comments = readComments(VERSIONS.map(scriptOf));
  const text = await dumpSchema(sql, comments);
  expectGenerated({ path: 'src/database/schema.sql', text, command: 'bun run schema' });
  await sql.unsafe('drop schema public cascade; create schema public');
  await sql.unsafe(text);
  expect(await dumpSchema(sql, comments)).toBe(text);
});
