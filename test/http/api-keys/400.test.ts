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

const count = async () => {
  const [row] = await server.sql<{ n: bigint }[]>`select count(*) as n from api_keys`;
  return Number(row!.n);
};

// prettier-ignore
const BODIES: [string, unknown, string][] = [
  // what                    body                                             at
  ['an empty name',          { name: '' },                                    'name'],
  ['a name of spaces',       { name: '  ' },                                  'name'],
  ['a name of 256',          { name: 'x'.repeat(256) },                       'name'],
  ['a name of two lines',    { name: 'a\nb' },                                'name'],
  ['a name that colours',    { name: '\u001b[31mred' },                       'name'],
  ['no scope',               { scopes: [] },                                  'scopes'],
  ['two scopes',             { scopes: ['read', 'metering'] },                'scopes'],
  ['one scope twice',        { scopes: ['read', 'read'] },                    'scopes'],
  ['an unknown scope',       { scopes: ['write'] },                           'scopes.0'],
  ['a scope in capitals',    { scopes: ['READ'] },                            'scopes.0'],
  ['a scope without a list', { scopes: 'read' },                              'scopes'],
  ['null for the scopes',    { scopes: null },                                'scopes'],
  ['null in the scopes',     { scopes: [null] },                              'scopes.0'],
  ['an end in the past',     { expires_at: '2020-01-01T00:00:00Z' },          'expires_at'],
  ['an end without a zone',  { expires_at: '2099-01-01T00:00:00' },           'expires_at'],
  ['an end as a number',     { expires_at: 4_000_000_000 },                   'expires_at'],
  ['a day that is none',     { expires_at: '2099-02-30T00:00:00Z' },          'expires_at'],
  ['null for the end',       { expires_at: null },                            'expires_at'],
  ['a mode',                 { mode: 'live' },                                'mode'],
  ['a key of its own',       { key: 'svc_test_mine' },                        'key'],
];

test.each(BODIES)('POST /api-keys with %s is 400', async (_what, body, at) => {
  const before = await count();
  const { status, json } = await keys.post(body);
  expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  expect(json.error.issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([at]);
  expect(await count()).toBe(before);
});

// prettier-ignore
const OVERLAPS: [string, unknown, string][] = [
  ['less than none',     { overlap_seconds: -1 },        'overlap_seconds'],
  ['more than a week',   { overlap_seconds: 604_801 },   'overlap_seconds'],
  ['half a second',      { overlap_seconds: 0.5 },       'overlap_seconds'],
  ['a text',             { overlap_seconds: '60' },      'overlap_seconds'],
  ['null',               { overlap_seconds: null },      'overlap_seconds'],
  ['another scope',      { scopes: ['all'] },            'scopes'],
];

test.each(OVERLAPS)(
  'rotation of an API key with an overlap of %s is 400',
  async (_what, body, at) => {
    const { id, key } = await keys.make();
    const before = await count();
    const { status, json } = await keys.rotate(id, body);
    expect([status, json.error.type]).toEqual([400, 'invalid_request']);
    expect(json.error.issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([at]);
    expect([await count(), await keys.opens(key)]).toEqual([before, 200]);
  },
);

test.each([
  ['limit=0', 'limit'],
  ['scopes=read', 'scopes'],
  ['after=00000000-0000-7000-8000-000000000000', 'after'],
])('GET /api-keys?%s is 400', async (query, at) => {
  const reply = await keys.list(`?${query}`);
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, [at]]);
});

test('an API key that has expired since is still replayed for its Idempotency-Key', async () => {
  const body = { expires_at: new Date(Date.now() + 2000).toISOString() };
  const headers = { 'idempotency-key': 'late' };
  const first = await keys.post(body, { headers });
  await Bun.sleep(2010);
  const again = await keys.post(body, { headers });
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect((await keys.post(body)).status).toBe(400);
});
