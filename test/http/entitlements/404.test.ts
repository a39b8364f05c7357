import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { attach, listed, makeMeter, makeProduct, UNKNOWN } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await makeMeter(server, 'calls');
});
afterAll(() => server.stop());

const LIMIT = { feature_key: 'calls', limit: 1 };

test.each([UNKNOWN, 'plan', 'a%00b', "'%20or%201=1--"])(
  'entitlements of the product %s are 404',
  async (id) => {
    const path = `/products/${id}/entitlements`;
    for (const [method, at, body] of [
      ['POST', path, LIMIT],
      ['GET', path],
      ['DELETE', `${path}/${UNKNOWN}`],
    ] as const) {
      const { status, json } = await server.call(method, at, body === undefined ? {} : { body });
      expect([status, json.error.type]).toEqual([404, 'not_found']);
    }
  },
);

test.each(['nothing', 'Calls', '%00'])(
  'POST of an entitlement to the feature %j is 404',
  async (key) => {
    const product = await makeProduct(server);
    const { status, json } = await attach(server, product, { ...LIMIT, feature_key: key });
    expect([status, json.error]).toEqual([404, { type: 'not_found', message: 'no such feature' }]);
  },
);

test('POST of an entitlement to an archived or deleted meter is 404', async () => {
  const product = await makeProduct(server);
  await makeMeter(server, 'old');
  await server.call('PATCH', '/meters/old', { body: { status: 'archived' } });
  expect((await attach(server, product, { ...LIMIT, feature_key: 'old' })).status).toBe(404);
  expect((await server.call('DELETE', '/meters/old')).status).toBe(204);
  expect((await attach(server, product, { ...LIMIT, feature_key: 'old' })).status).toBe(404);
});

test('a 404 of POST of an entitlement is not kept under its key', async () => {
  const product = await makeProduct(server);
  const body = { feature_key: 'later', limit: 1 };
  expect((await attach(server, product, body, 'later')).status).toBe(404);
  await makeMeter(server, 'later');
  expect((await attach(server, product, body, 'later')).status).toBe(201);
});

test('entitlements of a product of another organisation or mode are 404', async () => {
  const product = await makeProduct(server);
  const { json: mine } = await attach(server, product, LIMIT);
  const path = `/products/${product}/entitlements`;
  const { organisation, other } = server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    expect((await server.call('GET', path, { key })).status).toBe(404);
    expect((await server.call('POST', path, { key, body: LIMIT })).status).toBe(404);
    expect((await server.call('DELETE', `${path}/${mine.id}`, { key })).status).toBe(404);
  }
  // A product does not give access to another product's feature, even of the same seller.
  const { json: theirs } = await server.call('POST', '/products', {
    key: other.testKey,
    body: { name: 'Plan' },
  });
  const own = `/products/${theirs.id}/entitlements`;
  expect((await server.call('POST', own, { key: other.testKey, body: LIMIT })).status).toBe(404);
  const elsewhere = `/products/${await makeProduct(server)}/entitlements/${mine.id}`;
  expect((await server.call('DELETE', elsewhere)).status).toBe(404);
  expect((await listed(server, product)).data).toEqual([mine]);
});
