// A proxy in front of PostgreSQL that has no backend, as HAProxy during a failover.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { isUnavailable } from '../../src/http/edge/errors.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { checkPostgres, versionRefusal } from '../../src/platform/net/reachable.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { testServices } from '../support/services.ts';
import { until } from '../support/until.ts';

const POOL = 4;
const AWAY_MS = 1000;

let proxy: Proxy;
let sql: Sql;
beforeAll(async () => {
  proxy = await startProxy(testServices().databaseUrl);
  sql = openPool(proxy.url, { max: POOL, applicationName: 'a test' });
});
afterAll(async () => {
  // After a failed connect postgres.js does not end by itself.
  await sql.end({ timeout: 1 });
  await proxy.stop();
});

/** Whether it answered, or failed with an error that callers may retry. */
const answers = (): Promise<boolean> =>
  sql`select 1`.then(
    () => true,
    (error: unknown) => {
      expect(isUnavailable(error)).toBe(true);
      return false;
    },
  );

// postgres.js asks for the types of arrays before the first query of a connection, and waits for
// them nowhere. Unhandled, what that fails of would end the process.
test('a database connection that falls silent while it opens can be given up', async () => {
  proxy.deafenAfter('pg_catalog.pg_type');
  const silent = openPool(proxy.url, { max: 1, applicationName: 'a test' });
  const asked = silent`select 1`.then(
    () => 'answered',
    (error: unknown) => (error as { code?: string }).code,
  );
  await until('it is asked for its types', () => proxy.silenced > 0);
  await silent.end({ timeout: 0 });
  expect(await asked).toBe('CONNECTION_DESTROYED');
  proxy.thaw();
});

test('queries fail while the database is away, without a storm of connections, and work again after', async () => {
  expect(await Promise.all(Array.from({ length: POOL }, answers))).not.toContain(false);
  proxy.detach();
  const before = proxy.accepted;
  const began = performance.now();
  while (performance.now() - began < AWAY_MS) {
    expect(await Promise.all(Array.from({ length: POOL }, answers))).not.toContain(true);
  }
  // Each connection tries again after half a second at most, and sooner at first.
  expect(proxy.accepted - before).toBeWithin(1, 12 * POOL);
  proxy.attach();
  await until('it answers', answers, 2000);
});

test('a listener gets notifications again after the database was away', async () => {
  const heard: string[] = [];
  await sql.listen('after', (said) => heard.push(said));
  proxy.detach();
  // For several of its attempts to connect.
  const before = proxy.accepted;
  await until('it has tried', () => proxy.accepted > before + 3);
  proxy.attach();
  await until('it hears', async () => {
    await sql.notify('after', 'it').catch(() => undefined);
    return heard.length > 0;
  });
});

test('a start without a database behind the proxy says so', async () => {
  proxy.detach();
  expect(await checkPostgres(proxy.url).catch(String)).toContain('does not answer');
  proxy.attach();
});

// prettier-ignore
test.each([
  [150_018, 'this is PostgreSQL 15.18; 18 is needed'],
  [170_006, 'this is PostgreSQL 17.6; 18 is needed'],
  [180_000, null],
  [190_001, null],
])('the server_version_num %d is refused with: %p', (version, said) => {
  expect(versionRefusal(version)).toBe(said);
});

test('a start on an older PostgreSQL says so in one line, by host and without the password', async () => {
  const { databaseUrl } = testServices();
  await checkPostgres(databaseUrl);
  const { host } = new URL(databaseUrl);
  expect(await checkPostgres(databaseUrl, 99).catch(String)).toMatch(
    new RegExp(
      `^ServiceFailure: DATABASE_URL: ${host}: this is PostgreSQL 1\\d\\.\\d+; 99 is needed$`,
    ),
  );
});

test("a pool's connection has no maximal lifetime, which would drop its session's locks", () => {
  expect(sql.options.max_lifetime).toBeNull();
});

test.each([
  ['', 10],
  ['?connect_timeout=30', 30],
  ['?connect_timeout=soon', 10],
])('a connection to a URL with "%s" may take %d s to open', async (query, seconds) => {
  const pool = openPool(`postgres://nobody@127.0.0.1:1/none${query}`, {
    max: 2,
    applicationName: 'test',
  });
  expect(pool.options.connect_timeout).toBe(seconds);
  await pool.end();
});

const codeOf = (error: unknown) => (error as { code?: string }).code;

test('a first connection waits for a slow server, a later one a second for what was fast', async () => {
  const pool = openPool(proxy.url, { max: 1, applicationName: 'a test' });
  const ask = () => pool`select 1 as one`.then(([row]) => row?.['one'], codeOf);
  proxy.deafen();
  const first = ask();
  await Bun.sleep(1500);
  proxy.thaw();
  expect(await first).toBe(1);

  // That took 1.5 s; once it was fast, a later one has a second.
  proxy.cut();
  await until('it is connected again', async () => (await ask()) === 1);
  proxy.deafen();
  proxy.cut();
  const began = performance.now();
  await until('a connect has timed out', async () => (await ask()) === 'CONNECT_TIMEOUT');
  expect(performance.now() - began).toBeLessThan(4000);
  proxy.thaw();

  // A process that is busy itself does not blame the server.
  await until('it is connected again', async () => (await ask()) === 1);
  proxy.cut();
  await until('it has noticed', async () => (await ask()) !== 1);
  const { accepted } = proxy;
  const busy = ask();
  await until('it connects', () => proxy.accepted > accepted);
  Bun.sleepSync(1500);
  expect(await busy).toBe(1);
  await pool.end({ timeout: 1 });
}, 20_000);
