import { afterAll, beforeAll, expect, test } from 'bun:test';
import { invalidAt, refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('seats', { aggregation: 'last', scale: 0 });
  customer = await setting.customer({ external_customer_id: 'mine' });
  await setting.grant(customer, 'api');
});
afterAll(() => setting.stop());

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

test('POST /check/batch answers each check in its place as /check does, or with its error', async () => {
  const checks = [
    { feature_key: 'api', customer_id: customer, value: 4 },
    { feature_key: 'nothing', customer_id: customer },
    { feature_key: 'api', external_customer_id: 'mine', value: 40 },
    { feature_key: 'api', customer_id: UNKNOWN },
    { feature_key: 'seats', customer_id: customer, value: 0.5 },
    { feature_key: 'seats', customer_id: customer },
    { feature_key: 'api' },
    { feature_key: 'api', customer_id: customer, value: -1 },
  ];
  const { status, json } = await setting.withoutTrace(() =>
    setting.post('/check/batch', { checks }),
  );
  expect(status).toBe(200);
  const { results } = json as { results: { error?: { type: string } }[] };
  expect(results).toHaveLength(checks.length);
  for (const [index, check] of checks.entries()) {
    const alone = await setting.post('/check', check);
    const { error } = results[index]!;
    if (alone.status === 200) expect(results[index]).toEqual(alone.json);
    else expect(error).toEqual(alone.json.error);
  }
  expect(results.map(({ error }) => error?.type ?? 'ok')).toEqual([
    'ok',
    'not_found',
    'ok',
    'not_found',
    'invalid_request',
    'ok',
    'invalid_request',
    'invalid_request',
  ]);
});

test('POST /check/batch answers 500 checks', async () => {
  const checks = Array.from({ length: 500 }, () => ({ feature_key: 'api', customer_id: customer }));
  const { status, json } = await setting.post('/check/batch', { checks });
  expect([status, json.results.length]).toEqual([200, 500]);
});

test('POST /check/batch does not find customers of another organisation or mode', async () => {
  const checks = [{ feature_key: 'api', customer_id: customer }];
  const { organisation, other } = setting.server;
  for (const key of [organisation.liveKey, other.testKey]) {
    const { json } = await setting.post('/check/batch', { checks }, { key });
    expect(json.results[0].error.type).toBe('not_found');
  }
});

const one = { feature_key: 'api', external_customer_id: 'mine' };

// prettier-ignore
const REFUSED: [string, unknown, string[]][] = [
  ['no checks',                    {},                                               ['checks']],
  ['501 questions',                { checks: Array.from({ length: 501 }, () => one) },  ['checks']],
  ['checks that are no list',      { checks: one },                                  ['checks']],
  ['a field beside checks',        { checks: [one], consume: true },                 ['consume']],
];

// prettier-ignore
const BAD: [string, unknown, string[]][] = [
  ['null',                         null,                              []],
  ['a question that is no object', 7,                                 []],
  ['an unknown field',             { ...one, valeu: 1 },              ['valeu']],
  ['consume and reserve',          { ...one, consume: true, reserve: true }, ['reserve']],
  ['a time of nothing held',       { ...one, consume: true, expires_in: 60 }, ['expires_in']],
  ['a key',                        { ...one, idempotency_key: 'k' },  ['idempotency_key']],
  ['a value that is no number',    { ...one, value: 'x' },            ['value']],
  ['no feature',                   { external_customer_id: 'mine' },  ['feature_key']],
];

test.each(BAD)('POST /check/batch refuses an item alone: %s', async (_what, bad, path) => {
  const { status, json } = await setting.post('/check/batch', { checks: [one, bad, one] });
  expect(status).toBe(200);
  const [first, { error }, last] = json.results;
  expect([first.feature_key, last]).toEqual(['api', first]);
  expect([error.type, error.issues[0].path]).toEqual(['invalid_request', path]);
});

test('POST /check/batch of 500 invalid items lists them all, with few issues each', async () => {
  const bad = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x${index}`, 1]));
  const { json } = await setting.post('/check/batch', { checks: Array(500).fill(bad) });
  expect(json.results).toHaveLength(500);
  for (const { error } of json.results) expect(error.issues).toHaveLength(5);
});

test('POST /check/batch takes null for an optional field as left out', async () => {
  const { json } = await setting.post('/check/batch', { checks: [{ ...one, value: null }, one] });
  expect(json.results[0]).toEqual(json.results[1]);
});

test.each(REFUSED)('POST /check/batch refuses the whole call with %s', async (_what, body, at) => {
  const reply = await setting.withoutTrace(() => setting.post('/check/batch', body));
  expect(refusal(reply)).toEqual(invalidAt(at));
});

testBooksClose(() => setting);
