import { afterAll, beforeAll, expect, test } from 'bun:test';
import { BAD_KEYS } from '../bodies.ts';
import { type Fields, invalidAt, refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('seats', { scale: 0 });
  await setting.meter('level', { aggregation: 'last' });
  customer = await setting.customer();
});
afterAll(() => setting.stop());

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const BOUND = '999999999.999999';
const ROLLS = { max: 5, expires_after_periods: 1 };

// prettier-ignore
const REFUSED: [string, Fields, ...string[][]][] = [
  // what fields at
  ['no feature',                             { feature_key: undefined },                               ['feature_key']],
  ['an empty feature',                       { feature_key: '' },                                      ['feature_key']],
  ['no amount',                              { amount: undefined },                                    ['amount']],
  ['an amount of null',                      { amount: null },                                         ['amount']],
  ['an amount of 0',                         { amount: 0 },                                            ['amount']],
  ['an amount of -0',                        { amount: '-0' },                                         ['amount']],
  ['a negative amount',                      { amount: -1 },                                           ['amount']],
  ['an amount that is no number',            { amount: 'many' },                                       ['amount']],
  ['an amount with an exponent',             { amount: '1e3' },                                        ['amount']],
  ['an amount of true',                      { amount: true },                                         ['amount']],
  ['too many decimals',                      { amount: 0.0000001 },                                    ['amount']],
  ['a fraction on a whole meter',            { feature_key: 'seats', amount: 1.5 },                    ['amount']],
  ['an amount out of range',                 { amount: 1e9 },                                          ['amount']],
  ['a huge amount',                          { amount: 1e300 },                                        ['amount']],
  ['an amount and unlimited',                { unlimited: true },                                      ['amount']],
  ['unlimited: false',                       { unlimited: false },                                     ['unlimited']],
  ['an expiry of the past',                  { expires_at: inMs(-1000) },                              ['expires_at']],
  ['an expiry before its start',             { effective_at: inMs(9e6), expires_at: inMs(8e6) },       ['expires_at']],
  ['an expiry that is no time',              { expires_at: 'tomorrow' },                               ['expires_at']],
  ['an expiry of null',                      { expires_at: null },                                     ['expires_at']],
  ['an expiry without a zone',               { expires_at: '2099-01-01T00:00:00' },                    ['expires_at']],
  ['an expiry on no day',                    { expires_at: '2099-02-30T00:00:00Z' },                   ['expires_at']],
  ['a start that is no time',                { effective_at: '2099-13-01T00:00:00Z' },                 ['effective_at']],
  ['a start of a number',                    { effective_at: 7 },                                      ['effective_at']],
  ['a negative priority',                    { priority: -1 },                                         ['priority']],
  ['a priority of 1.5',                      { priority: 1.5 },                                        ['priority']],
  ['a priority as a string',                 { priority: '1' },                                        ['priority']],
  ['a priority of 1000001',                  { priority: 1_000_001 },                                  ['priority']],
  ['an empty reason',                        { reason: '' },                                           ['reason']],
  ['a reason of 501',                        { reason: 'x'.repeat(501) },                              ['reason']],
  ['an unknown interval',                    { reset_interval: 'fortnight' },                          ['reset_interval']],
  ['rollover without an interval',           { rollover: ROLLS },                                      ['rollover']],
  ['rollover of 0',                          { reset_interval: 'day', rollover: { ...ROLLS, max: 0 } },  ['rollover', 'max']],
  ['rollover without a max',                 { reset_interval: 'day', rollover: { expires_after_periods: 1 } },  ['rollover', 'max']],
  ['rollover without an end',                { reset_interval: 'day', rollover: { max: 1 } },          ['rollover', 'expires_after_periods']],
  ['rollover for 0 periods',                 { reset_interval: 'day', rollover: { ...ROLLS, expires_after_periods: 0 } },  ['rollover', 'expires_after_periods']],
  ['rollover of a level',                    { feature_key: 'level', reset_interval: 'day', rollover: ROLLS },  ['rollover']],
  ['an unknown field of rollover',           { reset_interval: 'day', rollover: { ...ROLLS, a: 1 } },  ['rollover', 'a']],
  ['amount and rollover out of range',       { amount: BOUND, reset_interval: 'day', rollover: { ...ROLLS, max: BOUND } },  ['amount']],
  ['overage_allowed as a string',            { overage_allowed: 'yes' },                               ['overage_allowed']],
  ['metadata',                               { metadata: { a: 'b' } },                                 ['metadata']],
  ['a source',                               { source: 'subscription' },                               ['source']],
  ['two faults',                             { amount: -1, expires_at: 'never' },                      ['expires_at'], ['amount']],
];

const grant = (fields: Fields, who = customer) =>
  setting.post(`/customers/${who}/grants`, { feature_key: 'api', amount: 10, ...fields });

test.each(REFUSED)('POST of a grant with %s is refused', async (_what, fields, ...at) => {
  const reply = await setting.withoutTrace(() => grant(fields));
  expect(refusal(reply)).toEqual(invalidAt(...at));
});

test.each(BAD_KEYS)('POST of a grant with the idempotency_key %s is 400', async (_what, key) => {
  const reply = await setting.withoutTrace(() => grant({ idempotency_key: key }));
  expect(refusal(reply)).toEqual(invalidAt(['idempotency_key']));
});

test('POST of a grant that takes the total of all grants out of range is refused', async () => {
  const who = await setting.customer();
  expect((await grant({ amount: BOUND, effective_at: inMs(1e6) }, who)).status).toBe(201);
  const reply = await setting.withoutTrace(() => grant({ amount: '0.000001' }, who));
  expect(refusal(reply)).toEqual(invalidAt(['amount']));
});

testBooksClose(() => setting);
