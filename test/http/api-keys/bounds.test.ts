// How many keys there are, and how often one is made.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { Keys } from './keys.ts';

setDefaultTimeout(60_000);

const MAX = 5;
const A_MINUTE = 40;
const ENDED_MAX = 1000;

let server: TestServer;
let keys: Keys;
beforeAll(async () => {
  const { bounds, limits } = TEST_SETTINGS;
  server = await startServer({
    settings: {
      bounds: { ...bounds, apiKeys: MAX },
      limits: { ...limits, apiKeys: A_MINUTE },
    },
  });
  keys = new Keys(server);
});
afterAll(() => server.stop());

const FULL = `an organisation or a group has at most ${MAX} API keys (LIMIT_API_KEYS)`;

/** Of the other organisation, which has no part in what the others count. */
const other = () => ({ key: server.other.testKey });

test('an organisation has at most so many API keys in a mode, also when they are made at once', async () => {
  // It has one.
  const all = await Promise.all(Array.from({ length: MAX + 2 }, () => keys.post()));
  const made = all.filter(({ status }) => status === 201);
  expect([made.length, all.filter(({ status }) => status === 409).length]).toEqual([MAX - 1, 3]);
  expect(all.find(({ status }) => status === 409)!.json.error).toEqual({
    type: 'conflict',
    message: FULL,
  });
  expect((await keys.post({}, { key: server.organisation.liveKey })).status).toBe(201);
  const [one, two] = made.map(({ json }) => json);
  // A rotation with an overlap needs room, one without makes it.
  const full = await keys.rotate(one.id);
  expect([full.status, full.json.error.message]).toEqual([409, FULL]);
  expect(await keys.opens(one.key)).toBe(200);
  expect((await keys.rotate(one.id, { overlap_seconds: 0 })).status).toBe(201);
  expect((await keys.post()).status).toBe(409);
  expect((await keys.revoke(two.id)).status).toBe(204);
  expect((await keys.post()).status).toBe(201);
});

test('of expired API keys the newest 1,000 are kept', async () => {
  await server.sql`
    insert into api_keys (id, organisation_id, mode, hash, created_at, expires_at, revoked_at)
    select gen_random_uuid(), ${server.other.id}, 'test', sha256(n::text::bytea), now() - interval '1 year',
      case when n % 2 = 0 then now() - n * interval '1 hour' end,
      case when n % 2 = 1 then now() - n * interval '1 hour' end
    from generate_series(1, ${ENDED_MAX + 100}) n`;
  await keys.make({}, other());
  const [left] = await server.sql<{ count: bigint; first: boolean }[]>`
    select count(*), min(least(revoked_at, expires_at)) > now() - ${`${ENDED_MAX + 1} hours`}::interval as first
    from api_keys where organisation_id = ${server.other.id} and least(revoked_at, expires_at) <= now()`;
  expect(left).toEqual({ count: BigInt(ENDED_MAX), first: true });
  expect(await keys.opens(server.other.testKey)).toBe(200);
});

test('an organisation makes at most so many API keys a minute in each mode', async () => {
  const { testKey: key, liveKey } = server.other;
  const headers = { 'idempotency-key': 'again and again' };
  const replaced = { overlap_seconds: 0 };
  const { id: first } = await keys.make({}, { key, headers });
  const { id } = (await keys.rotate(first, replaced, { key, headers })).json;
  // With the one that another test of this file made.
  let made = 3;
  // A replay does not count.
  const replays = async () => {
    expect((await keys.post({}, { key, headers })).json.id).toBe(first);
    expect((await keys.rotate(first, replaced, { key, headers })).json.id).toBe(id);
  };
  await replays();
  for (; made < A_MINUTE; made += 1) {
    const { status } = await keys.rotate(id, { overlap_seconds: 604_800 }, { key });
    expect(status === 201 || status === 409).toBe(true);
  }
  for (const refused of [await keys.post({}, { key }), await keys.rotate(id, {}, { key })]) {
    expect([refused.status, refused.json.error.type]).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('ratelimit-limit')).toBe(String(A_MINUTE));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await replays();
  expect((await keys.list('', { key })).status).toBe(200);
  expect((await keys.post({}, { key: liveKey })).status).toBe(201);
});
