import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

// prettier-ignore
const REFERENCES: [string, string][] = [
  ['an unknown id',  '01890000-0000-7000-8000-000000000000'],
  ['no id',          'customer.created'],
  ['NUL',            'a%00'],
];

test.each(REFERENCES)('GET of an event with %s is 404', async (_what, reference) => {
  const reply = await server.call('GET', `/events/${reference}`);
  expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
});

test('GET of an event of another organisation or mode is 404', async () => {
  const { organisation, other } = server;
  const customer = (await server.call('POST', '/customers', { body: {} })).json;
  const [{ id }] = (await server.call('GET', '/events')).json.data;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    const reply = await server.call('GET', `/events/${id}`, { key });
    expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    for (const query of ['', `?object_id=${customer.id}`]) {
      expect((await server.call('GET', `/events${query}`, { key })).json.data).toEqual([]);
    }
  }
  expect((await server.call('GET', `/events/${id}`)).status).toBe(200);
});
