// The embedded PostgreSQL and Redis while they run. Starts, stops and kills: services.long.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openServices, readRuntime } from '../../src/platform/embedded/services.ts';
import { Embedded, failureOf, wrongPassword } from './embedded.ts';

const embedded = new Embedded();
beforeAll(() => embedded.start(), 180_000); // The very first start on a machine may have to install Redis.
afterAll(() => embedded.close());

test('the running instance is found through DATA_DIR', () => {
  const { databaseUrl, redisUrl } = embedded.services;
  expect(readRuntime(embedded.dataDir)).toEqual({ pid: process.pid, databaseUrl, redisUrl });
  expect(readRuntime(join(embedded.dataDir, 'nowhere'))).toBeUndefined();
});

test.each(['runtime.json', 'services.json', 'lock', 'services/redis.conf'])(
  'the file %s is readable by its owner alone',
  (name) => {
    expect(statSync(join(embedded.dataDir, name)).mode & 0o777).toBe(0o600);
  },
);

test('a second start on the same DATA_DIR is refused in one line', async () => {
  const line = `${embedded.dataDir} is in use by process ${process.pid}: stop it, or set another DATA_DIR`;
  expect(await failureOf(embedded.open())).toBe(line);
  expect(await embedded.withSql((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
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
  const [row] = await embedded.withSql((sql) => sql`select current_setting(${name}) as value`);
  expect(row?.['value']).toBe(value);
});

// prettier-ignore
test.each([
  ['maxmemory-policy', 'noeviction'],
  ['appendonly',       'yes'],
  ['appendfsync',      'everysec'],
  ['bind',             '127.0.0.1'],
])('Redis runs with %s = %s', async (name, value) => {
  expect(await embedded.withRedis((redis) => redis.config('GET', name))).toEqual([name, value]);
});

test.each([
  [
    'PostgreSQL',
    () => embedded.withSql((sql) => sql`select 1`, wrongPassword(embedded.services.databaseUrl)),
  ],
  [
    'Redis',
    () => embedded.withRedis((redis) => redis.ping(), wrongPassword(embedded.services.redisUrl)),
  ],
])('%s refuses a wrong password', async (_name, ask) => {
  expect(await failureOf(ask())).toMatch(/password|closed/i);
});

test('configured servers are used as they are', async () => {
  const { databaseUrl, redisUrl } = embedded.services;
  const unused = join(embedded.dataDir, 'unused');
  const opened = await openServices({ databaseUrl, redisUrl, dataDir: unused }, embedded.log);
  expect(opened).toMatchObject({ databaseUrl, redisUrl, embedded: false });
  await opened.stop();
  expect(await embedded.withRedis((redis) => redis.ping())).toBe('PONG');
  expect(() => statSync(unused)).toThrow('ENOENT');
});

// prettier-ignore
test.each([
  ['DATABASE_URL', 'postgres://u:secret@127.0.0.1:1/t', undefined],
  ['REDIS_URL',    undefined,                           'redis://:secret@127.0.0.1:1'],
])('%s that does not answer is reported in one line without the password', async (name, databaseUrl, redisUrl) => {
  const line = await failureOf(openServices({ databaseUrl, redisUrl, dataDir: embedded.dataDir }, embedded.log));
  expect(line).toStartWith(`${name}: 127.0.0.1:1 does not answer: `);
  expect(line).not.toMatch(/secret|\n/);
});

test('stopped services leave no process behind; started again, they have what was written', async () => {
  await embedded.withSql((sql) => sql`create table kept as select 1 as value`);
  await embedded.withRedis((redis) => redis.set('kept', '1'));
  const { databaseUrl, redisUrl } = embedded.services;
  expect(embedded.pids().length).toBeGreaterThan(2);
  await Promise.all([embedded.services.stop(), embedded.services.stop()]);
  expect(embedded.pids()).toEqual([]);
  expect(readRuntime(embedded.dataDir)).toBeUndefined();
  await embedded.start();
  expect(embedded.services).toMatchObject({ databaseUrl, redisUrl });
  expect(await embedded.withSql((sql) => sql`select value from kept`)).toEqual([{ value: 1 }]);
  expect(await embedded.withRedis((redis) => redis.get('kept'))).toBe('1');
});
