import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const PATHS = ['/credit', '/credit/entries?currency=USD'];

test.each(PATHS)('GET %s of an unknown customer is 404', async (path) => {
  for (const reference of ['01890000-0000-7000-8000-000000000000', 'nobody', 'a%00', '%ff']) {
    const { status, json } = await server.call('GET', `/customers/${reference}${path}`);
    expect([status, json.error?.type]).toEqual([404, 'not_found']);
  }
});

test.each(PATHS)('GET %s of a customer of another organisation or mode is 404', async (path) => {
  const { json } = await server.call('POST', '/customers', { body: {} });
  const { organisation, other } = server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    expect((await server.call('GET', `/customers/${json.id}${path}`, { key })).status).toBe(404);
  }
  expect((await server.call('GET', `/customers/${json.id}${path}`)).status).toBe(200);
});

// prettier-ignore
const BAD = [
  ['no currency',         '',                        'currency'],
  ['no such currency',    '?currency=XYZ',           'currency'],
  ['a limit of 0',        '?currency=USD&limit=0',   'limit'],
  ['an invented cursor',  '?currency=USD&cursor=e30', 'cursor'],
] as const;

test.each(BAD)('a list of entries with %s is 400', async (_what, query, path) => {
  const { json } = await server.call('POST', '/customers', { body: {} });
  const reply = await server.call('GET', `/customers/${json.id}/credit/entries${query}`);
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(JSON.stringify(reply.json.error)).toContain(path);
});
