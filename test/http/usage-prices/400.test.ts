import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { makeMeter, makeProduct } from '../entitlements/setting.ts';
import { listed, price } from './setting.ts';

let server: TestServer;
let product: string;
beforeAll(async () => {
  server = await startServer();
  await makeMeter(server, 'calls', 2);
  product = await makeProduct(server);
});
afterAll(() => server.stop());

const unit = (unit_amount: unknown, rest: object = {}) => ({
  model: 'per_unit',
  unit_amount,
  ...rest,
});
const tiers = (...list: object[]) => ({ model: 'graduated', tiers: list });
const upTo = (...ends: unknown[]) => tiers(...ends.map((up_to) => ({ up_to, unit_amount: '1' })));
const pack = (package_size: unknown, package_amount: unknown = '1.00') => ({
  model: 'package',
  package_size,
  package_amount,
});
const LAST = { up_to: null, unit_amount: '1' };
const FIFTY_ONE = [...Array.from({ length: 50 }, (_, n) => n + 1), null];

// prettier-ignore
const BODIES: [string, object, string[]][] = [
  // what                           body beside feature and currency                  at
  ['no model',                      { unit_amount: '1' },                             ['model']],
  ['another model',                 unit('1', { model: 'stairs' }),                   ['model']],
  ['nothing of its model',          { model: 'per_unit' },                            ['unit_amount']],
  ['null for what it needs',        unit(null),                                       ['unit_amount']],
  ['a number for money',            unit(0.002),                                      ['unit_amount']],
  ['thirteen decimals',             unit('0.0000000000001'),                          ['unit_amount']],
  ['thirteen digits',               unit('1000000000000'),                            ['unit_amount']],
  ['a negative amount',             unit('-1'),                                       ['unit_amount']],
  ['an exponent',                   unit('1e-3'),                                     ['unit_amount']],
  ['tiers of another model',        unit('1', { tiers: [LAST] }),                     ['tiers']],
  ['a package of another model',    unit('1', { package_size: 1, package_amount: '1' }), ['package_size', 'package_amount']],
  ['a unit amount beside tiers',    { ...upTo(null), unit_amount: '1' },              ['unit_amount']],
  ['a unit amount for packages',    { ...pack(1), unit_amount: '1' },                 ['unit_amount']],
  ['no tiers',                      { model: 'volume' },                              ['tiers']],
  ['an empty list of tiers',        tiers(),                                          ['tiers']],
  ['fifty-one tiers',               upTo(...FIFTY_ONE),                               ['tiers']],
  ['a last tier with an end',       upTo(10, 20),                                     ['tiers.1.up_to']],
  ['the only tier with an end',     upTo(10),                                         ['tiers.0.up_to']],
  ['a tier without an end before it', upTo(10, null, null),                           ['tiers.1.up_to']],
  ['tiers that descend',            upTo(10, 30, 20, null),                           ['tiers.2.up_to']],
  ['tiers that end together',       upTo(10, 10, null),                               ['tiers.1.up_to']],
  ['a tier that ends at zero',      upTo(0, null),                                    ['tiers.0.up_to']],
  ['a tier that ends below zero',   upTo(-5, null),                                   ['tiers.0.up_to']],
  ['more decimals than the meter',  upTo('1.001', null),                              ['tiers.0.up_to']],
  ['an end out of range',           upTo(1e15, null),                                 ['tiers.0.up_to']],
  ['an end of text',                upTo('many', null),                               ['tiers.0.up_to']],
  ['a tier that says no end',       tiers({ unit_amount: '1' }),                      ['tiers.0.up_to']],
  ['a tier without any amount',     tiers({ up_to: 5 }, LAST),                        ['tiers.0']],
  ['a tier with amounts of null',   tiers({ up_to: null, unit_amount: null, flat_amount: null }), ['tiers.0']],
  ['a flat amount of three decimals', tiers({ up_to: 5, flat_amount: '1.001' }, LAST), ['tiers.0.flat_amount']],
  ['thirteen decimals in a tier',   tiers({ up_to: 5, unit_amount: '0.0000000000001' }, LAST), ['tiers.0.unit_amount']],
  ['a tier with another field',     tiers({ ...LAST, from: 0 }),                      ['tiers.0.from']],
  ['all that is wrong with tiers',  tiers({ up_to: 9 }, { up_to: 9, flat_amount: '0.001' }), ['tiers.0', 'tiers.1.up_to', 'tiers.1.up_to', 'tiers.1.flat_amount']],
  ['half a package',                { model: 'package', package_size: 5 },            ['package_amount']],
  ['a package of zero',             pack(0),                                          ['package_size']],
  ['a package below zero',          pack(-1),                                         ['package_size']],
  ['a package of too many decimals', pack('0.001'),                                   ['package_size']],
  ['an amount of too many decimals', pack(1, '0.001'),                                ['package_amount']],
  ['an amount of thirteen digits',  pack(1, '1000000000000'),                         ['package_amount']],
  ['a minimum above the maximum',   unit('1', { minimum_amount: '2.00', maximum_amount: '1.99' }), ['minimum_amount']],
  ['a minimum of three decimals',   unit('1', { minimum_amount: '2.001' }),           ['minimum_amount']],
  ['a negative maximum',            unit('1', { maximum_amount: '-1' }),              ['maximum_amount']],
  ['an unknown field',              unit('1', { price: '1' }),                        ['price']],
  ['no currency',                   unit('1', { currency: undefined }),               ['currency']],
  ['another currency',              unit('1', { currency: 'XYZ' }),                   ['currency']],
  ['decimals that yen lack',        unit('1', { currency: 'JPY', minimum_amount: '1.0' }), ['minimum_amount']],
];

