import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { BUYER, checkout, checkouts, discount, product } from './fixture.ts';

let server: TestServer;
let product_id: string;
beforeAll(async () => {
  server = await startServer({ edited: true });
  ({ id: product_id } = await product(server));
});
afterAll(() => server.stop());

const PAIRS_51 = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v']));
const long = (length: number) => `https://a.example/${'x'.repeat(length - 18)}`;

// prettier-ignore
const BODIES: [string, object, string][] = [
  // what                                  change to a good body                              at
  ['no product',                           { product_id: undefined },                         'product_id'],
  ['a product that is no uuid',            { product_id: 'widget' },                          'product_id'],
  ['a product with prod_',                 { product_id: 'prod_01890000-0000-7000-8000-000000000000' }, 'product_id'],
  ['no e-mail',                            { customer_email: undefined },                     'customer_email'],
  ['null for an e-mail',                   { customer_email: null },                          'customer_email'],
  ['an e-mail that is none',               { customer_email: 'buyer' },                       'customer_email'],
  ['a name of 256',                        { customer_name: 'x'.repeat(256) },                'customer_name'],
  ['a customer that is no uuid',           { customer_id: 'user_7' },                         'customer_id'],
  ['an external id as a number',           { external_customer_id: 7 },                       'external_customer_id'],
  ['a reference of 501',                   { client_reference_id: 'x'.repeat(501) },          'client_reference_id'],
  ['a currency that nobody knows',         { currency: 'ABC' },                               'currency'],
  ['an empty discount',                    { discount_code: '' },                             'discount_code'],
  ['metadata of 51 pairs',                 { metadata: PAIRS_51 },                            'metadata'],
  ['a metadata key of 41',                 { metadata: { ['k'.repeat(41)]: 'v' } },           `metadata.${'k'.repeat(41)}`],
  ['an empty metadata key',                { metadata: { '': 'v' } },                         'metadata.'],
  ['a metadata value of 501',              { metadata: { plan: 'v'.repeat(501) } },           'metadata.plan'],
  ['a metadata value as a number',         { metadata: { plan: 7 } },                         'metadata.plan'],
  ['a nested metadata value',              { metadata: { plan: { a: 'b' } } },                'metadata.plan'],
  ['an empty success_url',                 { success_url: '' },                               'success_url'],
  ['http',                                 { success_url: 'http://shop.example/' },           'success_url'],
  ['javascript:',                          { success_url: 'javascript:alert(1)' },            'success_url'],
  ['JavaScript: with a tab',               { success_url: 'java\tscript:alert(1)' },          'success_url'],
  ['javascript: on another line',          { success_url: 'https://a.example/\njavascript:x' }, 'success_url'],
  ['data:',                                { success_url: 'data:text/html,x' },               'success_url'],
  ['no scheme',                            { success_url: '//shop.example/' },                'success_url'],
  ['a path',                               { success_url: '/done' },                          'success_url'],
  ['one slash',                            { success_url: 'https:/shop.example' },            'success_url'],
  ['a backslash',                          { success_url: 'https:\\\\shop.example' },         'success_url'],
  ['a user',                               { success_url: 'https://user@shop.example/' },     'success_url'],
  ['a password',                           { success_url: 'https://:secret@shop.example/' },  'success_url'],
  ['a space before',                       { success_url: ' https://shop.example/' },         'success_url'],
  ['every host',                           { cancel_url: 'https://*.example/' },              'cancel_url'],
  ['a host that ends a policy',            { cancel_url: 'https://a;sandbox/' },              'cancel_url'],
  ['a URL of 2049',                        { success_url: long(2049) },                       'success_url'],
  ['http that only looks like loopback',   { success_url: 'http://localhost.example/' },      'success_url'],
  ['loopback as another address',          { success_url: 'http://[::1]/' },                  'success_url'],
  ['loopback of a user',                   { success_url: 'http://u:p@localhost/' },          'success_url'],
  ['http in cancel_url',                   { cancel_url: 'http://shop.example/' },            'cancel_url'],
  ['a field that nobody knows',            { amount: '1.00' },                                'amount'],
];

test.each(BODIES)('POST /checkouts with %s is 400', async (_what, change, at) => {
  const before = await checkouts(server);
  const reply = await checkout(server, { product_id, ...change }, at);
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(reply.json.error.issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([
    at,
  ]);
  expect(await checkouts(server)).toBe(before);
});

test('POST /checkouts lists every issue of a body at once', async () => {
  const body = { product_id: 'x', customer_email: 'y', currency: 'z' };
  const { json } = await server.call('POST', '/checkouts', { body });
  const paths = json.error.issues.map(({ path }: { path: string[] }) => path);
  expect(paths).toEqual([['product_id'], ['customer_email'], ['currency']]);
  const urls = { success_url: 'http://a.example/', cancel_url: 'http://b.example/' };
  const { json: refused } = await checkout(server, { product_id, ...urls });
  expect(refused.error.issues).toEqual([
    { path: ['success_url'], message: 'must be an https URL' },
    { path: ['cancel_url'], message: 'must be an https URL' },
  ]);
});

test('POST /checkouts with a live key refuses a loopback success_url', async () => {
  const { liveKey: key } = server.organisation;
  const { id } = await product(server, { key });
  const body = { product_id: id, customer_email: BUYER, success_url: 'http://localhost/' };
  const { status, json } = await server.call('POST', '/checkouts', { key, body });
  expect([status, json.error.issues[0].path]).toEqual([400, ['success_url']]);
});

test('POST /checkouts refuses a loopback success_url where that is switched off', async () => {
  const strict = await startServer({ settings: { allowLoopbackUrls: false } });
  try {
    const { id } = await product(strict);
    const reply = await checkout(strict, { product_id: id, success_url: 'http://localhost/' });
    expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  } finally {
    await strict.stop();
  }
});

test('GET /checkouts with an invalid filter is 400', async () => {
  const reply = await server.call('GET', '/checkouts?status=open');
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, ['status']]);
});

