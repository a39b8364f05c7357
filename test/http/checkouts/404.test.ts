import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { BUYER, checkout, checkouts, product } from './fixture.ts';

let server: TestServer;
let id: string;
let product_id: string;
beforeAll(async () => {
  server = await startServer();
  ({ id: product_id } = await product(server));
  ({ id } = (await checkout(server, { product_id })).json);
});
afterAll(() => server.stop());

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

test('POST /checkouts is 404 for a product that is unknown, of another organisation or mode', async () => {
  const before = await checkouts(server);
  const { organisation, other } = server;
  const replies = [
    await checkout(server, { product_id: UNKNOWN }),
    ...(await Promise.all(
      [other.testKey, other.liveKey, organisation.liveKey].map((key) =>
        server.call('POST', '/checkouts', { key, body: { product_id, customer_email: BUYER } }),
      ),
    )),
  ];
  for (const { status, text } of replies) {
    expect(status).toBe(404);
    // The answer has the same words for one that exists as for one that does not.
    expect(text).toBe(replies[0]!.text);
  }
  expect(replies[0]!.json.error).toEqual({ type: 'not_found', message: 'no such product' });
  expect(await checkouts(server)).toBe(before);
});

test('POST /checkouts is 404 for a customer who is unknown, of another organisation or mode', async () => {
  const before = await checkouts(server);
  const { organisation, other } = server;
  const theirs = await Promise.all(
    [other.testKey, organisation.liveKey].map(async (key) => {
      const body = { external_customer_id: 'theirs' };
      return (await server.call('POST', '/customers', { key, body })).json.id as string;
    }),
  );
  for (const customer_id of [UNKNOWN, ...theirs]) {
    const { status, json } = await checkout(server, { product_id, customer_id });
    expect([status, json.error]).toEqual([404, { type: 'not_found', message: 'no such customer' }]);
  }
  expect(await checkouts(server)).toBe(before);
});

test('a 404 of POST /checkouts is not kept: its key makes a checkout once the product exists', async () => {
  const missing = await checkout(server, { product_id: UNKNOWN }, 'early');
  expect(missing.status).toBe(404);
  const made = await checkout(server, { product_id }, 'early');
  expect([made.status, made.headers.has('idempotency-replayed')]).toEqual([201, false]);
});

const ROUTES = [
  ['GET', (reference: string) => `/checkouts/${reference}`],
  ['POST', (reference: string) => `/checkouts/${reference}/expire`],
] as const;

test.each(
  ROUTES.flatMap(([method, path]) =>
    [UNKNOWN, 'nobody', 'a%00', '%ff'].map((reference) => [method, path(reference)] as const),
  ),
)('%s %s is 404', async (method, path) => {
  const { status, json } = await server.call(method, path);
  expect([status, json.error.type]).toEqual([404, 'not_found']);
});

test.each(ROUTES)(
  '%s of a checkout of another organisation or mode is 404',
  async (method, path) => {
    const { organisation, other } = server;
    for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
      const { status, json } = await server.call(method, path(id), { key });
      expect([status, json.error.type]).toEqual([404, 'not_found']);
    }
    expect((await server.call('GET', `/checkouts/${id}`)).json.status).toBe('active');
  },
);
