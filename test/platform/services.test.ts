import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import postgres, { type Row, type Sql } from 'postgres';
import { processesIn } from '../../src/platform/embedded/processes.ts';
import { openServices, readRuntime, type Services } from '../../src/platform/embedded/services.ts';
import { RecordedLog, startInstance, temporaryDataDir } from './fixture.ts';

const AGAIN = 'a service runs again';
const directory = temporaryDataDir(0o755);
const { dataDir } = directory;
const log = new RecordedLog();
let services: Services;

beforeAll(async () => {
  services = await open();
}, 180_000); // The very first start on a machine may have to install Redis.

afterAll(async () => {
  await services.stop();
  directory.remove();
});

test('what was written is there after stop and start, under the same URLs', async () => {
  await withSql((sql) => sql`create table kept as select 1 as value`);
  await withRedis((redis) => redis.set('kept', '1'));
  const before = services;
  await services.stop();
  services = await open();
  expect(services.databaseUrl).toBe(before.databaseUrl);
  expect(services.redisUrl).toBe(before.redisUrl);
  expect(await withSql((sql) => sql`select value from kept`)).toEqual([{ value: 1 }]);
  expect(await withRedis((redis) => redis.get('kept'))).toBe('1');
});

test('stop leaves no process behind, and may be called twice', async () => {
  const pids = servicePids();
  expect(pids.length).toBeGreaterThan(2);
  await Promise.all([services.stop(), services.stop()]);
  expect(servicePids()).toEqual([]);
  expect(readRuntime(dataDir)).toBeUndefined();
  services = await open();
});

test('the running instance is found through DATA_DIR', () => {
  const { databaseUrl, redisUrl } = services;
  expect(readRuntime(dataDir)).toEqual({ pid: process.pid, databaseUrl, redisUrl });
  expect(readRuntime(join(dataDir, 'nowhere'))).toBeUndefined();
});

test.each(['runtime.json', 'services.json', 'lock', 'services/redis.conf'])(
  'only the owner reads %s',
  (name) => {
    expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
  },
);

