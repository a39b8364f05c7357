import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('POST with a slug that is taken, also at once', async () => {
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => server.call('POST', '/meters', { body: { slug: 'once' } })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
  const refused = replies.find(({ status }) => status === 409);
  expect(refused!.json.error).toEqual({ type: 'conflict', message: 'a meter "once" exists' });
});

test('POST of an eleventh meter for an event name, also at once', async () => {
  const replies = await Promise.all(
    Array.from({ length: 14 }, (_, i) =>
      server.call('POST', '/meters', { body: { slug: `m${i}`, event_name: 'crowded' } }),
    ),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(4);
});

test('DELETE while a customer has a live allowance on it', async () => {
  const { json: meter } = await server.call('POST', '/meters', { body: { slug: 'used' } });
  const { json: customer } = await server.call('POST', '/customers', { body: {} });
  await server.sql`
    insert into grants (slot, id, organisation_id, mode, customer_id, meter_id, source, amount, used,
      effective_at, priority, overage_allowed, started, created_at)
    values (1, gen_random_uuid(), ${server.organisation.id}, 'test', ${customer.id}, ${meter.id},
      'top_up', 5, 0, now(), 100, false, true, now())`;
  const refused = await server.call('DELETE', '/meters/used');
  expect([refused.status, refused.json.error.type]).toEqual([409, 'conflict']);
  await server.sql`update grants set ended_at = now(), ended_how = 'void' where meter_id = ${meter.id}`;
  expect((await server.call('DELETE', '/meters/used')).status).toBe(204);
});
