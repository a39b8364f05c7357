// {partial: true}: valid events are recorded, invalid ones are listed, and a retry counts nothing
// twice.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Call } from '../../../support/server.ts';
import { TEST_SETTINGS } from '../../../support/settings.ts';
import { type Fields, refusal, Setting, testBooksClose, times } from '../setting.ts';

const METERS_MAX = 3;
const GREAT = 999_999_999;

let setting: Setting;
let customer: string;
beforeAll(async () => {
  const bounds = { ...TEST_SETTINGS.bounds, metersPerCustomer: METERS_MAX };
  setting = await Setting.open({ settings: { bounds } });
  await setting.meter('api');
  await setting.meter('sized', { value_property: 'bytes' });
  await setting.meter('two_a', { event_name: 'two' });
  await setting.meter('two_b', { event_name: 'two', value_property: 'n' });
  customer = await setting.customer();
});
afterAll(() => setting.stop());

const partial = (events: readonly unknown[], call: Call = {}) =>
  setting.post('/events/ingest', { events, partial: true }, call);

const event = (fields: Fields = {}): Fields => ({ name: 'api', customer_id: customer, ...fields });

const sum = async (id: string, feature = 'api') =>
  (await setting.consumed(id, feature)).reduce((total, part) => total + part, 0);

/** The `usage.recorded` events of a customer, which exist while an endpoint subscribes to them. */
async function toldOf<T>(id: string, task: () => Promise<T>) {
  const hook = { url: 'https://example.com/hook', event_types: ['usage.recorded'] };
  const endpoint = await setting.post('/webhook-endpoints', hook);
  const result = await task();
  await setting.server.call('DELETE', `/webhook-endpoints/${endpoint.json.id}`);
  const rows = await setting.server.sql<{ data: Fields }[]>`
    select data from events where account_id = ${id} and type = 'usage.recorded'
    order by data->>'featureKey'`;
  return { result, told: rows.map(({ data }) => data) };
}

type Row = { readonly index: number; readonly issues: { path: string[]; message: string }[] };
const places = (rejected: readonly Row[]) =>
  rejected.map(({ index, issues }) => [index, ...issues.map(({ path }) => path.join('.'))]);

// prettier-ignore
const BAD: [string, unknown, string][] = [
  ['null',                    null,                                                                ''],
  ['a number',                7,                                                                   ''],
  ['a list',                  [],                                                                  ''],
  ['an object of nothing',    {},                                                                  'name'],
  ['an unknown field',        { name: 'api', external_customer_id: 'x', valeu: 1 },                'valeu'],
  ['a bad value',             { name: 'api', external_customer_id: 'x', value: 'many' },           'value'],
  ['a list in its metadata',  { name: 'api', external_customer_id: 'x', metadata: { a: [] } },     'metadata.a'],
  ['no customer',             { name: 'api' },                                                     'customer_id'],
  ['an unknown customer',     { name: 'api', external_customer_id: 'nobody' },                     'external_customer_id'],
  ['a time of long ago',      { name: 'api', external_customer_id: 'good', timestamp: '1999-01-01T00:00:00Z' }, 'timestamp'],
  ['an unknown name',         { name: 'nothing', external_customer_id: 'good' },                   'name'],
  ['too many decimals',       { name: 'api', external_customer_id: 'good', value: '0.0000001' },   'value'],
  ['no value_property',       { name: 'sized', external_customer_id: 'good' },                     'metadata.bytes'],
];

test('a partial ingest lists each bad event with its index and each recorded one with its own', async () => {
  const id = await setting.customer({ external_customer_id: 'good' });
  const good = (index: number) => event({ customer_id: id, external_id: `good ${index}` });
  const events = BAD.flatMap(([, bad], index) => [bad, good(index)]);
  const first = await partial(events);
  expect(first.status).toBe(200);
  expect(first.json).toMatchObject({ inserted: BAD.length, duplicates: 0 });
  expect(first.json.events.map(({ index }: Row) => index)).toEqual(BAD.map((_, at) => 2 * at + 1));
  expect(places(first.json.rejected)).toEqual(BAD.map(([, , path], at) => [2 * at, path]));
  const again = await partial(events);
  expect(again.json).toMatchObject({ inserted: 0, duplicates: BAD.length });
  expect(again.json.rejected).toEqual(first.json.rejected);
  expect(await sum(id)).toBe(BAD.length);
});

