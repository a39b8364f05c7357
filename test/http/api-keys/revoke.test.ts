// A revoked key opens nothing on any node from the answer on. One key of an organisation stays.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { Keys } from './keys.ts';

let server: TestServer;
let keys: Keys;
beforeAll(async () => {
  server = await startServer();
  keys = new Keys(server);
});
afterAll(() => server.stop());

test('a revoked API key is a 401 from then on, on every node', async () => {
  const { id, key } = await keys.make();
  expect(await keys.opens(key)).toBe(200);
  const gone = await keys.revoke(id);
  expect([gone.status, gone.text]).toEqual([204, '']);
  expect(await keys.opens(key)).toBe(401);
  const { revoked_at: at } = await keys.find(id);
  expect(Date.parse(String(at))).toBeGreaterThan(Date.now() - 60_000);
});

test('revoking an API key again gives the same answer and changes nothing', async () => {
  const { id } = await keys.make();
  await keys.revoke(id);
  const before = await keys.find(id);
  expect((await keys.revoke(id.toUpperCase())).status).toBe(204);
  expect(await keys.find(id)).toEqual(before);
  // One that has expired may be revoked too.
  const expired = await keys.insert({ expiresAt: Date.now() - 1 });
  expect((await keys.revoke(expired.id)).status).toBe(204);
});

test('an API key cannot revoke itself, however its id is written', async () => {
  const { id, key } = await keys.make();
  for (const name of [id, id.toUpperCase()]) {
    const { status, json } = await keys.revoke(name, { key });
    expect([status, json.error.type]).toEqual([409, 'conflict']);
  }
  expect(await keys.opens(key)).toBe(200);
});

test('revoking a key of another organisation or mode, of a group, or none is 404', async () => {
  const { id, key } = await keys.make();
  const { organisation, other, group } = server;
  for (const stranger of [organisation.liveKey, other.testKey, other.liveKey]) {
    for (const reply of [
      await keys.revoke(id, { key: stranger }),
      await keys.rotate(id, {}, { key: stranger }),
    ]) {
      expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    }
  }
  const [ofGroup] = await server.sql<{ id: string }[]>`
    select id from api_keys where group_id = ${group.id} limit 1`;
  for (const unknown of [ofGroup!.id, ids.next(), 'x', 'a%00b', '%F0%9F%94%91']) {
    expect((await keys.revoke(unknown)).status).toBe(404);
    expect((await keys.rotate(unknown)).status).toBe(404);
  }
  expect(await keys.opens(key)).toBe(200);
});

test('of two API keys that revoke each other at once one stays', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [one, two] = [await keys.make(), await keys.make()];
    const replies = await Promise.all([
      keys.revoke(two.id, { key: one.key }),
      keys.revoke(one.id, { key: two.key }),
    ]);
    const isFirst = replies[0].status === 204;
    expect(replies.map(({ status }) => status)).toEqual(isFirst ? [204, 401] : [401, 204]);
    const statuses = [await keys.opens(one.key), await keys.opens(two.key)];
    expect(statuses).toEqual(isFirst ? [200, 401] : [401, 200]);
  }
});

test('an API key that is being revoked neither makes nor rotates keys', async () => {
  for (let round = 0; round < 10; round += 1) {
    const caller = await keys.make();
    const target = await keys.make();
    const [revoked, ...made] = await Promise.all([
      keys.revoke(caller.id),
      keys.post({ name: `${round}` }, { key: caller.key }),
      keys.rotate(caller.id, {}, { key: caller.key }),
      keys.rotate(target.id, {}, { key: caller.key }),
    ]);
    expect(revoked.status).toBe(204);
    const { revoked_at: at } = await keys.find(caller.id);
    for (const { status, json, headers } of made) {
      expect([201, 401]).toContain(status);
      if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer');
      // What it made, it made before.
      if (status === 201) expect(json.created_at <= String(at)).toBe(true);
    }
  }
});

test('an API key that another process revoked makes no key, before that is heard', async () => {
  const { id, key } = await keys.make();
  expect(await keys.opens(key)).toBe(200);
  await server.sql`update api_keys set revoked_at = now() where id = ${id}`;
  const target = await keys.make();
  for (const { status, headers } of [
    await keys.post({}, { key }),
    await keys.rotate(id, {}, { key }),
    await keys.rotate(target.id, {}, { key, headers: { 'idempotency-key': 'unheard' } }),
    await keys.revoke(target.id, { key }),
  ]) {
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  }
  expect(await keys.opens(target.key)).toBe(200);
});
