// Only a server, and a command that writes, migrate a schema. Every other command reports another
// schema than its own in one line, and changes nothing.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { WORKER_COMMAND, workerEnvironment } from '../chaos/worker-process.ts';
import { type Finished, runAdmin } from '../support/admin.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { temporaryDataDir } from '../platform/fixture.ts';

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 1, applicationName: 'test schema' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

async function runWorker(): Promise<Finished> {
  const { dataDir } = temporaryDataDir(0o755);
  const child = Bun.spawn([...WORKER_COMMAND], {
    env: { ...process.env, ...workerEnvironment(database.url, dataDir) },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const exitCode = await child.exited;
  rmSync(dataDir, { recursive: true, force: true });
  return { exitCode, stdout, stderr };
}

const READERS: readonly (() => Promise<Finished>)[] = [
  runWorker,
  () => runAdmin(['audit'], database.url),
  () => runAdmin(['retention', '--dry-run'], database.url),
];

/** How each of them ends, and its output. */
async function said(): Promise<readonly string[]> {
  const before = await versions();
  const all = await Promise.all(READERS.map((run) => run()));
  expect(await versions()).toEqual(before);
  return all.map(({ exitCode, stdout, stderr }) => `${exitCode} ${stdout}${stderr}`);
}

async function versions(): Promise<unknown[]> {
  const [table] = await sql`select to_regclass('schema_migrations') as name`;
  return table!['name'] === null
    ? []
    : [...(await sql`select version from schema_migrations order by version`)];
}

test('a server refuses to start on a database that is newer than the program', async () => {
  await sql`insert into schema_migrations (version, name) values (9999, 'of tomorrow')`;
  const line = /^1 the database is at schema 9999; this program knows \d+: start a newer one\n$/;
  for (const words of await said()) expect(words).toMatch(line);
  await sql`delete from schema_migrations where version = 9999`;
});

test('a server refuses to start on a database that is older than the program', async () => {
  await sql`
    delete from schema_migrations
    where version = (select max(version) from schema_migrations)`;
  const line =
    /^1 the database is at schema \d+; this program needs \d+: start a server of its release first\n$/;
  for (const words of await said()) expect(words).toMatch(line);
});

test('a server refuses to start on a database that is empty', async () => {
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  const line = '1 the database has no schema yet: start a server first\n';
  expect(await said()).toEqual(READERS.map(() => line));
});
