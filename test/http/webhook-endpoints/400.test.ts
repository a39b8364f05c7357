import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { endpointOf, URL_OF_NOBODY } from './owed.ts';

let server: TestServer;
let id: string;
beforeAll(async () => {
  server = await startServer();
  id = (await endpointOf(server)).id;
});
afterAll(() => server.stop());

const url = URL_OF_NOBODY;

// prettier-ignore
const BODIES: [string, object, string][] = [
  // what                              body                                              at
  ['a url that is none',               { url: 'nowhere' },                               'url'],
  ['a url without https',              { url: 'http://hooks.example/' },                 'url'],
  ['a url with a password',            { url: 'https://me:pw@hooks.example/' },          'url'],
  ['a url of the machine, by https',   { url: 'https://127.0.0.2/' },                    'url'],
  ['a url of a private network',       { url: 'https://10.1.2.3/hook' },                 'url'],
  ['a url of the cloud',               { url: 'https://169.254.169.254/' },              'url'],
  ['a url of a mapped address',        { url: 'https://[::ffff:10.0.0.1]/' },            'url'],
  ['a url of a low port',              { url: 'https://hooks.example:25/' },             'url'],
  ['a url of 2049',                    { url: `https://hooks.example/${'x'.repeat(2027)}` }, 'url'],
  ['a url as a number',                { url: 7 },                                       'url'],
  ['no type',                          { url, event_types: [] },                         'event_types'],
  ['an unknown type',                  { url, event_types: ['payment.maybe'] },          'event_types.0'],
  ['a second type that is unknown',    { url, event_types: ['payment.failed', 'x'] },    'event_types.1'],
  ['a type twice',                     { url, event_types: ['tag.created', 'tag.created'] }, 'event_types'],
  ['* beside a type',                  { url, event_types: ['tag.created', '*'] },       'event_types.1'],
  ['types as a string',                { url, event_types: '*' },                        'event_types'],
  ['types of null',                    { url, event_types: null },                       'event_types'],
  ['a description of 501',             { url, description: 'x'.repeat(501) },            'description'],
  ['an unknown status',                { url, status: 'paused' },                        'status'],
  ['a secret',                         { url, secret: 'whsec_mine' },                    'secret'],
];

test.each(
  (['POST', 'PATCH'] as const).flatMap((method) =>
    BODIES.map(([what, body, at]) => [method, what, body, at] as const),
  ),
)('%s of a webhook endpoint with %s is 400', async (method, _what, body, at) => {
  const before =
    await server.sql`select * from webhook_endpoints where organisation_id = ${server.organisation.id}`;
  const path = method === 'POST' ? '/webhook-endpoints' : `/webhook-endpoints/${id}`;
  const reply = await server.call(method, path, { body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.'));
  expect(paths).toEqual([at]);
  expect(
    await server.sql`select * from webhook_endpoints where organisation_id = ${server.organisation.id}`,
  ).toEqual(before);
});

test('POST of a webhook endpoint without a url is 400', async () => {
  const reply = await server.call('POST', '/webhook-endpoints', { body: {} });
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, ['url']]);
});

test('a webhook endpoint at loopback is refused for a live key', async () => {
  const { liveKey: key } = server.organisation;
  const body = { url: 'http://localhost:4000/' };
  const reply = await server.call('POST', '/webhook-endpoints', { key, body });
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, ['url']]);
});

test('a webhook endpoint at loopback is refused where that is switched off', async () => {
  const strict = await startServer({ settings: { allowLoopbackUrls: false } });
  try {
    const body = { url: 'http://localhost:4000/' };
    const reply = await strict.call('POST', '/webhook-endpoints', { body });
    expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, ['url']]);
  } finally {
    await strict.stop();
  }
});

const DAY = { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' };

// prettier-ignore
const ACTIONS: [string, string, object, string][] = [
  // what                          action     body                                          at
  ['an unknown type',              'test',    { type: 'payment.maybe' },                    'type'],
  ['every type',                   'test',    { type: '*' },                                'type'],
  ['a misspelt field',             'test',    { event_type: 'payment.failed' },             'event_type'],
  ['no since',                     'replay',  { until: DAY.until },                         'since'],
  ['no until',                     'replay',  { since: DAY.since },                         'until'],
  ['a since without a zone',       'replay',  { ...DAY, since: '2026-01-01T00:00:00' },     'since'],
  ['an until that is no day',      'replay',  { ...DAY, until: '2026-02-30T00:00:00Z' },    'until'],
  ['an until before since',        'replay',  { since: DAY.until, until: DAY.since },       'until'],
  ['an until at since',            'replay',  { since: DAY.until, until: DAY.until },       'until'],
  ['no type',                      'replay',  { ...DAY, types: [] },                        'types'],
  ['an unknown type',              'replay',  { ...DAY, types: ['x'] },                     'types.0'],
  ['* beside a type',              'replay',  { ...DAY, types: ['*', 'tag.created'] },      'types.0'],
  ['dry_run as text',              'replay',  { ...DAY, dry_run: 'true' },                  'dry_run'],
  ['a misspelt dry_run',           'replay',  { ...DAY, dryRun: true },                     'dryRun'],
];

test.each(ACTIONS)("an endpoint's action with %s is 400: %s", async (_what, action, body, at) => {
  const reply = await server.call('POST', `/webhook-endpoints/${id}/${action}`, { body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.'))).toEqual([
    at,
  ]);
  expect(await server.sql`select 1 from deliveries where endpoint_id = ${id}`).toHaveLength(0);
});

// prettier-ignore
const FILTERS: [string, string][] = [
  ['?limit=0',                '/webhook-endpoints'],
  ['?status=enabled',         '/webhook-endpoints'],
  ['?status=lost',            '/webhook-endpoints/ID/deliveries'],
  ['?event_type=x',           '/webhook-endpoints/ID/deliveries'],
  ['?type=payment.failed',    '/webhook-endpoints/ID/deliveries'],
];

test.each(FILTERS)('GET with %s of %s is 400', async (query, path) => {
  const reply = await server.call('GET', `${path.replace('ID', id)}${query}`);
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
});
