import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { Keys } from './keys.ts';

let server: TestServer;
let keys: Keys;
beforeAll(async () => {
  server = await startServer({ edited: true });
  keys = new Keys(server);
});
afterAll(() => server.stop());

test('an API key made without scopes or an end may do everything, and never expires', async () => {
  const before = Date.now();
  const { status, json } = await keys.post();
  expect([status, json]).toEqual([
    201,
    {
      id: json.id,
      key: expect.stringMatching(/^svc_test_[0-9A-Za-z]{43}$/),
      name: null,
      mode: 'test',
      scopes: ['all'],
      last4: json.key.slice(-4),
      created_at: json.created_at,
      created_by: { kind: 'key', id: expect.any(String), label: expect.any(String) },
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    },
  ]);
  expect(Date.parse(json.created_at)).toBeGreaterThanOrEqual(before);
  expect(await keys.opens(json.key)).toBe(200);
  const { key: _key, ...shown } = json;
  expect(await keys.find(json.id)).toEqual(shown);
});

test('an API key has the name, the scopes and the expiry that it is given', async () => {
  const expires = '2099-01-01T00:00:00.000Z';
  const body = { name: 'worker 1', scopes: ['metering'], expires_at: '2099-01-01T01:00:00+01:00' };
  const made = await keys.make(body);
  expect(made).toMatchObject({ name: 'worker 1', scopes: ['metering'], expires_at: expires });
  expect(await keys.find(made.id)).toMatchObject({ ...body, expires_at: expires });
});

test('created_by of an API key is the key that made it, as long as that exists', async () => {
  const maker = await keys.make({ name: 'deploys' });
  const { id, created_by: said } = await keys.make({}, { key: maker.key });
  expect(said).toEqual({ kind: 'key', id: maker.id, label: 'deploys' });
  expect(await keys.find(id)).toMatchObject({ created_by: said });
  const nameless = await keys.make();
  const { created_by: by } = await keys.make({}, { key: nameless.key });
  expect(by).toMatchObject({ label: nameless.key.slice(-4) });
  await server.sql`delete from api_keys where id = ${maker.id}`;
  expect(await keys.find(id)).toMatchObject({ created_by: { id: maker.id, label: null } });
  const { id: byHand } = await keys.insert();
  expect(await keys.find(byHand)).toMatchObject({ created_by: null });
});

test('an API key makes keys of its own mode', async () => {
  const live = { key: server.organisation.liveKey };
  const made = await keys.make({}, live);
  expect([made['mode'], made.key.slice(0, 9)]).toEqual(['live', 'svc_live_']);
  expect(await keys.find(made.id)).toBeUndefined();
  expect(await keys.find(made.id, live)).toMatchObject({ mode: 'live' });
  expect(await keys.find(made.id, { key: server.other.liveKey })).toBeUndefined();
});

test('an API key expires at its expires_at', async () => {
  const expiresAt = Date.now() + 2000;
  const { key } = await keys.make({ expires_at: new Date(expiresAt).toISOString() });
  expect(await keys.opens(key)).toBe(200);
  await Bun.sleep(expiresAt - Date.now());
  expect(await keys.opens(key)).toBe(401);
});

test('the text of an API key is stored nowhere: not in the database, a list or the log', async () => {
  const headers = { 'idempotency-key': 'secret' };
  const made = await keys.make({ name: 'a' }, { headers });
  const replaced = (await keys.rotate(made.id, {}, { headers })).json;
  const [dump] = await server.sql<{ text: string }[]>`
    select (select string_agg(k::text, '') from api_keys k)
      || (select string_agg(i::text, '') from idempotency i) as text`;
  for (const { id, key } of [made, replaced]) {
    const [row] = await server.sql`select hash, last4, created_by from api_keys where id = ${id}`;
    expect(row!['hash']).toEqual(createHash('sha256').update(key).digest());
    expect(row!['last4']).toBe(key.slice(-4));
    expect(row!['created_by']).toBeString();
    for (const text of [dump!.text, (await keys.list()).text, server.logged.join('')]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(Buffer.from(key).toString('base64').slice(0, 50));
      expect(text).not.toContain(key.slice(9));
    }
  }
  const stored = await server.sql<{ body: string }[]>`select body from idempotency`;
  expect(stored.map(({ body }) => Buffer.from(body, 'base64').toString()).join()).not.toContain(
    'svc_',
  );
});

test('POST /api-keys again with its Idempotency-Key gets the same key; another body is refused', async () => {
  const headers = { 'idempotency-key': 'once' };
  const first = await keys.post({ name: 'x' }, { headers });
  const again = await keys.post({ name: 'x' }, { headers });
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const other = await keys.post({ name: 'y' }, { headers });
  expect([other.status, other.json.error.type]).toEqual([422, 'idempotency_key_reused']);
  const { id } = first.json;
  const rotated = await keys.rotate(id, { overlap_seconds: 60 }, { headers });
  const twice = await keys.rotate(id, { overlap_seconds: 60 }, { headers });
  expect([twice.status, twice.text]).toEqual([201, rotated.text]);
  // The same key of another mode or organisation is another.
  for (const key of [server.organisation.liveKey, server.other.testKey]) {
    expect((await keys.post({ name: 'y' }, { key, headers })).status).toBe(201);
  }
});

test('another API key does not replay an answer that shows a key', async () => {
  const headers = { 'idempotency-key': 'of one key' };
  const [one, two] = [await keys.make(), await keys.make()];
  const first = await keys.post({ name: 'x' }, { key: one.key, headers });
  const { id } = first.json;
  const rotated = await keys.rotate(id, {}, { key: one.key, headers });
  for (const refused of [
    await keys.post({ name: 'x' }, { key: two.key, headers }),
    await keys.rotate(id, {}, { key: two.key, headers }),
  ]) {
    expect([refused.status, refused.json.error.type]).toEqual([422, 'idempotency_key_reused']);
    expect(refused.text).not.toContain('svc_');
  }
  expect((await keys.post({ name: 'x' }, { key: one.key, headers })).text).toBe(first.text);
  expect((await keys.rotate(id, {}, { key: one.key, headers })).text).toBe(rotated.text);
});

test('GET /api-keys lists newest first, in pages, and keys from before have no last4', async () => {
  const [one, two] = [await keys.make(), await keys.make()];
  const { json } = await keys.list('?limit=2');
  expect(json).toMatchObject({ limit: 2, offset: 0, has_more: true });
  expect(json.data.map(({ id }: { id: string }) => id)).toEqual([two.id, one.id]);
  const next = await keys.list(`?limit=200&after=${one.id}`);
  expect(next.json.data.map(({ id }: { id: string }) => id)).not.toContain(one.id);
  await server.sql`update api_keys set last4 = null where id = ${one.id}`;
  expect(await keys.find(one.id)).toMatchObject({ last4: null });
});

test('GET /api-keys says when a key was last used', async () => {
  const { id, key } = await keys.make();
  await server.call('GET', '/meters', { key });
  await server.flush();
  const { last_used_at: at } = await keys.find(id);
  expect(Date.parse(String(at))).toBeGreaterThan(Date.now() - 60_000);
});
