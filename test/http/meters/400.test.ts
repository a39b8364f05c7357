import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const long = (length: number) => 'x'.repeat(length);
const pairs = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

// prettier-ignore
const CREATES: [string, object, string][] = [
  // what                         body                                                at
  ['no slug',                     {},                                                 'slug'],
  ['a slug in capitals',          { slug: 'Api' },                                    'slug'],
  ['a slug of 65',                { slug: long(65) },                                 'slug'],
  ['a slug that begins with -',   { slug: '-a' },                                     'slug'],
  ['a slug with a new line',      { slug: 'a\n' },                                    'slug'],
  ['a slug that is null',         { slug: null },                                     'slug'],
  ['an empty name',               { slug: 'a', name: '' },                            'name'],
  ['a name of 256',               { slug: 'a', name: long(256) },                     'name'],
  ['an empty event name',         { slug: 'a', event_name: '' },                      'event_name'],
  ['an unknown aggregation',      { slug: 'a', aggregation: 'avg' },                  'aggregation'],
  ['unique without a property',   { slug: 'a', aggregation: 'unique' },               'unique_property'],
  ['a scale of 10',               { slug: 'a', scale: 10 },                           'scale'],
  ['a scale of -1',               { slug: 'a', scale: -1 },                           'scale'],
  ['a scale of 1.5',              { slug: 'a', scale: 1.5 },                          'scale'],
  ['a scale as a string',         { slug: 'a', scale: '6' },                          'scale'],
  ['carry on a sum',              { slug: 'a', carry: true },                         'carry'],
  ['carry on a maximum',          { slug: 'a', aggregation: 'max', carry: true },     'carry'],
  ['carry as a string',           { slug: 'a', aggregation: 'last', carry: 'true' },  'carry'],
  ['51 pairs of metadata',        { slug: 'a', metadata: pairs(51) },                 'metadata'],
  ['a metadata key of 41',        { slug: 'a', metadata: { [long(41)]: 'v' } },       `metadata.${long(41)}`],
  ['a metadata value of 501',     { slug: 'a', metadata: { a: long(501) } },          'metadata.a'],
  ['a metadata value of a number',{ slug: 'a', metadata: { a: 1 } },                  'metadata.a'],
  ['a metadata value of null',    { slug: 'a', metadata: { a: null } },               'metadata.a'],
  ['metadata as an array',        { slug: 'a', metadata: [] },                        'metadata'],
  ['a status',                    { slug: 'a', status: 'active' },                    'status'],
  ['an id',                       { slug: 'a', id: 'x' },                             'id'],
];

test.each(CREATES)('POST /meters with %s is 400', async (_what, body, at) => {
  const reply = await server.call('POST', '/meters', { body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(reply.json.error.issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([
    at,
  ]);
});

test('POST /meters takes metadata at its limits', async () => {
  const metadata = { ...pairs(49), [long(40)]: long(500) };
  const reply = await server.call('POST', '/meters', { body: { slug: 'full', metadata } });
  expect([reply.status, reply.json.metadata]).toEqual([201, metadata]);
});

// prettier-ignore
const CHANGES: [string, object, string][] = [
  ['a slug',             { slug: 'other' },         'slug'],
  ['an aggregation',     { aggregation: 'max' },    'aggregation'],
  ['a scale',            { scale: 2 },              'scale'],
  ['an event name',      { event_name: 'x' },       'event_name'],
  ['carry',              { carry: true },           'carry'],
  ['an unknown status',  { status: 'deleted' },     'status'],
];

test.each(CHANGES)('PATCH of a meter with %s is 400', async (_what, body, at) => {
  await server.call('POST', '/meters', { body: { slug: 'fixed' } });
  const reply = await server.call('PATCH', '/meters/fixed', { body });
  expect(reply.status).toBe(400);
  expect(reply.json.error.issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([
    at,
  ]);
});

// prettier-ignore
const QUERIES: [string, string][] = [
  ['limit=0',                'limit'],
  ['limit=201',              'limit'],
  ['limit=-1',               'limit'],
  ['limit=1.5',              'limit'],
  ['limit=1e2',              'limit'],
  ['limit=',                 'limit'],
  ['limit=ten',              'limit'],
  ['limit=1&limit=2',        'limit'],
  ['offset=-1',              'offset'],
  ['offset=x',               'offset'],
  ['offset=99999999999999',  'offset'],
  ['limt=5',                 'limt'],
];

test.each(QUERIES)('GET /meters?%s is 400', async (query, at) => {
  const reply = await server.call('GET', `/meters?${query}`);
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(reply.json.error.issues[0].path).toEqual([at]);
});
