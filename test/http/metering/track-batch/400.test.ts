// What is wrong with the call refuses it; what is wrong with an item is that item's error, as
// /track says it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { refusal, Setting, testBooksClose } from '../setting.ts';
import { BAD_KEYS, BAD_METADATA, malformedBodies } from '../bodies.ts';

let setting: Setting;
let customer: string;
const valid = { feature_key: 'api', customer_id: '' };
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  customer = await setting.customer();
  valid.customer_id = customer;
});
afterAll(() => setting.stop());

const raw = (path: string, text: string) => setting.server.call('POST', path, { raw: text });

// prettier-ignore
const WHOLE: [string, string, number][] = [
  ['no object',        '[]',                                                           400],
  ['no JSON',          '{"tracks":[',                                                  400],
  ['no tracks',        '{}',                                                           400],
  ['tracks of null',   '{"tracks":null}',                                              400],
  ['tracks of no list', '{"tracks":{}}',                                               400],
  ['another field',    '{"tracks":[],"x":1}',                                          400],
  ['501 items',        `{"tracks":[${Array(501).fill('{}').join()}]}`,                 400],
  ['a field twice',    '{"tracks":[{"feature_key":"a","feature_key":"b"}]}',           400],
  ['3 MiB',            `{"tracks":["${'x'.repeat(3 * 1024 * 1024)}"]}`,                413],
];

test.each(WHOLE)('POST /track/batch refuses the call: %s', async (_what, text, status) => {
  const reply = await setting.withoutTrace(() => raw('/track/batch', text));
  expect(reply.status).toBe(status);
});

const ANY_CUSTOMER = '01890000-0000-7000-8000-00000000ffff';

const BAD: [string, string][] = [
  ...malformedBodies({ ...valid, customer_id: ANY_CUSTOMER }).map(
    ([what, text]): [string, string] => [what, text],
  ),
  ...[
    ...BAD_KEYS.map(([what, value]) => [what, { idempotency_key: value }] as const),
    ...BAD_METADATA.map(([what, metadata]) => [what, { metadata }] as const),
    ['overage of another word', { overage: 'allow' }] as const,
  ].map(([what, fields]): [string, string] => [
    what,
    JSON.stringify({ ...valid, customer_id: ANY_CUSTOMER, ...fields }),
  ]),
];

test.each(BAD)('POST /track/batch refuses an item as /track does: %s', async (_what, text) => {
  const bad = text.replace(ANY_CUSTOMER, customer);
  const alone = await raw('/track', bad);
  expect(alone.status).toBe(400);
  const reply = await raw('/track/batch', `{"tracks":[${bad},${JSON.stringify(valid)}]}`);
  if (reply.status === 400) {
    // The text is no JSON, or none that is read.
    expect(refusal(reply)).toEqual([400, 'invalid_request', [[]]]);
    expect(alone.json.error.issues[0].path).toEqual([]);
    return;
  }
  const [first, second] = reply.json.results;
  expect(first.error.type).toBe('invalid_request');
  expect(first.error.issues).toEqual(alone.json.error.issues.slice(0, 5));
  expect(second.duplicate).toBe(false);
});

test('POST /track/batch of 500 invalid items lists them all, with few issues each', async () => {
  const bad = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x${index}`, 1]));
  const { json } = await setting.post('/track/batch', { tracks: Array(500).fill(bad) });
  expect(json.results).toHaveLength(500);
  for (const { error } of json.results) expect(error.issues).toHaveLength(5);
});

testBooksClose(() => setting);
