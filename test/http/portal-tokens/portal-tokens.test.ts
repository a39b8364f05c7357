// Portal tokens: made by the merchant's backend or on the command line, stored as a hash, bounded
// in time, revoked at once.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { findPortalAccess } from '../../../src/records/portal-tokens.ts';
import { runAdmin } from '../../support/admin.ts';
import { startServer, type Call, type TestServer } from '../../support/server.ts';

const APP_URL = 'https://app.example.com';
const DAY_MS = 86_400_000;

let server: TestServer;
let customer: string;
beforeAll(async () => {
  server = await startServer({ settings: { appUrl: APP_URL } });
  const body = { external_customer_id: 'ada/1', name: 'Ada' };
  customer = (await server.call('POST', '/customers', { body })).json.id;
});
afterAll(() => server.stop());

const create = (call: Call = {}, reference = customer) =>
  server.call('POST', `/customers/${reference}/portal-tokens`, call);
const opens = (token: string, now = Date.now()) => findPortalAccess(server.sql, token, now);
const count = async () => {
  const [row] = await server.sql<
    { n: bigint }[]
  >`select count(*) as n from portal_tokens where organisation_id = ${server.organisation.id}`;
  return Number(row!.n);
};

test('a portal token opens the portal of its customer, for a day', async () => {
  const before = Date.now();
  const { status, json } = await create();
  expect([status, json]).toEqual([
    201,
    {
      id: json.id,
      customer_id: customer,
      token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      url: `${APP_URL}/portal/${json.token}`,
      created_at: json.created_at,
      expires_at: new Date(Date.parse(json.created_at) + DAY_MS).toISOString(),
    },
  ]);
  expect(Date.parse(json.created_at)).toBeGreaterThanOrEqual(before);
  const { id: organisationId } = server.organisation;
  const page = null;
  const access = { tokenId: json.id, customerId: customer, organisationId, mode: 'test', page };
  expect(await opens(json.token)).toEqual(access as never);
  const end = Date.parse(json.expires_at);
  expect(await opens(json.token, end - 1)).not.toBeNull();
  expect(await opens(json.token, end)).toBeNull();
});

test("a portal token takes the customer's external id and the expiry that the merchant sets", async () => {
  const { json } = await create({ body: { ttl_seconds: 90 } }, encodeURIComponent('ada/1'));
  expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(90_000);
});

test('each portal token is another one, and only its hash is stored', async () => {
  const [one, two] = await Promise.all([create(), create()]);
  expect(one.json.token).not.toBe(two.json.token);
  const rows = await server.sql`select * from portal_tokens where id = ${one.json.id}`;
  expect(rows[0]!['hash']).toEqual(createHash('sha256').update(one.json.token).digest());
  const [dump] = await server.sql<{ text: string }[]>`
    select coalesce(string_agg(t::text, ''), '') || (select coalesce(string_agg(i::text, ''), '') from idempotency i) as text
    from portal_tokens t`;
  expect(dump!.text).not.toContain(one.json.token);
  expect(server.logged.join('')).not.toContain(one.json.token);
});

test('POST of a portal token again with its Idempotency-Key answers the same, which is kept encrypted', async () => {
  const headers = { 'idempotency-key': 'open' };
  const first = await create({ headers });
  const again = await create({ headers });
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const stored = await server.sql<
    { body: string }[]
  >`select body from idempotency where organisation_id = ${server.organisation.id}`;
  expect(stored.map(({ body }) => body).join()).not.toContain(first.json.token);
  const other = await create({ headers, body: { ttl_seconds: 60 } });
  expect([other.status, other.json.error.type]).toEqual([422, 'idempotency_key_reused']);
});

test('a revoked portal token opens nothing from then on; the others still work', async () => {
  const [one, two] = await Promise.all([create(), create()]);
  const path = `/portal-tokens/${one.json.id}`;
  const gone = await server.call('DELETE', path);
  expect([gone.status, gone.text]).toEqual([204, '']);
  expect(await opens(one.json.token)).toBeNull();
  expect(await opens(two.json.token)).not.toBeNull();
  expect((await server.call('DELETE', path)).status).toBe(204);
});

test('a malformed portal token opens nothing', async () => {
  const { json } = await create();
  const { token } = json;
  const tokens = ['', 'x', token.slice(1), `${token}0`, ` ${token}`, json.id, '\0'.repeat(43)];
  const flipped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
  for (const wrong of [...tokens, flipped]) expect(await opens(wrong)).toBeNull();
});

test('expired portal tokens are deleted in the end', async () => {
  const { json } = await create();
  await server.sql`
    update portal_tokens set created_at = now() - interval '40 days', expires_at = now() - interval '31 days'
    where id = ${json.id}`;
  await create();
  expect((await server.call('DELETE', `/portal-tokens/${json.id}`)).status).toBe(404);
});

