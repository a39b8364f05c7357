import { afterAll, beforeAll, expect, test } from 'bun:test';
import { BAD_KEYS, malformedBodies } from '../bodies.ts';
import { type Fields, invalidAt, refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('feature');
  await setting.meter('people', { aggregation: 'unique', unique_property: 'user' });
  customer = await setting.customer();
  await setting.grant(customer, 'feature');
});
afterAll(() => setting.stop());

const CUSTOMER = 'CUSTOMER';
const BODIES = malformedBodies({ feature_key: 'feature', customer_id: CUSTOMER });

test.each(BODIES)('POST /check with %s is 400', async (_what, raw, ...at) => {
  const call = { raw: raw.replace(CUSTOMER, customer) };
  const reply = await setting.withoutTrace(() => setting.server.call('POST', '/check', call));
  expect(refusal(reply)).toEqual(invalidAt(...at));
});

test.each(BODIES)('POST /check with consume and %s is 400', async (_what, raw, ...at) => {
  const consuming = raw.replace(/}$/, ',"consume":true}').replace('{,', '{');
  const call = { raw: consuming.replace(CUSTOMER, customer) };
  const reply = await setting.withoutTrace(() => setting.server.call('POST', '/check', call));
  expect(refusal(reply)).toEqual(invalidAt(...at));
});

// prettier-ignore
const FIELDS: [string, Fields, string[]][] = [
  ['a negative value',                    { value: -1 },                                    ['value']],
  ['a negative value as a string',        { value: '-0.5' },                                ['value']],
  ['a negative value that is consumed',   { value: -1, consume: true },                     ['value']],
  ['consume of a string',                 { consume: 'true' },                              ['consume']],
  ['a key without consume',               { idempotency_key: 'k' },                         ['idempotency_key']],
  ['a key with consume: false',           { idempotency_key: 'k', consume: false },         ['idempotency_key']],
  ['metadata',                            { consume: true, metadata: { a: 'b' } },          ['metadata']],
  ['a timestamp',                         { consume: true, timestamp: '2026-01-01T00:00:00Z' },  ['timestamp']],
  ['consume of unique values',            { consume: true, feature_key: 'people' },         ['consume']],
];

test.each(FIELDS)('POST /check with the field %s is refused', async (_what, fields, at) => {
  const reply = await setting.withoutTrace(() => setting.check(customer, 'feature', fields));
  expect(refusal(reply)).toEqual(invalidAt(at));
});

test.each(BAD_KEYS)('POST /check with the idempotency_key %s is 400', async (_what, key) => {
  const fields = { consume: true, idempotency_key: key };
  const reply = await setting.withoutTrace(() => setting.check(customer, 'feature', fields));
  expect(refusal(reply)).toEqual(invalidAt(['idempotency_key']));
});

test('POST /check that would take the total out of range is refused', async () => {
  await setting.meter('vast');
  await setting.grant(customer, 'vast', { unlimited: true });
  await setting.track(customer, 'vast', { value: '999999999.999999' });
  const fields = { value: '0.000001', consume: true };
  const reply = await setting.withoutTrace(() => setting.check(customer, 'vast', fields));
  expect(refusal(reply)).toEqual(invalidAt(['value']));
});

testBooksClose(() => setting);
