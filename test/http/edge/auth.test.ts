import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Acting } from '../../../src/http/edge/acting.ts';
import { LOOKUPS_MAX, openAuthenticator } from '../../../src/http/edge/auth.ts';
import { notifyChange } from '../../../src/platform/postgres/changes.ts';
import { hashKey, newKey } from '../../../src/platform/crypto/keys.ts';
import { ids } from '../../../src/platform/ids.ts';
import { insertKey } from '../../../src/records/api-keys.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const A_KEY = newKey({ kind: 'organisation', mode: 'test' });

// prettier-ignore
const HEADERS: [string, string][] = [
  ['nothing',                   ''],
  ['no scheme',                 A_KEY],
  ['another scheme',            `Basic ${A_KEY}`],
  ['Bearer alone',              'Bearer'],
  ['an unknown key',            `Bearer ${A_KEY}`],
  ['no prefix',                 `Bearer ${'0'.repeat(43)}`],
  ['an unknown prefix',         `Bearer svc_prod_${'0'.repeat(43)}`],
  ['a key that is short',       `Bearer ${A_KEY.slice(0, -1)}`],
  ['a key that is long',        `Bearer ${A_KEY}0`],
  ['two keys',                  `Bearer ${A_KEY} ${A_KEY}`],
  ['a quote',                   `Bearer svc_test_'${'0'.repeat(42)}`],
  ['a very long header',        `Bearer svc_test_${'0'.repeat(5000)}`],
];

test.each(HEADERS)('a request with %s is a 401', async (_what, authorization) => {
  const reply = await server.call('GET', '/meters', { key: null, headers: { authorization } });
  expect([reply.status, reply.json.error.type]).toEqual([401, 'unauthorized']);
  expect(reply.headers.get('www-authenticate')).toBe('Bearer');
});

test('the authorization scheme may be written in any case', async () => {
  const authorization = `bearer ${server.organisation.testKey}`;
  const reply = await server.call('GET', '/meters', { key: null, headers: { authorization } });
  expect(reply.status).toBe(200);
});

test("an API key with another key's prefix is a 401", async () => {
  const swapped = server.organisation.testKey.replace('svc_test_', 'svc_live_');
  // Even where the table says that it is that key.
  await server.sql`update api_keys set hash = ${hashKey(swapped)} where hash = ${hashKey(server.other.testKey)}`;
  expect((await server.call('GET', '/meters', { key: swapped })).status).toBe(401);
});

test('an API key that was refused works as soon as it exists', async () => {
  const key = newKey({ kind: 'organisation', mode: 'live' });
  expect((await server.call('GET', '/meters', { key })).status).toBe(401);
  await server.sql`
    insert into api_keys (id, organisation_id, mode, hash, created_at)
    values (${ids.next()}, ${server.organisation.id}, 'live', ${hashKey(key)}, now())`;
  await notifyChange(server.sql, 'api_key', ids.next());
  const began = performance.now();
  while ((await server.call('GET', '/meters', { key })).status !== 200) {
    expect(performance.now() - began).toBeLessThan(400);
  }
});

test('an API key expires at its time, also while it is cached', async () => {
  const owner = { kind: 'organisation', organisationId: server.organisation.id } as const;
  const expiresAt = Date.now() + 2000;
  const key = await server.sql.begin((sql) =>
    insertKey(sql, { id: ids.next(), owner, mode: 'test', expiresAt, now: Date.now() }),
  );
  expect((await server.call('GET', '/meters', { key })).status).toBe(200);
  expect((await server.call('GET', '/meters', { key })).status).toBe(200);
  await until('it has expired', () => Date.now() > expiresAt);
  expect((await server.call('GET', '/meters', { key })).status).toBe(401);
});

test('last_used_at of API keys is written in batches', async () => {
  const hash = hashKey(server.organisation.liveKey);
  const read = async () =>
    (await server.sql`select last_used_at from api_keys where hash = ${hash}`)[0]!;
  expect((await read())['last_used_at']).toBeNull();
  await server.call('GET', '/meters', { key: server.organisation.liveKey });
  await server.flush();
  expect((await read())['last_used_at'].getTime()).toBeGreaterThan(Date.now() - 5000);
});

