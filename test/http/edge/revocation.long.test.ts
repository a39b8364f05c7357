// A key that another process revokes stops working here within a second, also when the connection
// to the database is lost.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { insertKey } from '../../../src/records/api-keys.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { spawnAdmin } from '../../support/admin.ts';

const WITHIN_MS = 1000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ alone: true });
});
afterAll(() => server.stop());

/** A key in the server's cache. */
async function makeKnownKey(): Promise<{ id: string; key: string }> {
  await untilTrusted();
  const id = ids.next();
  const owner = { kind: 'organisation', organisationId: server.organisation.id } as const;
  const options = { id, owner, mode: 'test', expiresAt: null, now: Date.now() } as const;
  const key = await server.sql.begin((sql) => insertKey(sql, options));
  await server.untilHeard();
  expect(await statusWith(key)).toBe(200);
  return { id, key };
}

async function untilTrusted(): Promise<void> {
  while (!server.changes.trusted) await Bun.sleep(2);
}

const statusWith = async (key: string) => (await server.call('GET', '/meters', { key })).status;

/** How long the key still worked, in milliseconds. */
async function msUntilRefused(key: string): Promise<number> {
  const began = performance.now();
  while ((await statusWith(key)) !== 401) {
    if (performance.now() - began > 5000) throw new Error('it still works after 5 s');
    await Bun.sleep(2);
  }
  return performance.now() - began;
}

const listeners = () => server.sql<{ pid: number }[]>`
  select pid from pg_stat_activity
  where application_name = 'tollhouse changes' and datname = current_database()`;

test('an API key revoked by the admin command in another process is a 401', async () => {
  const { id, key } = await makeKnownKey();
  const revoked = await spawnAdmin(['key', 'revoke', id, '--json'], server.databaseUrl);
  expect([revoked.exitCode, JSON.parse(revoked.stdout)]).toEqual([0, { id, revoked: true }]);
  expect(await msUntilRefused(key)).toBeLessThan(WITHIN_MS);
});

test('an API key revoked right after the listening connection was cut is a 401', async () => {
  const { id, key } = await makeKnownKey();
  const [before] = await listeners();
  await server.sql`select pg_terminate_backend(${before!.pid})`;
  // By SQL, so that no notification is sent.
  await server.sql`update api_keys set revoked_at = now() where id = ${id}`;
  expect(await msUntilRefused(key)).toBeLessThan(WITHIN_MS);
  // And it listens again.
  const { id: nextId, key: nextKey } = await makeKnownKey();
  const [after] = await listeners();
  expect(after!.pid).not.toBe(before!.pid);
  await spawnAdmin(['key', 'revoke', nextId], server.databaseUrl);
  expect(await msUntilRefused(nextKey)).toBeLessThan(WITHIN_MS);
});

test('an API key revoked while the listening connection is silent is a 401', async () => {
  const { id, key } = await makeKnownKey();
  server.proxy.freeze();
  try {
    await server.sql`update api_keys set revoked_at = now() where id = ${id}`;
    expect(await msUntilRefused(key)).toBeLessThan(WITHIN_MS);
  } finally {
    server.proxy.thaw();
  }
});

test('revoking an unknown API key by the admin command is an error', async () => {
  const revoked = await spawnAdmin(['key', 'revoke', ids.next()], server.databaseUrl);
  expect([revoked.exitCode, revoked.stderr.trim()]).toEqual([
    1,
    expect.stringContaining('there is no key'),
  ]);
});
