import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const CONFLICT = {
  type: 'conflict',
  message: 'another customer has this external_customer_id',
};

test('POST /customers with an external id that is taken is 409, also at once', async () => {
  const body = { external_customer_id: 'taken' };
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => server.call('POST', '/customers', { body })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
  expect(replies.find(({ status }) => status === 409)!.json.error).toEqual(CONFLICT);
  // No event for what did not happen.
  expect(
    await server.sql`select 1 from events where data->>'externalCustomerId' = 'taken'`,
  ).toHaveLength(1);
});

test('PATCH to an external id that another customer has is 409, also at once', async () => {
  const made = await Promise.all(
    Array.from({ length: 6 }, () => server.call('POST', '/customers', { body: {} })),
  );
  const body = { external_customer_id: 'wanted' };
  const replies = await Promise.all(
    made.map(({ json }) => server.call('PATCH', `/customers/${json.id}`, { body })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([200, 409, 409, 409, 409, 409]);
  expect(replies.find(({ status }) => status === 409)!.json.error).toEqual(CONFLICT);
});

test('an external id is free in the other mode and in another organisation', async () => {
  for (const key of [
    server.organisation.testKey,
    server.organisation.liveKey,
    server.other.testKey,
  ]) {
    const reply = await server.call('POST', '/customers', {
      key,
      body: { external_customer_id: 'shared' },
    });
    expect(reply.status).toBe(201);
  }
});
