import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ENTITLEMENTS_PER_PRODUCT_MAX } from '../../../ledger/limits.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { attach, listed, makeMeter, makeProduct } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('POST of an entitlement that the product has is 409, also at once', async () => {
  const product = await makeProduct(server);
  const feature_key = await makeMeter(server, 'twice');
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, limit) => attach(server, product, { feature_key, limit })),
  );
  const made = replies.filter(({ status }) => status === 201);
  expect(made).toHaveLength(1);
  for (const { status, json } of replies.filter((reply) => reply !== made[0])) {
    const error = { type: 'conflict', message: 'the product gives this feature already' };
    expect([status, json]).toEqual([409, { error }]);
  }
  expect((await listed(server, product)).data).toEqual([made[0]!.json]);
});

test('a product has no more entitlements than the limit', async () => {
  const product = await makeProduct(server);
  const { id } = server.organisation;
  await server.sql`
    insert into meters (id, organisation_id, mode, slug, name, event_name, aggregation, scale, metadata, status, created_at, updated_at)
    select gen_random_uuid(), ${id}, 'test', 'many' || n, 'many', 'many' || n, 'sum', 0, '{}', 'active', now(), now()
    from generate_series(1, ${ENTITLEMENTS_PER_PRODUCT_MAX + 4}) n`;
  const replies = await Promise.all(
    Array.from({ length: ENTITLEMENTS_PER_PRODUCT_MAX + 4 }, (_, n) =>
      attach(server, product, { feature_key: `many${n + 1}`, limit: 1 }),
    ),
  );
  const refused = replies.filter(({ status }) => status === 409);
  expect([refused.length, refused[0]!.json.error.type]).toEqual([4, 'conflict']);
  const { data } = await listed(server, product, '?limit=200');
  expect(data).toHaveLength(ENTITLEMENTS_PER_PRODUCT_MAX);
});

test('DELETE of a meter that a product gives is 409', async () => {
  const product = await makeProduct(server);
  const feature_key = await makeMeter(server, 'given');
  const { json } = await attach(server, product, { feature_key, limit: 1 });
  const refused = await server.call('DELETE', '/meters/given');
  expect([refused.status, refused.json.error.type]).toEqual([409, 'conflict']);
  await server.call('DELETE', `/products/${product}/entitlements/${json.id}`);
  expect((await server.call('DELETE', '/meters/given')).status).toBe(204);
});

test('a meter that is deleted while a product attaches it is one or the other', async () => {
  for (let round = 0; round < 12; round += 1) {
    const product = await makeProduct(server);
    const feature_key = await makeMeter(server, `race${round}`);
    const [attached, deleted] = await Promise.all([
      attach(server, product, { feature_key, limit: 1 }),
      server.call('DELETE', `/meters/${feature_key}`),
    ]);
    const outcome = [attached.status, deleted.status];
    expect([
      [201, 409],
      [404, 204],
    ]).toContainEqual(outcome);
  }
});