test("an ingest's answer has `rejected` only where it is partial, and it may be empty", async () => {
  expect((await partial([event()])).json).toMatchObject({ inserted: 1, rejected: [] });
  expect((await partial([])).json).toEqual({
    inserted: 0,
    duplicates: 0,
    events: [],
    rejected: [],
  });
  expect((await partial([{}])).json).toMatchObject({ inserted: 0, events: [] });
  const whole = await setting.post('/events/ingest', { events: [event()], partial: false });
  expect([whole.status, 'rejected' in whole.json]).toEqual([200, false]);
  const refused = await setting.post('/events/ingest', { events: [{}], partial: false });
  expect(refusal(refused)).toEqual([400, 'invalid_request', [['events', '0', 'name']]]);
});

test('a partial ingest takes null for an optional field as left out', async () => {
  const { json } = await partial([event({ value: null, timestamp: null }), {}]);
  expect(json).toMatchObject({ inserted: 1, rejected: [{ index: 1 }] });
});

// prettier-ignore
const WHOLE: [string, string, number][] = [
  ['no object',          '[]',                                                              400],
  ['no JSON',            '{"partial":true,"events":[',                                      400],
  ['no events',          '{"partial":true}',                                                400],
  ['events of no list',  '{"partial":true,"events":{}}',                                    400],
  ['another field',      '{"partial":true,"events":[],"x":1}',                              400],
  ['partial of text',    '{"partial":"true","events":[]}',                                  400],
  ['501 events',         `{"partial":true,"events":[${Array(501).fill('{}').join()}]}`,     400],
  ['3 MiB',              `{"partial":true,"events":["${'x'.repeat(3 * 1024 * 1024)}"]}`,    413],
];

test.each(WHOLE)(
  'a partial ingest is refused as a whole for what is wrong with the call: %s',
  async (_what, raw, status) => {
    const reply = await setting.withoutTrace(() =>
      setting.server.call('POST', '/events/ingest', { raw }),
    );
    expect(reply.status).toBe(status);
  },
);