test('a second start on the same DATA_DIR is refused in one line, here and elsewhere', async () => {
  const line = `${dataDir} is in use by process ${process.pid}: stop it, or set another DATA_DIR`;
  expect(await failureOf(open())).toBe(line);
  const second = await startInstance(dataDir);
  expect(second.said).toBe(line);
  expect(await second.child.exited).toBe(1);
  expect(await withSql((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

test('a killed PostgreSQL is started again and has lost nothing', async () => {
  await withSql((sql) => sql`create table before_kill as select 7 as value`);
  const again = log.next(`PostgreSQL: ${AGAIN}`);
  process.kill(postmaster(), 'SIGKILL');
  await again;
  expect(await withSql((sql) => sql`select value from before_kill`)).toEqual([{ value: 7 }]);
});

test('a killed Redis is started again', async () => {
  const again = log.next(`Redis: ${AGAIN}`);
  for (const pid of pidsOf('redis')) process.kill(pid, 'SIGKILL');
  await again;
  expect(await withRedis((redis) => redis.ping())).toBe('PONG');
});

test('what a killed process left running is ended by the next start, which keeps its data', async () => {
  await services.stop();
  const { child, said } = await startInstance(dataDir);
  expect(said).toBe('ready');
  await withSql((sql) => sql`create table orphaned as select 9 as value`);
  child.kill('SIGKILL');
  await child.exited;
  const orphans = servicePids();
  expect(orphans.length).toBeGreaterThan(2);
  expect(readRuntime(dataDir)).toBeUndefined();

  const { databaseUrl } = services;
  services = await open();
  expect(services.databaseUrl).toBe(databaseUrl);
  expect(servicePids().filter((pid) => orphans.includes(pid))).toEqual([]);
  expect(await withSql((sql) => sql`select value from orphaned`)).toEqual([{ value: 9 }]);
});

test('a pid file that names a living stranger does not block the start', async () => {
  await services.stop();
  const cluster = join(dataDir, 'services/postgres');
  const { uid } = statSync(cluster);
  // pid 1 exists on every machine, and is never our PostgreSQL.
  writeFileSync(join(cluster, 'postmaster.pid'), `1\n${cluster}\n0\n5432\n\n\n\nready\n`);
  services = await open();
  expect(statSync(cluster).uid).toBe(uid);
  expect(await withSql((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

// prettier-ignore
test.each([
  ['fsync',                   'on'],
  ['synchronous_commit',      'on'],
  ['full_page_writes',        'on'],
  ['listen_addresses',        '127.0.0.1'],
  ['unix_socket_directories', ''],
  ['max_connections',         '100'],
  ['max_wal_size',            '4GB'],
  ['checkpoint_timeout',      '15min'],
  ['jit',                     'off'],
  ['data_checksums',          'on'],
  ['server_encoding',         'UTF8'],
  ['TimeZone',                'UTC'],
])('PostgreSQL runs with %s = %s', async (name, value) => {
  const [row] = await withSql((sql) => sql`select current_setting(${name}) as value`);
  expect(row?.['value']).toBe(value);
});

// prettier-ignore
test.each([
  ['maxmemory-policy', 'noeviction'],
  ['appendonly',       'yes'],
  ['appendfsync',      'everysec'],
  ['bind',             '127.0.0.1'],
])('Redis runs with %s = %s', async (name, value) => {
  expect(await withRedis((redis) => redis.config('GET', name))).toEqual([name, value]);
});

test.each([
  ['PostgreSQL', () => withSql((sql) => sql`select 1`, wrongPassword(services.databaseUrl))],
  ['Redis', () => withRedis((redis) => redis.ping(), wrongPassword(services.redisUrl))],
])('%s refuses a wrong password', async (_name, ask) => {
  expect(await failureOf(ask())).toMatch(/password|closed/i);
});

test('configured servers are used as they are', async () => {
  const { databaseUrl, redisUrl } = services;
  const unused = join(dataDir, 'unused');
  const opened = await openServices({ databaseUrl, redisUrl, dataDir: unused }, log);
  expect(opened).toMatchObject({ databaseUrl, redisUrl, embedded: false });
  await opened.stop();
  expect(await withRedis((redis) => redis.ping())).toBe('PONG');
  expect(() => statSync(unused)).toThrow('ENOENT');
});

// prettier-ignore
test.each([
  ['DATABASE_URL', 'postgres://u:secret@127.0.0.1:1/t', undefined],
  ['REDIS_URL',    undefined,                           'redis://:secret@127.0.0.1:1'],
])('%s that does not answer is one line without the password', async (name, databaseUrl, redisUrl) => {
  const line = await failureOf(openServices({ databaseUrl, redisUrl, dataDir }, log));
  expect(line).toStartWith(`${name}: 127.0.0.1:1 does not answer: `);
  expect(line).not.toMatch(/secret|\n/);
});

test('a DATA_DIR that no other user can enter is no obstacle, and nothing runs as root', async () => {
  const closed = temporaryDataDir(0o700);
  const opened = await open(closed.dataDir);
  const cluster = realpathSync(join(closed.dataDir, 'services/postgres'));
  try {
    expect(await withSql((sql) => sql`select 1 as one`, opened.databaseUrl)).toEqual([{ one: 1 }]);
    expect(statSync(cluster).uid).not.toBe(0);
    expect(statSync(join(cluster, 'postmaster.pid')).uid).toBe(statSync(cluster).uid);
  } finally {
    await opened.stop();
    closed.remove();
  }
  expect(() => statSync(cluster)).toThrow('ENOENT');
});

test('a lost services.json is said in one line', async () => {
  const lost = temporaryDataDir(0o755);
  const first = await open(lost.dataDir);
  await first.stop();
  rmSync(join(lost.dataDir, 'services.json'));
  expect(await failureOf(open(lost.dataDir))).toMatch(/^the embedded PostgreSQL refuses us: .*$/);
  lost.remove();
});

function open(at = dataDir): Promise<Services> {
  const config = { databaseUrl: undefined, redisUrl: undefined, dataDir: at };
  return openServices(config, log);
}

async function withSql(
  task: (sql: Sql) => PromiseLike<Row[]>,
  url = services.databaseUrl,
): Promise<Row[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 5 });
  try {
    return [...(await task(sql))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function withRedis<T>(
  task: (redis: Redis) => Promise<T>,
  url = services.redisUrl,
): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    return await task(redis);
  } finally {
    redis.disconnect();
  }
}

function wrongPassword(url: string): string {
  const wrong = new URL(url);
  wrong.password = 'wrong';
  return wrong.href;
}

function postmaster(): number {
  const file = join(dataDir, 'services/postgres/postmaster.pid');
  return Number(readFileSync(file, 'utf8').split('\n')[0]);
}

function pidsOf(service: 'postgres' | 'redis'): number[] {
  const own = realpathSync(join(dataDir, 'services', service));
  const { uid, gid } = statSync(own);
  return processesIn(own, process.getuid?.() === 0 ? { uid, gid } : undefined);
}

function servicePids(): number[] {
  return [...pidsOf('postgres'), ...pidsOf('redis')];
}

async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
