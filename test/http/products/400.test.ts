import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let product: { id: string };
beforeAll(async () => {
  server = await startServer({ own: true });
});
afterAll(() => server.stop());

beforeEach(async () => {
  await server.sql`truncate products cascade`;
  product = (await server.call('POST', '/products', { body: { name: 'There' } })).json;
});

const ID = '01890000-0000-7000-8000-000000000000';

async function expectRefused(method: string, path: string, body: object, at: string) {
  const { sql } = server;
  const stored = () => sql`
    select p.id, p.name, p.slug, p.description, p.status, p.metadata, p.updated_at, x.id as price
    from products p left join prices x on x.product_id = p.id`;
  const before = [...(await stored())];
  const headers = { 'idempotency-key': 'refused' };
  const reply = await server.call(method, path, { body, headers });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.'));
  expect(paths.join(' ')).toBe(at);
  expect([...(await stored())]).toEqual(before);
  expect(await sql`select 1 from idempotency`).toHaveLength(0);
}

// prettier-ignore
const FIELDS: [string, object, string][] = [
  // what                         body                                        at
  ['an empty name',               { name: '' },                               'name'],
  ['a name of 256',               { name: 'x'.repeat(256) },                  'name'],
  ['a description of 5001',       { description: 'x'.repeat(5001) },          'description'],
  ['an empty slug',               { slug: '' },                               'slug'],
  ['an upper-case slug',          { slug: 'Plan' },                           'slug'],
  ['a slug that begins with -',   { slug: '-plan' },                          'slug'],
  ['a slug with a dot',           { slug: 'a.b' },                            'slug'],
  ['a slug with a line end',      { slug: 'plan\n' },                         'slug'],
  ['a slug of 65',                { slug: 'x'.repeat(65) },                   'slug'],
  ['a slug that reads like an id', { slug: ID },                              'slug'],
  ['a slug like a prefixed id',   { slug: `prod_${ID}` },                     'slug'],
  ['an unknown status',           { status: 'deleted' },                      'status'],
  ['a metadata value of 501',     { metadata: { a: 'x'.repeat(501) } },       'metadata.a'],
  ['metadata as numbers',         { metadata: { a: 1 } },                     'metadata.a'],
  ['a misspelt field',            { desc: 'x' },                              'desc'],
];

test.each(FIELDS)('POST and PATCH of a product with %s are 400', async (_what, body, at) => {
  await expectRefused('POST', '/products', { name: 'x', ...body }, at);
  await expectRefused('PATCH', `/products/${product.id}`, body, at);
});

test('POST of a product without a name is 400, and PATCH with prices', async () => {
  await expectRefused('POST', '/products', {}, 'name');
  await expectRefused('PATCH', `/products/${product.id}`, { prices: [] }, 'prices');
});

const USD = { amount: '1', currency: 'USD' };

