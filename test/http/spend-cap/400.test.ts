import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await server.call('POST', '/customers', { body: { external_customer_id: 'known' } });
});
afterAll(() => server.stop());

// prettier-ignore
const BODIES: [string, unknown, string][] = [
  // what                         body                                               at
  ['no amount',                   { currency: 'USD' },                               'amount'],
  ['an amount as a number',       { amount: 5, currency: 'USD' },                    'amount'],
  ['a negative amount',           { amount: '-1', currency: 'USD' },                 'amount'],
  ['more decimals than coins',    { amount: '0.001', currency: 'USD' },              'amount'],
  ['decimals of a yen',           { amount: '1.0', currency: 'JPY' },                'amount'],
  ['an amount of 13 digits',      { amount: '1234567890123', currency: 'USD' },      'amount'],
  ['no currency',                 { amount: '5' },                                   'currency'],
  ['an unknown currency',         { amount: '5', currency: 'XXQ' },                  'currency'],
  ['a field of its answer',       { amount: '5', currency: 'USD', spent: '0' },      'spent'],
];

test.each(BODIES)('PUT of a spend cap with %s is 400', async (_what, body, at) => {
  const { status, json } = await server.call('PUT', '/customers/known/spend-cap', { body });
  expect([status, json.error?.type]).toEqual([400, 'invalid_request']);
  expect(json.error.issues.map(({ path }: { path: string[] }) => path.join('.'))).toContain(at);
  expect((await server.call('GET', '/customers/known/spend-cap')).status).toBe(404);
});
