// Times at the end of the range. An offset may lead past the year 9999, which the database does not
// accept.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { made } from '../portal/customer.ts';

setDefaultTimeout(60_000);

const LAST = '9999-12-31T23:59:59Z';
const PAST = '9999-12-31T23:59:59-00:01';

let server: TestServer;
let customer: string;
let endpoint: string;
beforeAll(async () => {
  server = await startServer();
  customer = (await made(server, '/customers', {})).id;
  endpoint = (await made(server, '/webhook-endpoints', { url: 'https://example.com/' })).id;
  await made(server, '/meters', { slug: 'words' });
});
afterAll(() => server.stop());

const since = '2026-01-01T00:00:00Z';
const invoice = () => ({
  customer_id: customer,
  currency: 'USD',
  lines: [{ description: 'Setup', unit_amount: '1.00' }],
});
const BODIES: [string, string, () => string, () => object][] = [
  [
    'a grant',
    'expires_at',
    () => `/customers/${customer}/grants`,
    () => ({ feature_key: 'words', amount: 1 }),
  ],
  [
    'a later grant',
    'effective_at',
    () => `/customers/${customer}/grants`,
    () => ({ feature_key: 'words', amount: 1 }),
  ],
  ['a discount', 'expires_at', () => '/discounts', () => ({ code: 'LAST', percent_off: 10 })],
  ['an invoice', 'due_at', () => '/invoices', invoice],
  ['a replay', 'until', () => `/webhook-endpoints/${endpoint}/replay`, () => ({ since })],
];

test.each(BODIES)('a time out of range is refused: %s: %s', async (_name, field, path, body) => {
  const refused = await server.call('POST', path(), { body: { ...body(), [field]: PAST } });
  expect([refused.status, refused.json.error.issues?.[0].path]).toEqual([400, [field]]);
  const taken = await server.call('POST', path(), { body: { ...body(), [field]: LAST } });
  expect(taken.status).toBeLessThan(300);
});

test.each(['since', 'until'])('/events/ingest refuses a time out of range: %s', async (name) => {
  const { status, json } = await server.call('GET', `/events?${name}=${PAST}`);
  expect([status, json.error.issues[0].path]).toEqual([400, [name]]);
});
