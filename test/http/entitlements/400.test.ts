import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { attach, listed, makeMeter, makeProduct } from './setting.ts';

let server: TestServer;
let product: string;
beforeAll(async () => {
  server = await startServer();
  await makeMeter(server, 'calls', 2);
  product = await makeProduct(server);
});
afterAll(() => server.stop());

const rolled = (rollover: unknown, rest: object = {}) => ({ limit: 5, rollover, ...rest });
const boolean = (rest: object) => ({ type: 'boolean', ...rest });
const max = (value: unknown) => rolled({ max: value, expires_after_periods: 1 });
const periods = (value: unknown) => rolled({ max: 1, expires_after_periods: value });

type Issue = { readonly path: readonly string[] };

// prettier-ignore
const BODIES: [string, object, string[]][] = [
  // what                         body beside the feature                               at
  ['no limit at all',             {},                                                   ['limit']],
  ['a limit below zero',          { limit: -1 },                                        ['limit']],
  ['a limit of too many decimals', { limit: '0.001' },                                  ['limit']],
  ['a limit out of range',        { limit: 1e15 },                                      ['limit']],
  ['a limit of text',             { limit: 'many' },                                    ['limit']],
  ['a limit of true',             { limit: true },                                      ['limit']],
  ['another type',                { limit: 1, type: 'static' },                         ['type']],
  ['another interval',            { limit: 1, reset_interval: 'minute' },               ['reset_interval']],
  ['a priority below zero',       { limit: 1, priority: -1 },                           ['priority']],
  ['a priority of 1.5',           { limit: 1, priority: 1.5 },                          ['priority']],
  ['rollover of nothing',         rolled({}),                                           ['rollover.max', 'rollover.expires_after_periods']],
  ['rollover of zero',            max(0),                                               ['rollover.max']],
  ['rollover of too many decimals', max('0.001'),                                       ['rollover.max']],
  ['rollover for no period',      periods(0),                                           ['rollover.expires_after_periods']],
  ['rollover for 101 periods',    periods(101),                                         ['rollover.expires_after_periods']],
  ['rollover with another field', rolled({ max: 1, expires_after_periods: 1, min: 1 }), ['rollover.min']],
  ['rollover of what never ends', { ...max(1), reset_interval: 'never' },               ['rollover']],
  ['rollover of no limit',        { ...max(1), limit: null },                           ['rollover']],
  ['all that is wrong',           { limit: -1, rollover: { max: 0, expires_after_periods: 1 }, reset_interval: 'never' },
                                                                                        ['limit', 'rollover', 'rollover.max']],
  ['a limit of a boolean one',    boolean({ limit: 1 }),                                ['limit']],
  ['a limit of zero of a boolean one', boolean({ limit: 0 }),                           ['limit']],
  ['all that a boolean one lacks', boolean({ ...max(1), reset_interval: 'never', overage_allowed: true }),
                                                           ['limit', 'reset_interval', 'overage_allowed', 'rollover']],
  ['an unknown field',            { limit: 1, amount: 1 },                              ['amount']],
];

test.each(BODIES)('POST of an entitlement with %s is 400', async (_what, body, at) => {
  const reply = await attach(server, product, { feature_key: 'calls', ...body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map(({ path }: { path: string[] }) => path.join('.'));
  expect(paths).toEqual(at);
  expect((await listed(server, product)).data).toEqual([]);
});

test.each(['last', 'max', 'unique'])('rollover of a meter of %s is 400', async (aggregation) => {
  const unique = aggregation === 'unique' ? { unique_property: 'user' } : {};
  const meter = { slug: `level-${aggregation}`, aggregation, ...unique };
  expect((await server.call('POST', '/meters', { body: meter })).status).toBe(201);
  const reply = await attach(server, product, { feature_key: meter.slug, ...max(1) });
  expect([reply.status, reply.json.error.issues.map(({ path }: Issue) => path)]).toEqual([
    400,
    [['rollover']],
  ]);
});

test('POST of an entitlement without a feature is 400', async () => {
  const reply = await attach(server, product, { limit: 1 });
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, ['feature_key']]);
});

test('GET of entitlements with an invalid page is 400', async () => {
  const reply = await server.call('GET', `/products/${product}/entitlements?limit=0`);
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, ['limit']]);
});
