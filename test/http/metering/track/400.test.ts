import { afterAll, beforeAll, expect, test } from 'bun:test';
import { BAD_KEYS, BAD_METADATA, malformedBodies } from '../bodies.ts';
import { type Fields, invalidAt, refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('feature');
  await setting.meter('whole', { scale: 0 });
  await setting.meter('peak', { aggregation: 'max' });
  await setting.meter('level', { aggregation: 'last' });
  await setting.meter('people', { aggregation: 'unique', unique_property: 'user' });
  await setting.meter('sized', { value_property: 'bytes' });
  customer = await setting.customer();
  await setting.grant(customer, 'feature');
});
afterAll(() => setting.stop());

const CUSTOMER = 'CUSTOMER';

test.each(malformedBodies({ feature_key: 'feature', customer_id: CUSTOMER }))(
  'POST /track with %s is 400',
  async (_what, raw, ...at) => {
    const call = { raw: raw.replace(CUSTOMER, customer) };
    const reply = await setting.withoutTrace(() => setting.server.call('POST', '/track', call));
    expect(refusal(reply)).toEqual(invalidAt(...at));
  },
);

// prettier-ignore
const FIELDS: [string, string, Fields, string[]][] = [
  // what feature fields at
  ['a fraction on a whole meter',         'whole',    { value: 0.5 },                                 ['value']],
  ['overage: allow',                      'feature',  { overage: 'allow' },                           ['overage']],
  ['a timestamp',                         'feature',  { timestamp: '2026-01-01T00:00:00Z' },          ['timestamp']],
  ['a correction of a maximum',           'peak',     { value: -1 },                                  ['value']],
  ['a correction of a last value',        'level',    { value: '-1' },                                ['value']],
  ['a negative unique value',             'people',   { value: -1, metadata: { user: 'a' } },         ['value']],
  ['no metadata, one property wanted',    'people',   {},                                             ['metadata', 'user']],
  ['metadata without that property',      'people',   { metadata: { User: 'a' } },                    ['metadata', 'user']],
  ['a property of the prototype',         'people',   { metadata: { toString: 'a' } },                ['metadata', 'user']],
  ['no value and no property of it',      'sized',    {},                                             ['metadata', 'bytes']],
  ['a property that is no number',        'sized',    { metadata: { bytes: 'many' } },                ['metadata', 'bytes']],
  ['a property with an exponent',         'sized',    { metadata: { bytes: '1e3' } },                 ['metadata', 'bytes']],
  ['a property with too many decimals',   'sized',    { metadata: { bytes: '0.0000001' } },           ['metadata', 'bytes']],
];

test.each(FIELDS)(
  'POST /track with the field %s is refused',
  async (_what, feature, fields, at) => {
    const reply = await setting.withoutTrace(() => setting.track(customer, feature, fields));
    expect(refusal(reply)).toEqual(invalidAt(at));
  },
);

test.each(BAD_METADATA)('POST /track with metadata of %s is 400', async (_what, metadata, at) => {
  const request = () => setting.track(customer, 'feature', { metadata });
  expect(refusal(await setting.withoutTrace(request))).toEqual(invalidAt(at));
});

test.each(BAD_KEYS)('POST /track with the idempotency_key %s is 400', async (_what, key) => {
  const request = () => setting.track(customer, 'feature', { idempotency_key: key });
  expect(refusal(await setting.withoutTrace(request))).toEqual(invalidAt(['idempotency_key']));
});

test('POST /track that takes the total out of range, up or down, is refused', async () => {
  await setting.meter('vast');
  await setting.track(customer, 'vast', { value: '999999999.999999' });
  const up = () => setting.track(customer, 'vast', { value: '0.000001' });
  expect(refusal(await setting.withoutTrace(up))).toEqual(invalidAt(['value']));
  await setting.meter('deep');
  await setting.track(customer, 'deep', { value: '-999999999.999999' });
  const down = () => setting.track(customer, 'deep', { value: '-0.000001' });
  expect(refusal(await setting.withoutTrace(down))).toEqual(invalidAt(['value']));
});

test('POST /track authenticates before it validates', async () => {
  const reply = await setting.withoutTrace(() =>
    setting.server.call('POST', '/track', { raw: '{', key: 'svc_test_wrong' }),
  );
  expect(refusal(reply)).toEqual([401, 'unauthorized']);
});

testBooksClose(() => setting);
