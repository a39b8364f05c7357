import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const METHODS = ['PUT', 'GET', 'DELETE'];
const callOf = (method: string) =>
  method === 'PUT' ? { body: { amount: '5', currency: 'USD' } } : {};

test.each(METHODS)('%s of a spend cap of an unknown customer is 404', async (method) => {
  for (const reference of ['01890000-0000-7000-8000-000000000000', 'nobody', 'a%00', '%ff']) {
    const path = `/customers/${reference}/spend-cap`;
    const { status, json } = await server.call(method, path, callOf(method));
    expect([status, json.error?.type]).toEqual([404, 'not_found']);
  }
});

test('a spend cap of a customer of another organisation or mode is 404', async () => {
  const { json } = await server.call('POST', '/customers', { body: {} });
  const path = `/customers/${json.id}/spend-cap`;
  await server.call('PUT', path, callOf('PUT'));
  const { organisation, other } = server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    for (const method of METHODS) {
      expect((await server.call(method, path, { ...callOf(method), key })).status).toBe(404);
    }
  }
  expect((await server.call('GET', path)).status).toBe(200);
});

test('GET of a spend cap is 404 for a customer without one', async () => {
  const { json } = await server.call('POST', '/customers', { body: {} });
  const reply = await server.call('GET', `/customers/${json.id}/spend-cap`);
  expect([reply.status, reply.json.error?.message]).toEqual([404, 'the customer has no spend cap']);
});
