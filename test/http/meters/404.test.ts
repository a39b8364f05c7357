import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

// prettier-ignore
const REFERENCES: [string, string][] = [
  ['an unknown id',             UNKNOWN],
  ['an unknown slug',           'nothing'],
  ['no slug at all',            '!!'],
  ['NUL',                       'a%00b'],
  ['a broken escape',           '%zz'],
  ['broken UTF-8',              '%ff'],
  ['a slash',                   'a%2Fb'],
  ['a very long one',           'x'.repeat(5000)],
  ['SQL',                       "'%20or%201=1--"],
];

const METHODS = ['GET', 'PATCH', 'DELETE'];
const callOf = (method: string) => (method === 'PATCH' ? { body: { name: 'x' } } : {});

test.each(
  METHODS.flatMap((method) =>
    REFERENCES.map(([what, reference]) => [method, what, reference] as const),
  ),
)('%s of a meter with %s is 404', async (method, _what, reference) => {
  const { status, json } = await server.call(method, `/meters/${reference}`, callOf(method));
  expect([status, json.error]).toEqual([404, { type: 'not_found', message: 'no such meter' }]);
});

test.each(METHODS)('%s of a meter of another organisation or mode is 404', async (method) => {
  const body = { slug: `mine_${method.toLowerCase()}` };
  const { json } = await server.call('POST', '/meters', { body });
  const { organisation, other } = server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    const call = { ...callOf(method), key };
    const unknown = await server.call(method, `/meters/${UNKNOWN}`, call);
    for (const reference of [json.id, json.slug]) {
      const reply = await server.call(method, `/meters/${reference}`, call);
      // As if it did not exist.
      expect([reply.status, reply.text]).toEqual([404, unknown.text]);
    }
  }
  expect((await server.call('GET', `/meters/${json.id}`)).json).toEqual(json);
});
