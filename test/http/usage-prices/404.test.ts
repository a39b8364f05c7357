import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { makeMeter, makeProduct, UNKNOWN } from '../entitlements/setting.ts';
import { archive, listed, PER_CALL, price } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await makeMeter(server, 'calls');
});
afterAll(() => server.stop());

test.each([UNKNOWN, 'plan', 'a%00b', "'%20or%201=1--"])(
  'usage prices of the product %s are 404',
  async (id) => {
    const path = `/products/${id}/usage-prices`;
    for (const [method, at, body] of [
      ['POST', path, PER_CALL],
      ['GET', path],
      ['POST', `${path}/${UNKNOWN}/archive`],
    ] as const) {
      const { status, json } = await server.call(method, at, body === undefined ? {} : { body });
      expect([status, json.error.type]).toEqual([404, 'not_found']);
    }
  },
);

test.each(['nothing', 'Calls', '%00'])(
  'POST of a usage price for the feature %j is 404',
  async (feature_key) => {
    const product = await makeProduct(server);
    const { status, json } = await price(server, product, { ...PER_CALL, feature_key });
    expect([status, json.error]).toEqual([404, { type: 'not_found', message: 'no such feature' }]);
  },
);

test('POST of a usage price for an archived or deleted meter is 404', async () => {
  const product = await makeProduct(server);
  const body = { ...PER_CALL, feature_key: await makeMeter(server, 'old') };
  await server.call('PATCH', '/meters/old', { body: { status: 'archived' } });
  expect((await price(server, product, body)).status).toBe(404);
  expect((await server.call('DELETE', '/meters/old')).status).toBe(204);
  expect((await price(server, product, body)).status).toBe(404);
});

test('a usage price of another organisation, mode or product is 404', async () => {
  const product = await makeProduct(server);
  const { json: mine } = await price(server, product, PER_CALL);
  const path = `/products/${product}/usage-prices`;
  const { organisation, other } = server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    expect((await server.call('GET', path, { key })).status).toBe(404);
    expect((await server.call('POST', path, { key, body: PER_CALL })).status).toBe(404);
    expect((await server.call('POST', `${path}/${mine.id}/archive`, { key })).status).toBe(404);
  }
  expect((await archive(server, await makeProduct(server), mine.id)).status).toBe(404);
  expect((await archive(server, product, UNKNOWN)).status).toBe(404);
  expect((await listed(server, product)).data).toEqual([mine]);
});
