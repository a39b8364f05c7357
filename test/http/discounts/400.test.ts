import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const TEN = { code: 'TEN', percent_off: 10 };
const OFF = { code: 'OFF', amount_off: '1', currency: 'USD' };

// prettier-ignore
const BODIES: [string, object, string][] = [
  // what                           body                                                at
  ['no code',                       { percent_off: 10 },                                'code'],
  ['an empty code',                 { ...TEN, code: '' },                               'code'],
  ['a code of 65',                  { ...TEN, code: 'x'.repeat(65) },                   'code'],
  ['a code with a space',           { ...TEN, code: 'a b' },                            'code'],
  ['a code with a line end',        { ...TEN, code: 'a\n' },                            'code'],
  ['a code with an umlaut',         { ...TEN, code: 'ü' },                              'code'],
  ['a code as a number',            { ...TEN, code: 7 },                                'code'],
  ['0 percent',                     { ...TEN, percent_off: 0 },                         'percent_off'],
  ['-1 percent',                    { ...TEN, percent_off: -1 },                        'percent_off'],
  ['100.0001 percent',              { ...TEN, percent_off: 100.0001 },                  'percent_off'],
  ['5 decimals of percent',         { ...TEN, percent_off: 0.00001 },                   'percent_off'],
  ['a percent with an exponent',    { ...TEN, percent_off: 1e-7 },                      'percent_off'],
  ['a percent as a string',         { ...TEN, percent_off: '10' },                      'percent_off'],
  ['neither of the two',            { code: 'NONE' },                                   'percent_off'],
  ['both of the two',               { ...TEN, ...OFF },                                 'amount_off'],
  ['a percent with a currency',     { ...TEN, currency: 'USD' },                        'currency'],
  ['an amount without a currency',  { code: 'OFF', amount_off: '1' },                   'currency'],
  ['an amount as a JSON number',    { ...OFF, amount_off: 1 },                          'amount_off'],
  ['nothing off',                   { ...OFF, amount_off: '0.00' },                     'amount_off'],
  ['a negative amount',             { ...OFF, amount_off: '-1' },                       'amount_off'],
  ['too many decimals',             { ...OFF, amount_off: '1.001' },                    'amount_off'],
  ['a decimal in JPY',              { ...OFF, amount_off: '1.5', currency: 'JPY' },     'amount_off'],
  ['an unknown currency',           { ...OFF, currency: 'ZZZ' },                        'currency'],
  ['no redemptions',                { ...TEN, max_redemptions: 0 },                     'max_redemptions'],
  ['half a redemption',             { ...TEN, max_redemptions: 1.5 },                   'max_redemptions'],
  ['too many redemptions',          { ...TEN, max_redemptions: 3_000_000_000 },         'max_redemptions'],
  ['an expiry without a zone',      { ...TEN, expires_at: '2099-01-01T00:00:00' },      'expires_at'],
  ['an expiry as a number',         { ...TEN, expires_at: 4_000_000_000 },              'expires_at'],
  ['a day that is none',            { ...TEN, expires_at: '2099-02-30T00:00:00Z' },     'expires_at'],
  ['an expiry in the past',         { ...TEN, expires_at: '2020-01-01T00:00:00Z' },     'expires_at'],
  ['null for the expiry',           { ...TEN, expires_at: null },                       'expires_at'],
  ['a misspelt field',              { ...TEN, max_uses: 1 },                            'max_uses'],
];

test.each(BODIES)('POST of a discount with %s is 400', async (_what, body, at) => {
  const reply = await server.call('POST', '/discounts', { body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.'));
  expect(paths).toEqual([at]);
  expect(
    await server.sql`select 1 from discounts where organisation_id = ${server.organisation.id}`,
  ).toHaveLength(0);
});

test.each([
  ['limit=0', 'limit'],
  ['offset=-1', 'offset'],
  ['code=x', 'code'],
])('GET /discounts?%s is 400', async (query, at) => {
  const reply = await server.call('GET', `/discounts?${query}`);
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, [at]]);
});
