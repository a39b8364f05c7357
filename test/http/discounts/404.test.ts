import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const create = async (code: string) =>
  (await server.call('POST', '/discounts', { body: { code, percent_off: 10 } })).json;

// prettier-ignore
test.each([
  ['an unknown id', '01890000-0000-7000-8000-000000000000'],
  ['a code',        'known'],
  ['NUL',           'a%00'],
  ['broken UTF-8',  '%ff'],
])('DELETE of a discount by %s is 404', async (_what, reference) => {
  await create('known');
  const reply = await server.call('DELETE', `/discounts/${reference}`);
  expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
});

test('DELETE of a discount that is deleted, or of another organisation or mode, is 404', async () => {
  const { organisation, other } = server;
  const { id } = await create('mine');
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    expect((await server.call('DELETE', `/discounts/${id}`, { key })).status).toBe(404);
    expect((await server.call('GET', '/discounts', { key })).json.data).toEqual([]);
  }
  expect((await server.call('DELETE', `/discounts/${id}`)).status).toBe(204);
  expect((await server.call('DELETE', `/discounts/${id}`)).status).toBe(404);
});
