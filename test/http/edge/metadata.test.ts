// Metadata holds 50 pairs, keys of 40 and values of 500 characters, in any script.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const pairs = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

// prettier-ignore
const TAKEN: [string, Record<string, string>][] = [
  ['nothing',                         {}],
  ['50 pairs',                        pairs(50)],
  ['an empty value',                  { a: '' }],
  ['a value of 500 letters',          { a: 'x'.repeat(500) }],
  ['a value of 500 emoji',            { a: '😀'.repeat(500) }],
  ['a value of 500, emoji among them', { a: `${'x'.repeat(450)}${'😀'.repeat(50)}` }],
  ['a value of lines',                { a: 'one\ntwo\u2028three' }],
  ['a key of 40 emoji',               { ['😀'.repeat(40)]: 'v' }],
  ['__proto__',                       JSON.parse('{"__proto__": "v"}')],
];

test.each(TAKEN)('metadata with %s is taken', async (_what, metadata) => {
  const { status, json } = await server.call('POST', '/customers', { body: { metadata } });
  expect([status, JSON.stringify(json.metadata)]).toEqual([201, JSON.stringify(metadata)]);
});

// prettier-ignore
const REFUSED: [string, unknown, string[], string][] = [
  ['51 pairs',                     pairs(51),                    [],                  'must have at most 50 pairs'],
  ['a value of 501 letters',       { a: 'x'.repeat(501) },       ['a'],               'must have at most 500 characters'],
  ['a value of 501 emoji',         { a: '😀'.repeat(501) },      ['a'],               'must have at most 500 characters'],
  ['a value of 2000 emoji',        { a: '😀'.repeat(2000) },     ['a'],               'must have at most 500 characters'],
  ['a key of 41 emoji',            { ['😀'.repeat(41)]: 'v' },   ['😀'.repeat(40) + '…'], 'must have a key of at most 40 characters'],
  ['an empty key',                 { '': 'v' },                  [''],                'must have a key that is not empty'],
  ['an object in it',              { a: {} },                    ['a'],               'must be a string'],
  ['a list',                       ['a'],                        [],                  'must be an object'],
  ['a string',                     'a',                          [],                  'must be an object'],
];

test.each(REFUSED)(
  'metadata with %s is refused with a message in words',
  async (_what, metadata, path, message) => {
    const { status, json } = await server.call('POST', '/customers', { body: { metadata } });
    expect([status, json.error.issues]).toEqual([400, [{ path: ['metadata', ...path], message }]]);
  },
);