test('a partial ingest of 500 bad events lists them all, with few issues each', async () => {
  const bad = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x${index}`, 1]));
  const { status, json } = await partial(Array.from({ length: 500 }, () => bad));
  expect([status, json.rejected.length]).toEqual([200, 500]);
  expect(json.rejected.every(({ issues }: Row) => issues.length === 5)).toBe(true);
});

test('a partial ingest leaves out what goes out of range, and all else is recorded without it', async () => {
  const id = await setting.customer();
  const values = [GREAT, 5, -10, 9, GREAT, 1, 1];
  const events = values.map((value, index) =>
    event({ customer_id: id, value, external_id: `range ${index}` }),
  );
  const { json } = await partial(events);
  expect(places(json.rejected)).toEqual([
    [1, 'value'],
    [4, 'value'],
    [6, 'value'],
  ]);
  expect([json.inserted, await sum(id)]).toEqual([4, GREAT]);
  expect((await partial(events)).json).toMatchObject({ inserted: 0, duplicates: 4 });
  expect(await sum(id)).toBe(GREAT);
});

test('an event that one of its meters refuses counts on none, and blocks no other event', async () => {
  const id = await setting.customer();
  const two = (n: number, key: string) =>
    event({ customer_id: id, name: 'two', metadata: { n }, external_id: key });
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const values = [GREAT, 5, 6, -3, 7, 3];
  const { result, told } = await toldOf(id, () =>
    partial(values.map((n, index) => two(n, keys[index] ?? ''))),
  );
  expect(places(result.json.rejected)).toEqual([
    [1, 'value'],
    [2, 'value'],
    [4, 'value'],
  ]);
  expect([await sum(id, 'two_a'), await sum(id, 'two_b')]).toEqual([3, GREAT]);
  expect(told.map(({ featureKey, count }) => [featureKey, count])).toEqual([
    ['two_a', 3],
    ['two_b', 3],
  ]);
});

test('an event that lacks a property one of its meters reads counts on none', async () => {
  const id = await setting.customer();
  const two = (metadata: Fields) => event({ customer_id: id, name: 'two', metadata });
  const { json } = await partial([two({}), two({ n: 2 }), two({ m: 1 })]);
  expect(places(json.rejected)).toEqual([
    [0, 'metadata.n'],
    [2, 'metadata.n'],
  ]);
  expect([await sum(id, 'two_a'), await sum(id, 'two_b')]).toEqual([1, 2]);
});

test('a partial ingest takes a customer by both ids in one event and by either in others', async () => {
  const id = await setting.customer({ external_customer_id: 'named' });
  const external = { customer_id: undefined, external_customer_id: 'named' };
  const { json } = await partial([
    event({ customer_id: id, external_customer_id: 'named' }),
    event({ customer_id: id }),
    event(external),
    event({ customer_id: id.toUpperCase() }),
  ]);
  expect([json.inserted, places(json.rejected)]).toEqual([3, [[0, 'customer_id']]]);
  expect(await sum(id)).toBe(3);
});

test('a key that is twice in a partial ingest has one outcome', async () => {
  const id = await setting.customer();
  const same = (value: number, key: string) => event({ customer_id: id, value, external_id: key });
  const { json } = await partial([
    same(GREAT, 'one'),
    same(7, 'bad'),
    same(-1, 'bad'),
    same(GREAT, 'one'),
  ]);
  expect(json).toMatchObject({ inserted: 1, duplicates: 1 });
  expect(places(json.rejected)).toEqual([
    [1, 'value'],
    [2, 'value'],
  ]);
  expect(await sum(id)).toBe(GREAT);
});

test('a partial ingest lists an event whose key was refused before', async () => {
  const id = await setting.customer();
  const key = { idempotency_key: 'was refused', overage: 'reject' };
  expect((await setting.track(id, 'api', key)).status).toBe(402);
  const events = [
    event({ customer_id: id, external_id: 'was refused' }),
    event({ customer_id: id, external_id: 'new' }),
  ];
  for (const inserted of [1, 0]) {
    const { json } = await partial(events);
    expect(json).toMatchObject({ inserted, duplicates: 1 - inserted });
    expect(places(json.rejected)).toEqual([[0, 'external_id']]);
  }
});

test('a partial ingest lists an event that would open one meter too many of a customer', async () => {
  const id = await setting.customer();
  await Promise.all(['m1', 'm2', 'm3', 'm4'].map((slug) => setting.meter(slug)));
  const names = ['m1', 'm2', 'm3', 'm4', 'm1'];
  const { json } = await partial(names.map((name) => event({ customer_id: id, name })));
  expect([json.inserted, places(json.rejected)]).toEqual([4, [[3, 'name']]]);
  expect(json.rejected[0].issues[0].message).toContain('LIMIT_METERS_PER_CUSTOMER');
});

test('a partial ingest of many customers, some at their limit, also at once and again', async () => {
  const customers = await times(12, () => setting.customer());
  const events = customers.flatMap((id, at) => [
    event({ customer_id: id, value: at % 3 === 0 ? GREAT : 1, external_id: `many ${at} a` }),
    event({ customer_id: id, value: 1, external_id: `many ${at} b` }),
    event({ customer_id: id, value: -1, external_id: `many ${at} a` }),
  ]);
  const replies = await times(4, () => partial(events));
  for (const { status, json } of replies) {
    expect([status, places(json.rejected)]).toEqual([
      200,
      [0, 3, 6, 9].map((at) => [3 * at + 1, 'value']),
    ]);
    expect(json.inserted + json.duplicates).toBe(32);
  }
  const inserted = replies.reduce((total, { json }) => total + json.inserted, 0);
  expect(inserted).toBe(20);
  const used = await Promise.all(customers.map((id) => sum(id)));
  expect(used).toEqual(customers.map((_, at) => (at % 3 === 0 ? GREAT : 2)));
});

test('a partial ingest sent again with its Idempotency-Key counts each event once, by its index', async () => {
  const id = await setting.customer();
  const events = [{}, event({ customer_id: id }), 7, event({ customer_id: id, value: 2 })];
  const call = { headers: { 'idempotency-key': 'partial' } };
  const first = await partial(events, call);
  const again = await partial(events, call);
  expect([first.json.inserted, again.json.duplicates]).toEqual([2, 2]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.json.events.map((row: Fields) => row['id'])).toEqual(
    first.json.events.map((row: Fields) => row['id']),
  );
  expect(await sum(id)).toBe(3);
});

test('usage.recorded of a partial ingest tells of the recorded events alone', async () => {
  const id = await setting.customer();
  const values = [GREAT - 1, 2, 1];
  const { told } = await toldOf(id, () =>
    partial(values.map((value) => event({ customer_id: id, value }))),
  );
  expect(told).toMatchObject([{ count: 2, value: GREAT, consumed: GREAT }]);
});

testBooksClose(() => setting);
