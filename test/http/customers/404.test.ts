import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

// prettier-ignore
const REFERENCES: [string, string][] = [
  ['an unknown id',    '01890000-0000-7000-8000-000000000000'],
  ['an unknown name',  'nobody'],
  ['NUL',              'a%00'],
  ['broken UTF-8',     '%ff'],
];

const METHODS = ['GET', 'PATCH'];
const callOf = (method: string) => (method === 'PATCH' ? { body: { name: 'x' } } : {});

test.each(
  METHODS.flatMap((method) =>
    REFERENCES.map(([what, reference]) => [method, what, reference] as const),
  ),
)('%s of a customer with %s is 404', async (method, _what, reference) => {
  const reply = await server.call(method, `/customers/${reference}`, callOf(method));
  expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
});

test.each(METHODS)('%s of a customer of another organisation or mode is 404', async (method) => {
  const external = `mine_${method}`;
  const body = { external_customer_id: external };
  const { json } = await server.call('POST', '/customers', { body });
  const { organisation, other } = server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    for (const reference of [json.id, external]) {
      const call = { ...callOf(method), key };
      const reply = await server.call(method, `/customers/${reference}`, call);
      expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    }
  }
  expect((await server.call('GET', `/customers/${json.id}`)).json).toEqual(json);
});
