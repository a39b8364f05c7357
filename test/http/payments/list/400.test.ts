import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const NOBODY = '01a1fd8c-b5bc-7679-8e92-f51ff29e0ea6';

// prettier-ignore
const PAGES: [string, string][] = [
  ['limit=0', 'limit'], ['limit=201', 'limit'], ['limit=-1', 'limit'], ['limit=1.5', 'limit'], ['limit=x', 'limit'],
  ['limit=', 'limit'], ['limit=1e1', 'limit'], ['offset=-1', 'offset'], ['offset=x', 'offset'],
  ['offset=99999999999999999999', 'offset'], ['status=paid', 'status'],
];
// prettier-ignore
const FILTERS: [string, string][] = [
  ['customer_id=x', 'customer_id'], ['customer_id=', 'customer_id'], ['checkout_id=%00', 'checkout_id'],
  ['subscription_id=1', 'subscription_id'],
];

test.each([...PAGES, ...FILTERS])('GET /payments?%s is 400', async (query, field) => {
  const { status, json } = await server.call('GET', `/payments?${query}`);
  expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  expect(json.error.issues.map(({ path }: { path: string[] }) => path)).toEqual([[field]]);
});

test.each(PAGES)(
  'GET /payments/{id}/refunds?%s is 400 before its payment is looked up',
  async (query, field) => {
    const { status, json } = await server.call('GET', `/payments/${NOBODY}/refunds?${query}`);
    expect([status, json.error.type]).toEqual([400, 'invalid_request']);
    expect(json.error.issues.map(({ path }: { path: string[] }) => path)).toEqual([[field]]);
  },
);
