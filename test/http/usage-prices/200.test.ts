import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { makeMeter, makeProduct } from '../entitlements/setting.ts';
import { archive, listed, PER_CALL, price } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await makeMeter(server, 'calls', 0);
  await makeMeter(server, 'hours', 2);
});
afterAll(() => server.stop());

const of = (model: string, rest: object, feature_key = 'calls') => ({
  feature_key,
  currency: 'USD',
  model,
  ...rest,
});
const LAST = { up_to: null, unit_amount: '0.01' };

// prettier-ignore
const BODIES: [string, object, object][] = [
  // what body answer beside it
  ['a price for each unit',      PER_CALL,                                           {}],
  ['the last decimal',           { ...PER_CALL, unit_amount: '0.000000000001' },     {}],
  ['decimals that are missing',  { ...PER_CALL, unit_amount: '1' },                  { unit_amount: '1.00' }],
  ['zeros that are not needed',  { ...PER_CALL, unit_amount: '0.002000' },           { unit_amount: '0.002' }],
  ['the largest amount',         { ...PER_CALL, unit_amount: '999999999999.999999999999' }, {}],
  ['no charge',                  { ...PER_CALL, unit_amount: '0.00' },               {}],
  ['a currency without decimals', { ...PER_CALL, currency: 'JPY', unit_amount: '0.5' }, {}],
  ['a currency in lower case',   { ...PER_CALL, currency: 'eur' },                   { currency: 'EUR' }],
  ['a minimum and a maximum',    { ...PER_CALL, minimum_amount: '5', maximum_amount: '5.00' }, { minimum_amount: '5.00' }],
  ['null where there is none',   { ...PER_CALL, tiers: null, package_size: null, package_amount: null, minimum_amount: null, maximum_amount: null },
                                 { tiers: undefined, package_size: undefined, package_amount: undefined, minimum_amount: undefined, maximum_amount: undefined }],
  ['one tier',                   of('volume', { tiers: [LAST] }),                    {}],
  ['tiers of units',             of('graduated', { tiers: [{ up_to: 1000, unit_amount: '0.02' }, { up_to: 5000, unit_amount: '0.015' }, LAST] }), {}],
  ['tiers of flat amounts',      of('volume', { tiers: [{ up_to: 10, flat_amount: '5.00' }, { up_to: null, flat_amount: '9.00' }] }), {}],
  ['tiers of both',              of('graduated', { tiers: [{ up_to: 10, flat_amount: '5', unit_amount: null }, { ...LAST, flat_amount: '1.00' }] }),
                                 { tiers: [{ up_to: 10, flat_amount: '5.00' }, { ...LAST, flat_amount: '1.00' }] }],
  ['fractions of the meter',     of('graduated', { tiers: [{ up_to: '0.25', unit_amount: '1.00' }, { up_to: 7.5, unit_amount: '0.50' }, LAST] }, 'hours'),
                                 { tiers: [{ up_to: 0.25, unit_amount: '1.00' }, { up_to: 7.5, unit_amount: '0.50' }, LAST] }],
  ['fifty tiers',                of('graduated', { tiers: [...Array.from({ length: 49 }, (_, n) => ({ up_to: n + 1, unit_amount: '1.00' })), LAST] }), {}],
  ['packages',                   of('package', { package_size: 1000, package_amount: '1.50' }), {}],
  ['packages of a fraction',     of('package', { package_size: '0.5', package_amount: '2.00' }, 'hours'), { package_size: 0.5 }],
];

test.each(BODIES)('POST of a usage price with %s', async (_what, body, answer) => {
  const product = await makeProduct(server);
  const { status, json } = await price(server, product, body);
  const { id, meter_id, created_at } = json;
  const rest = { id, product_id: product, meter_id, status: 'active', created_at };
  // Through JSON: what is undefined is left out.
  const expected = JSON.parse(JSON.stringify({ ...body, ...answer, ...rest }));
  expect([status, json]).toEqual([201, expected]);
  expect(meter_id).toBe((await server.call('GET', `/meters/${json.feature_key}`)).json.id);
  const page = { data: [json], limit: 50, offset: 0, has_more: false };
  expect(await listed(server, product)).toEqual(page);
});

test('a feature has one usage price in each currency', async () => {
  const product = await makeProduct(server);
  for (const currency of ['USD', 'EUR', 'JPY']) {
    expect((await price(server, product, { ...PER_CALL, currency })).status).toBe(201);
  }
});

test('a usage price is archived, also again, and then another can be added', async () => {
  const product = await makeProduct(server);
  const { json } = await price(server, product, PER_CALL);
  const archived = { ...json, status: 'archived' };
  for (let times = 0; times < 2; times += 1) {
    const { status, json: said } = await archive(server, product, json.id);
    expect([status, said]).toEqual([200, archived]);
  }
  const { json: next } = await price(server, product, { ...PER_CALL, unit_amount: '0.003' });
  expect((await listed(server, product)).data).toEqual([next, archived]);
});

test('GET lists usage prices newest first, in pages', async () => {
  const product = await makeProduct(server);
  const made = [];
  for (const currency of ['USD', 'EUR', 'JPY']) {
    made.unshift((await price(server, product, { ...PER_CALL, currency })).json);
  }
  const first = await listed(server, product, '?limit=2');
  expect([first.data, first.has_more]).toEqual([made.slice(0, 2), true]);
  const after = await listed(server, product, `?limit=2&after=${made[1].id}`);
  expect([after.data, after.has_more]).toEqual([made.slice(2), false]);
  const offset = await listed(server, product, '?limit=2&offset=2');
  expect([offset.data, offset.has_more]).toEqual([made.slice(2), false]);
});

test('POST of a usage price again with its Idempotency-Key makes one', async () => {
  const product = await makeProduct(server);
  const first = await price(server, product, PER_CALL, 'once');
  const again = await price(server, product, PER_CALL, 'once');
  expect([again.status, again.text]).toEqual([201, first.text]);
  const other = await price(server, product, { ...PER_CALL, unit_amount: '0.003' }, 'once');
  expect(other.status).toBe(422);
  // The key is for a product.
  expect((await price(server, await makeProduct(server), PER_CALL, 'once')).status).toBe(422);
  expect((await listed(server, product)).data).toEqual([first.json]);
});