test.each(BODIES)('POST of a usage price with %s is 400', async (_what, body, at) => {
  const reply = await price(server, product, { feature_key: 'calls', currency: 'USD', ...body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map(({ path }: { path: string[] }) => path.join('.'));
  expect(paths).toEqual(at);
  expect((await listed(server, product)).data).toEqual([]);
});

const AMOUNT = 'must be a decimal string such as "12.50"';
const UNIT_AMOUNT = 'must be a decimal string such as "0.002", with at most 12 decimals';
const TIERS = 'must be a list of 1 to 50 tiers';
const QUANTITY = 'must be a number or a decimal string';
const NO_AMOUNTS = [
  '1e308',
  '-1',
  '0.0000000000001',
  '1000000000000',
  '',
  '1.',
  '.5',
  0.5,
  {},
  [1],
];

// prettier-ignore
const WORDS: [field: string, (value: unknown) => object, message: string, values: readonly unknown[]][] = [
  ['unit_amount',         (value) => unit(value),                               UNIT_AMOUNT, NO_AMOUNTS],
  ['minimum_amount',      (value) => unit('1', { minimum_amount: value }),      AMOUNT,      NO_AMOUNTS],
  ['maximum_amount',      (value) => unit('1', { maximum_amount: value }),      AMOUNT,      NO_AMOUNTS],
  ['package_amount',      (value) => pack(1, value),                            AMOUNT,      NO_AMOUNTS],
  ['tiers.0.unit_amount', (value) => tiers({ ...LAST, unit_amount: value }),    UNIT_AMOUNT, NO_AMOUNTS],
  ['tiers.0.flat_amount', (value) => tiers({ ...LAST, flat_amount: value }),    AMOUNT,      NO_AMOUNTS],
  ['tiers',               (value) => ({ model: 'graduated', tiers: value }),    TIERS,       [[], 'x', {}, 5]],
  ['package_size',        (value) => pack(value),                               QUANTITY,    [{}, true]],
];

test.each(WORDS)(
  'POST of a usage price says what %s must be',
  async (field, bodyOf, message, values) => {
    for (const value of values) {
      const body = { feature_key: 'calls', currency: 'USD', ...bodyOf(value) };
      const { status, json } = await price(server, product, body);
      expect([value, status, json.error.issues]).toEqual([
        value,
        400,
        [{ path: field.split('.'), message }],
      ]);
    }
  },
);

test('POST of a usage price without a feature is 400', async () => {
  const reply = await price(server, product, unit('1', { currency: 'USD' }));
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, ['feature_key']]);
});