test('no API key is ever logged', async () => {
  await server.call('GET', `/meters/${server.organisation.testKey}`);
  expect(server.logged.length).toBeGreaterThan(10);
  expect(server.logged.join('')).not.toMatch(/svc_(?:test|live)_\w{10}/);
});

/** An authenticator without a database, to count its queries. */
function counting(
  found: (hash: Buffer) => ReturnType<Parameters<typeof openAuthenticator>[0]['find']>,
) {
  let asked = 0;
  let now = 0;
  const changes = {
    trusted: true,
    subscribe: () => undefined,
    publish: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const acting = new Acting(() => 'token');
  const auth = openAuthenticator({
    find: (hash) => {
      asked += 1;
      return found(hash);
    },
    markUsed: () => Promise.resolve(),
    changes,
    whoActs: (token) => acting.whoIs(token),
    clock: { now: () => now, monotonic: () => now },
    timers: { after: () => () => undefined, soon: () => undefined },
    warn: () => undefined,
  });
  return {
    authenticate: auth.authenticate,
    acting,
    changes,
    asked: () => asked,
    advance: (ms: number) => {
      now += ms;
    },
  };
}

const FOUND = {
  id: 'k',
  owner: { kind: 'organisation', organisationId: 'o' },
  mode: 'test',
  scope: 'all',
  expiresAt: null,
} as const;

test('a cached API key is answered without a promise and without a query', async () => {
  const { authenticate, asked } = counting(() => Promise.resolve(FOUND));
  const first = authenticate(`Bearer ${A_KEY}`);
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toMatchObject({ organisationId: 'o', mode: 'test' });
  expect(authenticate(`Bearer ${A_KEY}`)).toMatchObject({ organisationId: 'o', mode: 'test' });
  expect(asked()).toBe(1);
});

test('a malformed API key is refused without a query', () => {
  const { authenticate, asked } = counting(() => Promise.resolve(FOUND));
  expect(authenticate('Bearer nonsense')).toBeNull();
  expect(asked()).toBe(0);
});

test('an internal call acts as the key it was vouched for, until it ends', async () => {
  const { authenticate, acting } = counting(() => Promise.resolve(null));
  const member = {
    kind: 'organisation',
    organisationId: ids.next(),
    mode: 'live',
    scope: 'support',
    actor: {
      kind: 'user',
      id: ids.next(),
      sessionId: ids.next(),
      email: 'a@b.example',
      address: '',
    },
  } as const;
  const { token, end } = acting.as(member);
  expect(await authenticate(`Bearer ${token}`)).toEqual(member);
  expect(await authenticate(`Bearer ${token}x`)).toBeNull();
  end();
  expect(await authenticate(`Bearer ${token}`)).toBeNull();
});

test('an unknown API key is looked up once in a while, and many at once by one query', async () => {
  const { authenticate, asked, advance } = counting(() => Promise.resolve(null));
  const header = `Bearer ${A_KEY}`;
  await Promise.all([authenticate(header), authenticate(header), authenticate(header)]);
  expect(asked()).toBe(1);
  expect(authenticate(header)).toBeNull();
  advance(501);
  await authenticate(header);
  expect(asked()).toBe(2);
});

test('no API key is cached while notifications are not heard', async () => {
  const { authenticate, asked, changes } = counting(() => Promise.resolve(FOUND));
  changes.trusted = false;
  await authenticate(`Bearer ${A_KEY}`);
  await authenticate(`Bearer ${A_KEY}`);
  expect(asked()).toBe(2);
});

test('a flood of invented API keys is turned away before it fills the memory', async () => {
  const { authenticate, asked } = counting(() => Promise.withResolvers<null>().promise);
  const headers = Array.from(
    { length: LOOKUPS_MAX + 100 },
    () => `Bearer ${newKey({ kind: 'organisation', mode: 'test' })}`,
  );
  const answers = headers.map((header) => Promise.resolve(authenticate(header)));
  const refused = await Promise.allSettled(answers.slice(LOOKUPS_MAX));
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 'rejected'));
  expect(asked()).toBe(LOOKUPS_MAX);
});
