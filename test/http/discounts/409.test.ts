import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('a discount code that exists is 409, whatever its case, also at once', async () => {
  const codes = ['Twice', 'TWICE', 'twice', 'tWICE', 'Twice', 'twice'];
  const replies = await Promise.all(
    codes.map((code) => server.call('POST', '/discounts', { body: { code, percent_off: 10 } })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([201, 409, 409, 409, 409, 409]);
  expect(replies.find(({ status }) => status === 409)!.json.error).toEqual({
    type: 'conflict',
    message: 'another discount has this code',
  });
});

test('a discount code is free in the other mode and organisation', async () => {
  const { organisation, other } = server;
  for (const key of [organisation.testKey, organisation.liveKey, other.testKey]) {
    const body = { code: 'shared', percent_off: 10 };
    expect((await server.call('POST', '/discounts', { key, body })).status).toBe(201);
  }
});
