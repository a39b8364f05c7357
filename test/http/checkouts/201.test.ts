import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Redis } from 'ioredis';
import { startServer, type TestServer } from '../../support/server.ts';
import { redisDatabase } from '../../support/services.ts';
import { BUYER, checkout, checkouts, discount, product } from './fixture.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ redisUrl: redisDatabase(10) });
});
afterAll(() => server.stop());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

test('POST /checkouts answers every field as sent', async () => {
  const { id: product_id } = await product(server);
  const sent = {
    product_id,
    customer_email: BUYER,
    customer_name: '<script>alert(1)</script> Zoë',
    external_customer_id: 'user_7',
    client_reference_id: 'order 7 / "x"',
    success_url: 'https://shop.example/done?a=%20b&t={CHECKOUT_TOKEN}#end',
    cancel_url: 'https://shop.example/back',
    currency: 'USD',
    metadata: {
      plan: 'pro',
      'key with space': '',
      ['__proto__']: 'x',
      constructor: 'y',
      ['🗝'.repeat(40)]: '🏰'.repeat(500),
    },
  };
  const began = Date.now();
  const { status, json } = await server.call('POST', '/checkouts', { body: sent });
  expect(status).toBe(201);
  const { id, url, expires_at, ...rest } = json;
  expect(rest).toEqual({
    ...sent,
    customer_id: null,
    amount: '10.00',
    currency: 'USD',
    status: 'active',
    type: 'one_time',
    paid_at: null,
  });
  expect(Object.keys(json.metadata).sort()).toEqual(Object.keys(sent.metadata).sort());
  expect(id).toMatch(UUID);
  expect(url).toMatch(/^http:\/\/localhost\/pay\/[0-9A-Za-z]{43}$/);
  expect(expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const open = Date.parse(expires_at) - began;
  expect(open).toBeGreaterThanOrEqual(86_400_000);
  expect(open).toBeLessThan(86_460_000);
  expect((await server.call('GET', `/checkouts/${id}`)).json).toEqual(json);
});

test('POST /checkouts answers null for what is left out', async () => {
  const { id: product_id } = await product(server);
  const { json } = await checkout(server, { product_id });
  expect(json).toMatchObject({
    customer_name: null,
    external_customer_id: null,
    client_reference_id: null,
    success_url: null,
    cancel_url: null,
    metadata: {},
    paid_at: null,
  });
});

test('each checkout has an id and a token of its own', async () => {
  const { id: product_id } = await product(server);
  const made = await Promise.all(Array.from({ length: 5 }, () => checkout(server, { product_id })));
  expect(new Set(made.map(({ json }) => json.id)).size).toBe(5);
  expect(new Set(made.map(({ json }) => json.url)).size).toBe(5);
});

const PAIRS = Array.from({ length: 50 }, (_, index) => [
  `key_${index}`.padEnd(40, 'k'),
  'v'.repeat(500),
]);

test('a checkout takes metadata at its limits', async () => {
  const { id: product_id } = await product(server);
  const metadata = Object.fromEntries(PAIRS);
  const { status, json } = await checkout(server, { product_id, metadata });
  expect([status, json.metadata]).toEqual([201, metadata]);
});

test('a checkout made with a test key takes a loopback success_url', async () => {
  const { id: product_id } = await product(server);
  const success_url = 'http://localhost:5173/done';
  const cancel_url = 'http://127.0.0.1:8080/';
  const { status, json } = await checkout(server, { product_id, success_url, cancel_url });
  expect([status, json.success_url, json.cancel_url]).toEqual([201, success_url, cancel_url]);
});

// prettier-ignore
const PRICES: [string, [string, string][], object, string, string][] = [
  // what prices body amount currency
  ['the only price',                               [['12.50', 'USD']],                                      {},                     '12.50',    'USD'],
  ['the first of a currency',                      [['12.50', 'USD'], ['13.00', 'USD']],                    {},                     '12.50',    'USD'],
  ['the first of several currencies',              [['900', 'JPY'], ['12.50', 'USD']],                      {},                     '900',      'JPY'],
  ['the currency that is asked for',               [['900', 'JPY'], ['12.50', 'USD']],                      { currency: 'USD' },    '12.50',    'USD'],
  ['three decimals',                               [['12.500', 'KWD']],                                     {},                     '12.500',   'KWD'],
  ['four decimals',                                [['12.5', 'CLF']],                                       {},                     '12.5000',  'CLF'],
  ['nothing',                                      [['0', 'USD']],                                          {},                     '0.00',     'USD'],
  ['a percentage off',                             [['10.01', 'USD']],                                      { discount_code: 'half' }, '5.00',  'USD'],
  ['an amount off, however it is written',         [['10.00', 'USD']],                                      { discount_code: 'Three' }, '7.00', 'USD'],
  ['more off than there is',                       [['2.00', 'USD']],                                       { discount_code: 'THREE' }, '0.00', 'USD'],
  ['the currency of the discount',                 [['900', 'JPY'], ['10.00', 'USD']],                      { discount_code: 'THREE' }, '7.00', 'USD'],
];

test.each(PRICES)('a checkout costs %s', async (_what, prices, body, amount, currency) => {
  for (const code of [
    { code: 'HALF', percent_off: 50 },
    { code: 'THREE', amount_off: '3.00', currency: 'USD' },
  ]) {
    await server.call('POST', '/discounts', { body: code });
  }
  const { id: product_id } = await product(server, { prices });
  const { status, json } = await checkout(server, { product_id, ...body });
  expect([status, json.amount, json.currency]).toEqual([201, amount, currency]);
});

test('a checkout passes over an archived price, and takes a recurring one', async () => {
  const made = await product(server, {
    prices: [
      ['1.00', 'USD'],
      ['2.00', 'USD'],
    ],
  });
  await server.call('POST', `/products/${made.id}/prices/${made.prices[0]!.id}/archive`);
  expect((await checkout(server, { product_id: made.id })).json.amount).toBe('2.00');
  const both = await product(server, {
    prices: [],
    body: {
      prices: [
        { amount: '3.00', currency: 'USD', interval: 'month' },
        { amount: '4.00', currency: 'USD' },
      ],
    },
  });
  expect((await checkout(server, { product_id: both.id })).json).toMatchObject({
    amount: '4.00',
    type: 'one_time',
  });
});

test('opening a checkout redeems no discount', async () => {
  await discount(server, { code: 'ONCE', percent_off: 10, max_redemptions: 1 });
  const { id: product_id } = await product(server);
  for (let count = 0; count < 2; count += 1) {
    expect((await checkout(server, { product_id, discount_code: 'ONCE' })).status).toBe(201);
  }
});

test('POST /checkouts again with its Idempotency-Key gets the first checkout, whatever the body', async () => {
  const { id: product_id } = await product(server);
  const first = await checkout(server, { product_id }, 'again');
  expect(first.headers.has('idempotency-replayed')).toBe(false);
  const before = await checkouts(server);
  const { id: another } = await product(server);
  for (const body of [{ product_id }, { product_id: another, customer_name: 'Other' }]) {
    const reply = await checkout(server, body, 'again');
    expect([reply.status, reply.text]).toEqual([201, first.text]);
    expect(reply.headers.get('idempotency-replayed')).toBe('true');
  }
  expect(await checkouts(server)).toBe(before);
});

test('an Idempotency-Key of another organisation or mode makes another checkout', async () => {
  const { id: product_id } = await product(server);
  const first = await checkout(server, { product_id }, 'shared');
  const { other } = server;
  const theirs = await product(server, { key: other.testKey });
  const reply = await server.call('POST', '/checkouts', {
    key: other.testKey,
    body: { customer_email: BUYER, product_id: theirs.id },
    headers: { 'idempotency-key': 'shared' },
  });
  expect(reply.status).toBe(201);
  expect(reply.json.id).not.toBe(first.json.id);
});

test('100 POST /checkouts at once with one key make one checkout, which outlives the data in Redis', async () => {
  const { id: product_id } = await product(server);
  const before = await checkouts(server);
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => checkout(server, { product_id }, 'hundred')),
  );
  expect(await checkouts(server)).toBe(before + 1);
  const made = replies.filter(({ status }) => status === 201);
  expect(made).toHaveLength(100);
  expect(new Set(made.map(({ text }) => text)).size).toBe(1);
  // Redis does not have it.
  const redis = new Redis(redisDatabase(10));
  await redis.flushdb();
  redis.disconnect();
  const replay = await checkout(server, { product_id }, 'hundred');
  expect([replay.status, replay.text]).toEqual([201, made[0]!.text]);
});