/** A product that cannot be bought, and the other fields of the request. */
const REFUSED: [string, (server: TestServer) => Promise<object>, string][] = [
  ['an archived product', (at) => notActive(at, 'archived'), 'archived or unpublished'],
  ['an unpublished product', (at) => notActive(at, 'unpublished'), 'archived or unpublished'],
  ['no price', (at) => priced(at, []), 'no active price'],
  ['no active price', archivedPrice, 'no active price'],
  [
    'a currency without a price',
    (at) => priced(at, [['1.00', 'USD']], { currency: 'EUR' }),
    'in this currency',
  ],
  [
    'an unknown discount',
    (at) => priced(at, [['1.00', 'USD']], { discount_code: 'NOPE' }),
    'no such discount',
  ],
  [
    'a discount that could never be a code',
    (at) => priced(at, [['1.00', 'USD']], { discount_code: "' or 1=1" }),
    'no such discount',
  ],
  ['a deleted discount', deletedDiscount, 'no such discount'],
  ['an expired discount', expiredDiscount, 'has expired'],
  ['a discount that is used up', spentDiscount, 'used up'],
  ['a discount in another currency', foreignDiscount, 'another currency'],
];

async function priced(
  at: TestServer,
  prices: [string, string][],
  wish: object = {},
): Promise<object> {
  return { product_id: (await product(at, { prices })).id, ...wish };
}

async function notActive(at: TestServer, status: string): Promise<object> {
  return { product_id: (await product(at, { body: { status } })).id };
}

async function archivedPrice(at: TestServer): Promise<object> {
  const made = await product(at);
  await at.call('POST', `/products/${made.id}/prices/${made.prices[0]!.id}/archive`);
  return { product_id: made.id };
}

async function deletedDiscount(at: TestServer): Promise<object> {
  const id = await discount(at, { code: 'GONE', percent_off: 10 });
  await at.call('DELETE', `/discounts/${id}`);
  return { product_id, discount_code: 'GONE' };
}

async function expiredDiscount(at: TestServer): Promise<object> {
  const expires_at = '2099-01-01T00:00:00Z';
  const id = await discount(at, { code: 'LATE', percent_off: 10, expires_at });
  await at.sql`update discounts set expires_at = now() - interval '1 s' where id = ${id}`;
  return { product_id, discount_code: 'LATE' };
}

async function spentDiscount(at: TestServer): Promise<object> {
  const id = await discount(at, { code: 'SPENT', percent_off: 10, max_redemptions: 1 });
  await at.sql`update discounts set redemptions = 1 where id = ${id}`;
  return { product_id, discount_code: 'spent' };
}

async function foreignDiscount(at: TestServer): Promise<object> {
  await discount(at, { code: 'EURO', amount_off: '1.00', currency: 'EUR' });
  return { product_id, discount_code: 'EURO' };
}

test.each(REFUSED)(
  'POST /checkouts is checkout_create_failed for %s, and again with the same key',
  async (what, prepare, why) => {
    const body = await prepare(server);
    const before = await checkouts(server);
    const first = await checkout(server, body, what);
    expect([first.status, first.json.error.type]).toEqual([400, 'checkout_create_failed']);
    expect(first.json.error.message).toContain(why);
    expect(first.json.error).not.toHaveProperty('issues');
    const again = await checkout(server, body, what);
    // Nothing was stored, so it is decided anew.
    expect([again.status, again.text]).toEqual([400, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBeNull();
    expect(await checkouts(server)).toBe(before);
  },
);

test('POST /checkouts in live mode is checkout_create_failed where no processor is configured', async () => {
  const { liveKey: key } = server.organisation;
  const { id } = await product(server, { key });
  const body = { product_id: id, customer_email: BUYER };
  const { status, json } = await server.call('POST', '/checkouts', { key, body });
  expect([status, json.error.type]).toEqual([400, 'checkout_create_failed']);
  expect(json.error.message).toContain('no processor is connected');
});

test('POST /checkouts does not find a discount of another organisation', async () => {
  await server.call('POST', '/discounts', {
    key: server.other.testKey,
    body: { code: 'THEIRS', percent_off: 10 },
  });
  const { json } = await checkout(server, { product_id, discount_code: 'THEIRS' });
  expect(json.error.type).toBe('checkout_create_failed');
});
