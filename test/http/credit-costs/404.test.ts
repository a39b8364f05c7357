// Features that are not there.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { cost, features, listsOf, make, patch, post } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await features(server, 'a', 'archived', 'deleted');
  await server.call('PATCH', '/meters/archived', { body: { status: 'archived' } });
  await server.call('DELETE', '/meters/deleted');
  const { other, organisation } = server;
  await server.call('POST', '/meters', { key: other.testKey, body: { slug: 'theirs' } });
  await server.call('POST', '/meters', { key: organisation.liveKey, body: { slug: 'live' } });
  await make(server, 'pool', { credit_costs: [cost('a')] });
  await make(server, 'plain');
});
afterAll(() => server.stop());

// prettier-ignore
test.each(['nothing', 'Nothing', "' or 1=1--", 'archived', 'deleted', 'theirs', 'live'])(
  'credit_costs of the feature %j are 404', async (feature_key) => {
    const list = [cost(feature_key)];
    for (const { status, json } of [
      await post(server, 'new', { credit_costs: list }),
      await patch(server, 'plain', list),
      await patch(server, 'pool', [cost('a'), cost(feature_key)]),
      await server.call('PUT', '/meters/new', { body: { credit_costs: list } }),
    ]) {
      const message = `no such feature "${feature_key}"`;
      expect([status, json.error]).toEqual([404, { type: 'not_found', message }]);
    }
    expect((await server.call('GET', '/meters/new')).status).toBe(404);
    expect(await listsOf(server, 'plain')).toEqual([]);
    expect(await listsOf(server, 'pool')).toHaveLength(1);
  },
);

test('a 404 for a feature in credit_costs is not kept under the key', async () => {
  const headers = { 'idempotency-key': 'soon' };
  const body = { slug: 'keyed', credit_costs: [cost('soon')] };
  expect((await server.call('POST', '/meters', { body, headers })).status).toBe(404);
  await features(server, 'soon');
  expect((await server.call('POST', '/meters', { body, headers })).status).toBe(201);
});
