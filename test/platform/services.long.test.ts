// The embedded PostgreSQL and Redis are killed, orphaned and locked out, and run again.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRuntime } from '../../src/platform/embedded/services.ts';
import { Embedded, failureOf } from './embedded.ts';
import { startInstance, temporaryDataDir } from './fixture.ts';

const AGAIN = 'a service runs again';

const embedded = new Embedded();
beforeAll(() => embedded.start(), 180_000); // The very first start on a machine may have to install Redis.
afterAll(() => embedded.close());

test('a second start on the same DATA_DIR is refused in one line, here and elsewhere', async () => {
  const line = `${embedded.dataDir} is in use by process ${process.pid}: stop it, or set another DATA_DIR`;
  expect(await failureOf(embedded.open())).toBe(line);
  const second = await startInstance(embedded.dataDir);
  expect(second.said).toBe(line);
  expect(await second.child.exited).toBe(1);
  expect(await embedded.withSql((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

test('a killed PostgreSQL is started again and has lost nothing', async () => {
  await embedded.withSql((sql) => sql`create table before_kill as select 7 as value`);
  const again = embedded.log.next(`PostgreSQL: ${AGAIN}`);
  process.kill(embedded.postmaster(), 'SIGKILL');
  await again;
  expect(await embedded.withSql((sql) => sql`select value from before_kill`)).toEqual([
    { value: 7 },
  ]);
});

test('a killed Redis is started again', async () => {
  const again = embedded.log.next(`Redis: ${AGAIN}`);
  for (const pid of embedded.pidsOf('redis')) process.kill(pid, 'SIGKILL');
  await again;
  expect(await embedded.withRedis((redis) => redis.ping())).toBe('PONG');
});

test('services that a killed process left running are ended by the next start, which keeps its data', async () => {
  await embedded.services.stop();
  const { child, said } = await startInstance(embedded.dataDir);
  expect(said).toBe('ready');
  await embedded.withSql((sql) => sql`create table orphaned as select 9 as value`);
  child.kill('SIGKILL');
  await child.exited;
  const orphans = embedded.pids();
  expect(orphans.length).toBeGreaterThan(2);
  expect(readRuntime(embedded.dataDir)).toBeUndefined();

  const { databaseUrl } = embedded.services;
  await embedded.start();
  expect(embedded.services.databaseUrl).toBe(databaseUrl);
  expect(embedded.pids().filter((pid) => orphans.includes(pid))).toEqual([]);
  expect(await embedded.withSql((sql) => sql`select value from orphaned`)).toEqual([{ value: 9 }]);
});

test('a pid file that names a living stranger does not block the start', async () => {
  await embedded.services.stop();
  const cluster = join(embedded.dataDir, 'services/postgres');
  const { uid } = statSync(cluster);
  // pid 1 exists on every machine, and is never our PostgreSQL.
  writeFileSync(join(cluster, 'postmaster.pid'), `1\n${cluster}\n0\n5432\n\n\n\nready\n`);
  await embedded.start();
  expect(statSync(cluster).uid).toBe(uid);
  expect(await embedded.withSql((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

test('a DATA_DIR that no other user can enter works, and nothing runs as root', async () => {
  const closed = temporaryDataDir(0o700);
  const opened = await embedded.open(closed.dataDir);
  const cluster = realpathSync(join(closed.dataDir, 'services/postgres'));
  try {
    expect(await embedded.withSql((sql) => sql`select 1 as one`, opened.databaseUrl)).toEqual([
      { one: 1 },
    ]);
    expect(statSync(cluster).uid).not.toBe(0);
    expect(statSync(join(cluster, 'postmaster.pid')).uid).toBe(statSync(cluster).uid);
  } finally {
    await opened.stop();
    closed.remove();
  }
  expect(() => statSync(cluster)).toThrow('ENOENT');
});

test('a lost services.json is reported in one line', async () => {
  const lost = temporaryDataDir(0o755);
  const first = await embedded.open(lost.dataDir);
  await first.stop();
  rmSync(join(lost.dataDir, 'services.json'));
  expect(await failureOf(embedded.open(lost.dataDir))).toMatch(
    /^the embedded PostgreSQL refuses us: .*$/,
  );
  lost.remove();
});
