import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { endpointOf, URL_OF_NOBODY } from './owed.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const RANGE = { since: '2026-01-01T00:00:00Z', until: '2036-01-01T00:00:00Z' };

// prettier-ignore
const ROUTES: [string, string, object | undefined][] = [
  ['GET',    '',                undefined],
  ['PATCH',  '',                { status: 'disabled' }],
  ['DELETE', '',                undefined],
  ['POST',   '/rotate-secret',  undefined],
  ['POST',   '/test',           {}],
  ['GET',    '/deliveries',     undefined],
  ['POST',   '/replay',         RANGE],
];

const call = (method: string, path: string, body: object | undefined, key?: string) =>
  server.call(method, path, {
    ...(body !== undefined && { body }),
    ...(key !== undefined && { key }),
  });

test.each(ROUTES)('%s %s of an unknown webhook endpoint is 404', async (method, suffix, body) => {
  for (const id of ['01890000-0000-7000-8000-000000000000', 'mine', 'a%00', '%ff']) {
    const reply = await call(method, `/webhook-endpoints/${id}${suffix}`, body);
    expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
  }
});

test.each(ROUTES)(
  '%s %s of a webhook endpoint of another organisation, mode or the group is 404',
  async (method, suffix, body) => {
    const mine = await endpointOf(server);
    const { json: shared } = await server.call('POST', '/partner/webhook-endpoints', {
      key: server.group.testKey,
      body: { url: URL_OF_NOBODY },
    });
    const before = await server.sql`select * from webhook_endpoints order by id`;
    const { organisation, other } = server;
    const keys = [other.testKey, other.liveKey, organisation.liveKey];
    const tries = [...keys.map((key) => [mine.id, key]), [shared.id, organisation.testKey]];
    for (const [id, key] of tries) {
      const reply = await call(method, `/webhook-endpoints/${id}${suffix}`, body, key);
      expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    }
    expect(await server.sql`select * from webhook_endpoints order by id`).toEqual(before);
  },
);

test.each(ROUTES)('%s %s of a deleted webhook endpoint is 404', async (method, suffix, body) => {
  const { id } = await endpointOf(server);
  expect((await server.call('DELETE', `/webhook-endpoints/${id}`)).status).toBe(204);
  const reply = await call(method, `/webhook-endpoints/${id}${suffix}`, body);
  expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
});

test("a list of webhook endpoints has the organisation's, of one mode, and no deleted ones", async () => {
  const key = server.other.liveKey;
  const first = await endpointOf(server, {}, key);
  const gone = await endpointOf(server, {}, key);
  const last = await endpointOf(server, {}, key);
  await server.call('DELETE', `/webhook-endpoints/${gone.id}`, { key });
  const { json } = await server.call('GET', '/webhook-endpoints', { key });
  expect(json.data.map(({ id }: { id: string }) => id)).toEqual([last.id, first.id]);
  expect([json.limit, json.offset, json.has_more]).toEqual([50, 0, false]);
  const page = await server.call('GET', '/webhook-endpoints?limit=1&offset=1', { key });
  expect(page.json.data.map(({ id }: { id: string }) => id)).toEqual([first.id]);
});

test("a webhook endpoint is refused to a group's key", async () => {
  const { testKey: key } = server.group;
  for (const [method, suffix, body] of ROUTES) {
    const reply = await call(method, `/webhook-endpoints/x${suffix}`, body, key);
    expect([reply.status, reply.json.error.type]).toEqual([403, 'forbidden']);
  }
});
