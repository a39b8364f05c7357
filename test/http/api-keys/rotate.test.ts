// A replaced key works on for the overlap, and never beyond its own end.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { Keys } from './keys.ts';

let server: TestServer;
let keys: Keys;
beforeAll(async () => {
  server = await startServer();
  keys = new Keys(server);
});
afterAll(() => server.stop());

const HOUR_MS = 3_600_000;

const endOf = async (id: string): Promise<number> =>
  Date.parse(String((await keys.find(id))['expires_at']));

test('a rotated API key has the same name and scopes, and the old one works for an hour', async () => {
  const old = await keys.make({ name: 'worker', scopes: ['metering'] });
  const { status, json } = await keys.rotate(old.id);
  expect([status, json]).toEqual([
    201,
    {
      id: json.id,
      key: expect.stringMatching(/^svc_test_[0-9A-Za-z]{43}$/),
      name: 'worker',
      mode: 'test',
      scopes: ['metering'],
      last4: json.key.slice(-4),
      created_at: json.created_at,
      created_by: { kind: 'key', id: expect.any(String), label: expect.any(String) },
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    },
  ]);
  expect([json.id === old.id, json.key === old.key]).toEqual([false, false]);
  expect((await endOf(old.id)) - Date.parse(json.created_at)).toBe(HOUR_MS);
});

test('an API key rotates itself; both work until the overlap ends', async () => {
  const old = await keys.make();
  const { json } = await keys.rotate(old.id, { overlap_seconds: 2 }, { key: old.key });
  expect([await keys.opens(old.key), await keys.opens(json.key)]).toEqual([200, 200]);
  await Bun.sleep((await endOf(old.id)) - Date.now());
  expect([await keys.opens(old.key), await keys.opens(json.key)]).toEqual([401, 200]);
});

test('rotation with an overlap of 0 ends the old API key at once, on every node', async () => {
  const old = await keys.make();
  expect(await keys.opens(old.key)).toBe(200);
  const { json } = await keys.rotate(old.id, { overlap_seconds: 0 });
  expect([await keys.opens(old.key), await keys.opens(json.key)]).toEqual([401, 200]);
});

test('rotation never moves the expiry of the old API key later', async () => {
  const soon = new Date(Date.now() + HOUR_MS / 2).toISOString();
  const old = await keys.make({ expires_at: soon });
  const { json } = await keys.rotate(old.id, { overlap_seconds: 604_800 });
  expect([await endOf(old.id), json.expires_at]).toEqual([Date.parse(soon), null]);
  await keys.rotate(old.id, { overlap_seconds: 60 });
  expect(await endOf(old.id)).toBeLessThan(Date.parse(soon));
});

test('a revoked or expired API key cannot be rotated', async () => {
  const revoked = await keys.make();
  await keys.revoke(revoked.id);
  const expired = await keys.insert({ expiresAt: Date.now() - 1 });
  for (const { id } of [revoked, expired]) {
    const { status, json } = await keys.rotate(id);
    expect([status, json.error.type]).toEqual([409, 'invalid_state']);
  }
  expect((await keys.rotate(expired.id, {}, { key: expired.key })).status).toBe(401);
});

test('of two rotations of an API key at once both succeed, or the second finds it expired', async () => {
  const old = await keys.make();
  const both = await Promise.all([keys.rotate(old.id), keys.rotate(old.id)]);
  expect(both.map(({ status }) => status)).toEqual([201, 201]);
  expect(both[0].json.key).not.toBe(both[1].json.key);
  const at = await keys.make();
  const none = { overlap_seconds: 0 };
  const ended = await Promise.all([keys.rotate(at.id, none), keys.rotate(at.id, none)]);
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set([201, 409]));
});

test('two API keys that rotate each other at once do not deadlock', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [one, two] = [await keys.make(), await keys.make()];
    const both = await Promise.all([
      keys.rotate(two.id, {}, { key: one.key }),
      keys.rotate(one.id, {}, { key: two.key }),
    ]);
    expect(both.map(({ status }) => status)).toEqual([201, 201]);
  }
});

test('an API key that is revoked and rotated at once is revoked', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id, key } = await keys.make();
    const [revoked, replaced] = await Promise.all([keys.revoke(id), keys.rotate(id)]);
    expect(revoked.status).toBe(204);
    expect([201, 409]).toContain(replaced.status);
    expect(await keys.opens(key)).toBe(401);
    if (replaced.status === 201) expect(await keys.opens(replaced.json.key)).toBe(200);
  }
});
