// What stays open ends with its key: revoked, expired, or ended before it was watched.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openKeyWatch } from '../../../src/http/edge/key-watch.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { findKeyEnds, insertKey, revokeKey } from '../../../src/records/api-keys.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function makeKey(expiresAt: number | null = null): Promise<string> {
  const id = ids.next();
  const owner = { kind: 'organisation', organisationId: server.organisation.id } as const;
  const options = { id, owner, mode: 'test', expiresAt, now: Date.now() } as const;
  await server.sql.begin((sql) => insertKey(sql, options));
  return id;
}

const revoke = (id: string) => server.sql.begin((sql) => revokeKey(sql, { id, now: Date.now() }));

/** A watch of its own, which counts its queries. */
function opened() {
  let asked = 0;
  const watchKey = openKeyWatch({
    findEnds: (keyIds) => {
      asked += 1;
      return findKeyEnds(server.sql, keyIds);
    },
    changes: server.changes,
    clock,
    timers,
    warn: () => undefined,
  });
  return { watchKey, asked: () => asked };
}

/** Resolves when the key has ended, and counts how often that was said. */
function watching({ watchKey }: ReturnType<typeof opened>, id: string) {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let times = 0;
  const stop = watchKey(id, () => {
    times += 1;
    resolve();
  });
  return { ended, stop, times: () => times };
}

test('a revocation ends the watch of that API key, and no other', async () => {
  const watch = opened();
  const [id, otherId] = [await makeKey(), await makeKey()];
  const [one, other] = [watching(watch, id), watching(watch, otherId)];
  await revoke(id);
  await one.ended;
  await revoke(id);
  await server.untilHeard();
  expect([one.times(), other.times()]).toEqual([1, 0]);
  other.stop();
});

test('an expiry ends the watch of an API key at its time', async () => {
  const expiresAt = Date.now() + 400;
  const one = watching(opened(), await makeKey(expiresAt));
  await one.ended;
  expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
});

test('an expiry that is moved forward ends the watch of an API key earlier', async () => {
  const id = await makeKey(Date.now() + 3_600_000);
  const one = watching(opened(), id);
  await server.sql`
    with moved as (update api_keys set expires_at = now() where id = ${id} returning id)
    select pg_notify('tollhouse_changes', 'api_key:' || id) from moved`;
  await one.ended;
});

test('an API key that ended before it was watched ends its watch at once', async () => {
  const id = await makeKey();
  await revoke(id);
  await server.untilHeard();
  const watch = opened();
  await watching(watch, id).ended;
  await watching(watch, await makeKey(Date.now() - 1)).ended;
  await watching(watch, ids.next()).ended;
});

test('a revocation without a notification ends the watch once the cut connection is back', async () => {
  const one = watching(opened(), await makeKey());
  const id = await makeKey();
  const other = watching(opened(), id);
  await server.sql`update api_keys set revoked_at = now() where id = ${id}`;
  await server.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'tollhouse changes' and datname = current_database()`;
  await other.ended;
  expect(one.times()).toBe(0);
  one.stop();
});

test('a thousand watches of one API key are one query, and none hears after it was released', async () => {
  const watch = opened();
  const id = await makeKey();
  const all = Array.from({ length: 1000 }, () => watching(watch, id));
  for (const one of all.slice(1)) one.stop();
  await revoke(id);
  await all[0]!.ended;
  expect(all.map(({ times }) => times()).slice(1)).toEqual(all.slice(1).map(() => 0));
  expect(watch.asked()).toBeLessThanOrEqual(2);
});

test('a change of an API key while its query is under way is queried again', async () => {
  const changes = { trusted: true, subscribe: () => undefined };
  const answers = [Promise.withResolvers<Map<string, null>>()];
  let subscriber = { changed: (_kind: string, _id: string) => undefined as void };
  const watchKey = openKeyWatch({
    findEnds: () => answers.shift()?.promise ?? Promise.resolve(new Map()),
    changes: {
      ...changes,
      subscribe: (given) => {
        subscriber = given as typeof subscriber;
      },
    },
    clock,
    timers,
    warn: () => undefined,
  });
  const stale = answers[0]!;
  const one = watching({ watchKey, asked: () => 0 }, 'k');
  subscriber.changed('api_key', 'k');
  stale.resolve(new Map([['k', null]]));
  await one.ended;
});

test('an API key that cannot be queried ends its watch, but not while notifications are not heard', async () => {
  const changes = { trusted: false, subscribe: () => undefined };
  let asked = 0;
  const findEnds = (): Promise<never> => {
    asked += 1;
    return Promise.reject(new Error('no database'));
  };
  const watchKey = openKeyWatch({ findEnds, changes, clock, timers, warn: () => undefined });
  const one = watching({ watchKey, asked: () => 0 }, 'k');
  await until('it was asked', () => asked === 1);
  expect(one.times()).toBe(0);
  one.stop();
  changes.trusted = true;
  await watching({ watchKey, asked: () => 0 }, 'k').ended;
});
