import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

// prettier-ignore
const QUERIES: [string, string][] = [
  ['limit=0',                 'limit'],
  ['limit=201',               'limit'],
  ['offset=-1',               'offset'],
  ['status=settled',          'status'],
  ['status=',                 'status'],
  ['customer_id=x',           'customer_id'],
  ['subscription_id=%00',     'subscription_id'],
  ['customer=x',              'customer'],
  ['status=paid&status=open', 'status'],
];

test.each(QUERIES)('GET /invoices?%s', async (query, at) => {
  const reply = await server.call('GET', `/invoices?${query}`);
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(reply.json.error.issues.map(({ path }: { path: string[] }) => path)).toEqual([[at]]);
});
