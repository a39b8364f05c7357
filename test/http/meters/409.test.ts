import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('POST /meters with a slug that is taken is 409, also at once', async () => {
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => server.call('POST', '/meters', { body: { slug: 'once' } })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
  const refused = replies.find(({ status }) => status === 409);
  expect(refused!.json.error).toEqual({ type: 'conflict', message: 'a meter "once" exists' });
});

test('POST of an eleventh meter for an event name is 409, also at once', async () => {
  const replies = await Promise.all(
    Array.from({ length: 14 }, (_, i) =>
      server.call('POST', '/meters', { body: { slug: `m${i}`, event_name: 'crowded' } }),
    ),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(4);
});

test('DELETE of a meter on which a customer has an allowance is 409', async () => {
  await server.call('POST', '/meters', { body: { slug: 'used' } });
  const { json: customer } = await server.call('POST', '/customers', { body: {} });
  const body = { feature_key: 'used', amount: 5 };
  const { json: grant } = await server.call('POST', `/customers/${customer.id}/grants`, { body });
  const refused = await server.call('DELETE', '/meters/used');
  expect([refused.status, refused.json.error.type]).toEqual([409, 'conflict']);
  await server.call('POST', `/grants/${grant.id}/void`);
  expect((await server.call('DELETE', '/meters/used')).status).toBe(204);
});
