import { afterAll, beforeAll, expect, test } from 'bun:test';
import { BAD_KEYS, BAD_METADATA } from '../bodies.ts';
import { type Fields, invalidAt, refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('api_peak', { event_name: 'api', aggregation: 'max' });
  await setting.meter('whole', { scale: 0 });
  await setting.meter('people', { aggregation: 'unique', unique_property: 'user' });
  await setting.meter('sized', { value_property: 'bytes' });
  customer = await setting.customer({ external_customer_id: 'mine' });
});
afterAll(() => setting.stop());

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const long = (length: number): string => 'x'.repeat(length);

// prettier-ignore
const EVENTS: [string, Fields, string[]][] = [
  // what fields of an event at, in it
  ['no name',                            { name: undefined },                                  ['name']],
  ['an empty name',                      { name: '' },                                         ['name']],
  ['a name of 256',                      { name: long(256) },                                  ['name']],
  ['a name that feeds no meter',         { name: 'nothing' },                                  ['name']],
  ['no customer',                        { customer_id: undefined },                           ['customer_id']],
  ['both customers',                     { external_customer_id: 'mine' },                     ['customer_id']],
  ['an unknown customer',                { customer_id: UNKNOWN },                             ['customer_id']],
  ['an unknown external customer',       { customer_id: undefined, external_customer_id: 'x' },  ['external_customer_id']],
  ['a customer_id that is no id',        { customer_id: 'mine' },                              ['customer_id']],
  ['an unknown field',                   { feature_key: 'api' },                               ['feature_key']],
  ['an idempotency_key',                 { idempotency_key: 'k' },                             ['idempotency_key']],
  ['a value that is no number',          { value: 'x' },                                       ['value']],
  ['a value with too many decimals',     { value: 1e-7 },                                      ['value']],
  ['a value out of range',               { value: 1e9 },                                       ['value']],
  ['a fraction on a whole meter',        { name: 'whole', value: 1.5 },                        ['value']],
  ['a correction that one meter of two does not take', { value: -1 },                          ['value']],
  ['a property that is missing',         { name: 'people' },                                   ['metadata', 'user']],
  ['a property that is no number',       { name: 'sized', metadata: { bytes: 'x' } },          ['metadata', 'bytes']],
  ['a timestamp of a number',            { timestamp: 1_767_225_600_000 },                     ['timestamp']],
  ['a timestamp without a zone',         { timestamp: '2026-01-01T00:00:00' },                 ['timestamp']],
  ['a timestamp that is a day',          { timestamp: '2026-01-01' },                          ['timestamp']],
  ['a timestamp on no day',              { timestamp: '2026-02-30T00:00:00Z' },                ['timestamp']],
  ['a timestamp at hour 25',             { timestamp: '2026-02-03T25:00:00Z' },                ['timestamp']],
  ['a timestamp in words',               { timestamp: 'yesterday' },                           ['timestamp']],
  ['a timestamp of long ago',            { timestamp: '1970-01-01T00:00:00Z' },                ['timestamp']],
  ['a timestamp far ahead',              { timestamp: '9999-12-31T23:59:59Z' },                ['timestamp']],
];

const good = (): Fields => ({ name: 'api', customer_id: customer });

test.each(EVENTS)(
  'POST /events/ingest records none of five events of which one has %s',
  async (_what, fields, at) => {
    const events = [good(), good(), good(), { ...good(), ...fields }, good()];
    const reply = await setting.withoutTrace(() => setting.ingest(events));
    expect(refusal(reply)).toEqual(invalidAt(['events', '3', ...at]));
  },
);

test.each(BAD_METADATA)('POST /events/ingest refuses metadata: %s', async (_what, metadata, at) => {
  const reply = await setting.withoutTrace(() => setting.ingest([{ ...good(), metadata }]));
  expect(refusal(reply)).toEqual(invalidAt(['events', '0', ...at]));
});

test.each(BAD_KEYS)('POST /events/ingest refuses the external_id %s', async (_what, key) => {
  const events = [good(), { ...good(), external_id: key }];
  const reply = await setting.withoutTrace(() => setting.ingest(events));
  expect(refusal(reply)).toEqual(invalidAt(['events', '1', 'external_id']));
});

// prettier-ignore
const BODIES: [string, string, string[]][] = [
  ['nothing',                '',                                      []],
  ['an array',               '[]',                                    []],
  ['no events',              '{}',                                    ['events']],
  ['an object for a list',   '{"events":{}}',                         ['events']],
  ['null for an event',      '{"events":[null]}',                     ['events', '0']],
  ['a string for an event',  '{"events":["api"]}',                    ['events', '0']],
  ['a field beside events',  '{"events":[{"name":"api","external_customer_id":"mine"}],"a":1}',  ['a']],
  ['the same field twice',   '{"events":[{"name":"api","name":"api","external_customer_id":"mine"}]}',  []],
  ['NaN',                    '{"events":[{"name":"api","external_customer_id":"mine","value":NaN}]}',  []],
];

test.each(BODIES)('POST /events/ingest refuses the body: %s', async (_what, raw, at) => {
  const request = () => setting.server.call('POST', '/events/ingest', { raw });
  expect(refusal(await setting.withoutTrace(request))).toEqual(invalidAt(at));
});

test('POST /events/ingest refuses 501 events', async () => {
  const events = Array.from({ length: 501 }, good);
  const reply = await setting.withoutTrace(() => setting.ingest(events));
  expect(refusal(reply)).toEqual(invalidAt(['events']));
});

test('POST /events/ingest lists every event at fault, in order', async () => {
  const events = [{ ...good(), name: 'nothing' }, good(), { ...good(), customer_id: UNKNOWN }];
  const reply = await setting.withoutTrace(() => setting.ingest(events));
  expect(refusal(reply)).toEqual(
    invalidAt(['events', '0', 'name'], ['events', '2', 'customer_id']),
  );
});

test('POST /events/ingest names the event that takes the total out of range, after others that fit', async () => {
  await setting.meter('vast');
  const event = { ...good(), name: 'vast' };
  const events = [
    event,
    { ...event, value: '999999998.999999' },
    { ...event, value: '0.000001' },
    event,
  ];
  const reply = await setting.withoutTrace(() => setting.ingest(events));
  expect(refusal(reply)).toEqual(invalidAt(['events', '2', 'value']));
  expect((await setting.ingest(events.slice(0, 2))).json.inserted).toBe(2);
});

test('an event whose key was refused before is not answered as a duplicate', async () => {
  const fields = { value: 7, overage: 'reject', idempotency_key: 'refused' };
  expect((await setting.track(customer, 'api', fields)).status).toBe(402);
  const events = [good(), { ...good(), value: 7, external_id: 'refused' }];
  const reply = await setting.withoutTrace(() => setting.ingest(events));
  expect(refusal(reply)).toEqual(invalidAt(['events', '1', 'external_id']));
});

testBooksClose(() => setting);
