// Input that is accepted for what it clearly means: null for an absent value, currencies in lower
// case, empty lists.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { type Reply, startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let productId: string;
beforeAll(async () => {
  server = await startServer();
  await server.call('POST', '/meters', { body: { slug: 'calls', scale: 2 } });
  await server.call('POST', '/customers', { body: { external_customer_id: 'u' } });
  const prices = [{ amount: '1', currency: 'eur' }];
  const product = await server.call('POST', '/products', { body: { name: 'P', prices } });
  expect([product.status, product.json.prices[0].currency]).toEqual([201, 'EUR']);
  productId = product.json.id;
});
afterAll(() => server.stop());

const post = (path: string, body: unknown) => server.call('POST', path, { body });
const checkout = (body: object) =>
  post('/checkouts', { product_id: productId, customer_email: 'a@example.com', ...body });
const issueOf = ({ json }: Reply) => [
  json.error.issues[0].path.join('.'),
  json.error.issues[0].message,
];
const u = { external_customer_id: 'u', feature_key: 'calls' };

test('null for an optional field is as if it were left out', async () => {
  const made = await checkout({
    customer_name: null,
    external_customer_id: null,
    success_url: null,
    discount_code: null,
    currency: null,
    metadata: null,
  });
  expect([made.status, made.json.customer_name, made.json.metadata]).toEqual([201, null, {}]);
  const tracked = await post('/track', { ...u, customer_id: null, value: null, metadata: null });
  expect([tracked.status, tracked.json.value]).toEqual([200, 1]);
  const events = [{ name: 'calls', external_customer_id: 'u', value: null, timestamp: null }];
  expect((await post('/events/ingest', { events })).json.inserted).toBe(1);
  const price = { amount: '2', currency: 'USD', interval: null, trial_days: null };
  expect((await post(`/products/${productId}/prices`, price)).status).toBe(201);
});

// prettier-ignore
const MEANT: [string, string, object, string][] = [
  ['the amount of a refund',  '/payments/x/refund',    { amount: null },                          'amount'],
  ['types of event',          '/webhook-endpoints',    { url: 'https://a.example/', event_types: null }, 'event_types'],
  ['a dry run',               '/webhook-endpoints/x/replay', { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z', dry_run: null }, 'dry_run'],
  ['what is required',        '/meters',               { slug: null },                            'slug'],
  ['a value in metadata',     '/customers',            { metadata: { a: null } },                 'metadata.a'],
  ['a field that is unknown', '/customers',            { nam: null },                             'nam'],
];
test.each(MEANT)('null for %s is refused', async (_what, path, body, at) => {
  const reply = await post(path, body);
  expect([reply.status, issueOf(reply)[0]]).toEqual([400, at]);
});

test('null clears a field where the document says so', async () => {
  const { json } = await post('/customers', { name: 'Ada' });
  const changed = await server.call('PATCH', `/customers/${json.id}`, { body: { name: null } });
  expect([changed.status, changed.json.name]).toEqual([200, null]);
});

test('a currency in lower case is taken as that currency', async () => {
  const made = await checkout({ currency: 'eur' });
  expect([made.status, made.json.currency]).toEqual([201, 'EUR']);
  const unknown = await checkout({ currency: 'xyz' });
  expect(issueOf(unknown)).toEqual(['currency', 'must be an ISO 4217 currency code']);
});

test('a name and a description may be empty', async () => {
  const made = await checkout({ customer_name: '' });
  expect([made.status, made.json.customer_name]).toEqual([201, '']);
  const product = await post('/products', { name: 'Q', description: '' });
  expect([product.status, product.json.description]).toEqual([201, '']);
});

test('an empty list of items is answered with an empty list', async () => {
  const ingested = await post('/events/ingest', { events: [] });
  expect([ingested.status, ingested.json]).toEqual([
    200,
    { inserted: 0, duplicates: 0, events: [] },
  ]);
  const checked = await post('/check/batch', { checks: [] });
  expect([checked.status, checked.json]).toEqual([200, { results: [] }]);
});

// prettier-ignore
const TOLD: [string, string, string, object, string, string][] = [
  ['too many decimals',    'POST',  '/track', { ...u, value: 0.1 + 0.2 }, 'value', 'has more decimals than the meter'],
  ['too much',             'POST',  '/track', { ...u, value: 1e20 },      'value', 'is out of range'],
  ['what cannot change',   'PATCH', '/meters/calls', { scale: 3 },        'scale', 'cannot be changed'],
  ['what is not there',    'PATCH', '/meters/calls', { scal: 3 },         'scal',  'is not a known field'],
  ['nobody',               'POST',  '/track', { feature_key: 'calls' },   'customer_id', 'must be given unless external_customer_id is: exactly one of the two'],
];
test.each(TOLD)(
  '%s is refused with a message in words',
  async (_what, method, path, body, at, message) => {
    const reply = await server.call(method, path, { body });
    expect([reply.status, ...issueOf(reply)]).toEqual([400, at, message]);
  },
);

test('a portal opens over HTTP/1.0 without a Host', async () => {
  const customer = (await post('/customers', {})).json;
  const { token } = (await post(`/customers/${customer.id}/portal-tokens`, {})).json;
  const { port } = new URL(server.url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write(`GET /portal/${token} HTTP/1.0\r\n\r\n`);
  });
  socket
    .once('data', (data) => resolve(data.toString().split('\r\n', 1)[0] ?? ''))
    .once('error', reject);
  expect(await promise).toContain(' 200 ');
  socket.destroy();
});