// prettier-ignore
const BODIES: [string, object, string][] = [
  ['no time at all',    { ttl_seconds: 0 },          'ttl_seconds'],
  ['a negative time',   { ttl_seconds: -60 },        'ttl_seconds'],
  ['31 days',           { ttl_seconds: 31 * 86_400 }, 'ttl_seconds'],
  ['half a second',     { ttl_seconds: 0.5 },        'ttl_seconds'],
  ['a text',            { ttl_seconds: '24h' },      'ttl_seconds'],
  ['an unknown field',  { ttl: 60 },                 'ttl'],
];

test.each(BODIES)('POST of a portal token is 400 for %s', async (_what, body, at) => {
  const before = await count();
  const { status, json } = await create({ body });
  expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  expect(json.error.issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([at]);
  expect(await count()).toBe(before);
});

test('a portal token is 404 for a customer and a token of another organisation or mode', async () => {
  const { json } = await create();
  const { organisation, other } = server;
  const before = await count();
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    expect((await create({ key })).status).toBe(404);
    expect((await create({ key }, encodeURIComponent('ada/1'))).status).toBe(404);
    expect((await server.call('DELETE', `/portal-tokens/${json.id}`, { key })).status).toBe(404);
  }
  for (const reference of [ids.next(), 'nobody', 'a%00b']) {
    expect((await create({}, reference)).status).toBe(404);
    expect((await server.call('DELETE', `/portal-tokens/${reference}`)).status).toBe(404);
  }
  expect([await count(), (await opens(json.token)) !== null]).toEqual([before, true]);
});

const admin = (...args: string[]) =>
  runAdmin([...args, '--json'], server.databaseUrl, { APP_URL: `${APP_URL}/` });

// prettier-ignore
const TTLS: [string[], number][] = [
  [[],                24 * 3600],
  [['--ttl', '24h'],  24 * 3600],
  [['--ttl', '90s'],  90],
  [['--ttl', '15m'],  900],
  [['--ttl', '30d'],  30 * 86_400],
];

test.each(TTLS)(
  'the admin command makes a portal token by %p, then revokes it',
  async (args, seconds) => {
    const made = await admin('portal-token', 'create', '--customer', customer, ...args);
    expect([made.exitCode, made.stderr]).toEqual([0, '']);
    const { token, url, id, expires_at: expiresAt, ...rest } = JSON.parse(made.stdout);
    expect([url, rest]).toEqual([`${APP_URL}/portal/${token}`, {}]);
    const [row] = await server.sql<{ createdAt: Date }[]>`
    select created_at as "createdAt" from portal_tokens where id = ${id}`;
    expect(Date.parse(expiresAt) - row!.createdAt.getTime()).toBe(seconds * 1000);
    expect((await opens(token))?.customerId).toBe(customer);
    const revoked = await admin('portal-token', 'revoke', id);
    expect([revoked.exitCode, JSON.parse(revoked.stdout)]).toEqual([0, { id, revoked: true }]);
    expect(await opens(token)).toBeNull();
  },
);

test('the admin command prints the address of the last started server, unless the environment says another', async () => {
  const urlOf = async (environment: Readonly<Record<string, string>>): Promise<string> => {
    const args = ['portal-token', 'create', '--customer', customer, '--json'];
    const { stdout } = await runAdmin(args, server.databaseUrl, environment);
    return JSON.parse(stdout).url;
  };
  expect(await urlOf({})).toStartWith(`${APP_URL}/portal/`);
  expect(await urlOf({ PORT: '4711' })).toStartWith('http://localhost:4711/portal/');
  expect(await urlOf({ BASE_URL: 'https://pay.example' })).toStartWith(
    'https://pay.example/portal/',
  );
});

const someone = ids.next();

// prettier-ignore
const REFUSED: [string, number, string[]][] = [
  ['no customer',           2, ['create']],
  ['a customer of text',    2, ['create', '--customer', 'ada/1']],
  ['no unit',               2, ['create', '--customer', someone, '--ttl', '24']],
  ['no time at all',        2, ['create', '--customer', someone, '--ttl', '0h']],
  ['31 days',               2, ['create', '--customer', someone, '--ttl', '31d']],
  ['an unknown customer',   1, ['create', '--customer', someone]],
  ['no token to revoke',    2, ['revoke']],
  ['an unknown token',      1, ['revoke', someone]],
];

test.each(REFUSED)(
  'the admin command portal-token with %s exits with %i',
  async (_what, code, args) => {
    const { exitCode, stdout } = await admin('portal-token', ...args);
    expect([exitCode, stdout]).toEqual([code, '']);
  },
);
