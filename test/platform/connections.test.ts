// A process that gets no connection of PostgreSQL says so in one line, however many it has by then.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { startProcess } from '../chaos/service-process.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

const ROLE = `test_${randomBytes(6).toString('hex')}`;

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 1, applicationName: 'test connections' });
  // No limit applies to a superuser. This role has the rights of the tests' user, and the given
  // connection limit.
  await sql.unsafe(`
    create role ${ROLE} login password 'few';
    grant ${decodeURIComponent(new URL(database.url).username)} to ${ROLE}`);
});
afterAll(async () => {
  await sql.unsafe(`drop role ${ROLE}`);
  await sql.end();
  await database.drop();
});

// prettier-ignore
test.each([
  [0,  '127.0.0.1:\\d+ does not answer: '],
  [1,  'PostgreSQL has no connection left for this process: '],
  [12, 'PostgreSQL has no connection left for this process: '],
])('a node that gets %i database connections says in one line why it does not start', async (limit, why) => {
  await sql.unsafe(`alter role ${ROLE} connection limit ${limit}`);
  const url = new URL(database.url);
  url.username = ROLE;
  url.password = 'few';
  const node = await startProcess({ databaseUrl: url.href, leaseMs: 5000 });
  expect(await node.exited).toBe(1);
  expect(node.logged).toHaveLength(1);
  expect(node.logged[0]).toMatch(new RegExp(`^DATABASE_URL: ${why}too many connections for role`));
}, 60_000);