// prettier-ignore
const PRICES: [string, object, string][] = [
  // what price at
  ['no amount',                          { currency: 'USD' },                                        'amount'],
  ['an amount as a JSON number',         { ...USD, amount: 12.5 },                                   'amount'],
  ['null for the amount',                { ...USD, amount: null },                                   'amount'],
  ['a negative amount',                  { ...USD, amount: '-1' },                                   'amount'],
  ['an exponent',                        { ...USD, amount: '1e3' },                                  'amount'],
  ['a comma',                            { ...USD, amount: '1,50' },                                 'amount'],
  ['a line end',                         { ...USD, amount: '1\n' },                                  'amount'],
  ['13 digits',                          { ...USD, amount: '1000000000000' },                        'amount'],
  ['5 decimals',                         { amount: '1.00000', currency: 'CLF' },                     'amount'],
  ['3 decimals in USD',                  { ...USD, amount: '12.500' },                               'amount'],
  ['a decimal in JPY',                   { amount: '1000.0', currency: 'JPY' },                      'amount'],
  ['4 decimals in KWD',                  { amount: '1.0000', currency: 'KWD' },                      'amount'],
  ['no currency',                        { amount: '1' },                                            'currency'],
  ['an unknown currency',                { ...USD, currency: 'XXX' },                                'currency'],
  ['a currency that is a property',      { ...USD, currency: 'constructor' },                        'currency'],
  ['an amount and a currency, both bad', { amount: 1, currency: 'xyz' },                             'amount currency'],
  ['an unknown type',                    { ...USD, type: 'metered' },                                'type'],
  ['an interval on a one-time price',    { ...USD, type: 'one_time', interval: 'month' },            'interval'],
  ['a count on a one-time price',        { ...USD, interval_count: 2 },                              'interval_count'],
  ['trial days on a one-time price',     { ...USD, type: 'one_time', trial_days: 0 },                'trial_days'],
  ['all three on a one-time price',      { ...USD, type: 'one_time', interval: 'day', interval_count: 1, trial_days: 1 }, 'interval interval_count trial_days'],
  ['no interval on a recurring price',   { ...USD, type: 'recurring' },                              'interval'],
  ['too many decimals and no interval',  { ...USD, amount: '1.001', type: 'recurring' },             'amount interval'],
  ['a quarter',                          { ...USD, interval: 'quarter' },                            'interval'],
  ['no intervals',                       { ...USD, interval: 'month', interval_count: 0 },           'interval_count'],
  ['half an interval',                   { ...USD, interval: 'month', interval_count: 0.5 },         'interval_count'],
  ['366 days',                           { ...USD, interval: 'day', interval_count: 366 },           'interval_count'],
  ['157 weeks',                          { ...USD, interval: 'week', interval_count: 157 },          'interval_count'],
  ['37 months',                          { ...USD, interval: 'month', interval_count: 37 },          'interval_count'],
  ['4 years',                            { ...USD, interval: 'year', interval_count: 4 },            'interval_count'],
  ['a trial of 731 days',                { ...USD, interval: 'month', trial_days: 731 },             'trial_days'],
  ['a trial of -1 days',                 { ...USD, interval: 'month', trial_days: -1 },              'trial_days'],
  ['a status',                           { ...USD, status: 'archived' },                             'status'],
];

test.each(PRICES)('POST of a price with %s is 400', async (_what, price, at) => {
  await expectRefused('POST', `/products/${product.id}/prices`, price, at);
  const inside = at.split(' ').map((field) => `prices.1.${field}`);
  await expectRefused('POST', '/products', { name: 'x', prices: [USD, price] }, inside.join(' '));
});

test('POST of a product names every invalid price', async () => {
  const prices = [{ ...USD, amount: '1.001' }, USD, { amount: '1.5', currency: 'JPY' }];
  const at = 'prices.0.amount prices.2.amount';
  await expectRefused('POST', '/products', { name: 'x', prices }, at);
});

test('POST of a product with 201 prices is 400', async () => {
  const prices = Array.from({ length: 201 }, () => USD);
  await expectRefused('POST', '/products', { name: 'x', prices }, 'prices');
});

// prettier-ignore
test.each([
  ['365 days',   { interval: 'day', interval_count: 365 }],
  ['156 weeks',  { interval: 'week', interval_count: 156 }],
  ['36 months',  { interval: 'month', interval_count: 36, trial_days: 730 }],
  ['3 years',    { interval: 'year', interval_count: 3, trial_days: 0 }],
])('a price may recur every %s', async (_what, recurrence) => {
  const body = { ...USD, ...recurrence };
  const reply = await server.call('POST', `/products/${product.id}/prices`, { body });
  expect([reply.status, reply.json]).toMatchObject([201, recurrence]);
});

// prettier-ignore
test.each([
  ['limit=0', 'limit'], ['limit=201', 'limit'], ['limit=x', 'limit'], ['limit=', 'limit'], ['limit=1.5', 'limit'],
  ['offset=-1', 'offset'], ['status=gone', 'status'], ['state=active', 'state'],
])('GET /products?%s is 400', async (query, at) => {
  const reply = await server.call('GET', `/products?${query}`);
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, [at]]);
});
