import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Fields, Setting, testBooksClose } from './setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('sum', { aggregation: 'sum' });
  await setting.meter('count', { aggregation: 'count' });
  await setting.meter('max', { aggregation: 'max' });
  await setting.meter('last', { aggregation: 'last' });
  await setting.meter('unique', { aggregation: 'unique', unique_property: 'user' });
  await setting.meter('sized', { value_property: 'bytes' });
  await setting.meter('peak', { aggregation: 'max', value_property: 'load', scale: 2 });
});
afterAll(() => setting.stop());

const value = (of: unknown): Fields => ({ value: of });
const by = (metadata: Fields, fields: Fields = {}): Fields => ({ ...fields, metadata });

// prettier-ignore
const CONSUMED: [string, string, Fields[], number][] = [
  // feature what events consumed
  ['sum',      'adds values',                                  [value(2), value('0.5'), {}],                                      3.5],
  ['sum',      'takes corrections back',                       [value(2), value(-0.5)],                                           1.5],
  ['count',    'counts events, whatever their value',          [value(2), value(0), {}],                                          3],
  ['count',    'takes an event back for a negative value',     [value(2), {}, value(-1)],                                         1],
  ['max',      'keeps the greatest',                           [value(2), value(7.25), value(3)],                                 7.25],
  ['last',     'keeps the latest',                             [value(2), value(7.25), value(3)],                                 3],
  ['unique',   'counts each value once',                       [by({ user: 'a' }), by({ user: 'b' }), by({ user: 'a' })],         2],
  ['unique',   'tells apart what differs by case or space',    [by({ user: 'a' }), by({ user: 'A' }), by({ user: 'a ' })],        3],
  ['unique',   'counts the empty value as one',                [by({ user: '' }), by({ user: '' })],                              1],
  ['unique',   'looks at no other property',                   [by({ user: 'a', x: '1' }), by({ user: 'a', x: '2' })],            1],
  ['sized',    'takes the value from the property',            [by({ bytes: '2.5' }), by({ bytes: '1' })],                        3.5],
  ['sized',    'the value of the event wins',                  [by({ bytes: '2.5' }, { value: 1 })],                              1],
  ['sized',    'a property may correct',                       [by({ bytes: '2.5' }), by({ bytes: '-1.5' })],                     1],
  ['peak',     'keeps the greatest of the property',           [by({ load: '0.75' }), by({ load: '0.8' }), by({ load: '.1'.padStart(3, '0') })],  0.8],
];

test.each(CONSUMED)('usage of the meter %s: %s', async (feature, _what, events, consumed) => {
  const tracked = await setting.customer();
  const ingested = await setting.customer();
  for (const fields of events) {
    expect((await setting.track(tracked, feature, fields)).status).toBe(200);
  }
  const batch = events.map((fields) => ({ name: feature, customer_id: ingested, ...fields }));
  expect((await setting.ingest(batch)).status).toBe(200);
  for (const customer of [tracked, ingested]) {
    expect((await setting.check(customer, feature)).json.consumed).toBe(consumed);
    expect(await setting.consumed(customer, feature)).toEqual([consumed]);
  }
});

test('a unique or max meter is limited by what a value would add', async () => {
  const customer = await setting.customer();
  await setting.grant(customer, 'unique', { amount: 1 });
  await setting.grant(customer, 'max', { amount: 5 });
  const reject = (feature: string, fields: Fields) =>
    setting.track(customer, feature, { ...fields, overage: 'reject' }).then(({ status }) => status);
  expect(await reject('unique', by({ user: 'a' }))).toBe(200);
  expect(await reject('unique', by({ user: 'b' }))).toBe(402);
  expect(await reject('unique', by({ user: 'a' }))).toBe(200);
  expect(await reject('max', value(5))).toBe(200);
  expect(await reject('max', value(6))).toBe(402);
  expect(await reject('max', value(5))).toBe(200);
});

const FEATURES = ['sum', 'count', 'max', 'last', 'unique'];
const allConsumed = (customer: string) =>
  Promise.all(FEATURES.map((name) => setting.consumed(customer, name)));

test('events of every aggregation, shuffled, split into calls and sent twice, end with the same usage', async () => {
  const start = Date.now() - 1_000_000;
  const events = Array.from({ length: 40 }, (_, i) => ({
    external_id: `shuffled ${i}`,
    timestamp: new Date(start + ((i * 7919) % 40) * 1000).toISOString(),
    value: ((i * 31) % 17) / 4,
    metadata: { user: `user ${i % 7}` },
  }));
  const orders = fc.sample(fc.shuffledSubarray(events, { minLength: events.length }), {
    seed: 20_260_131,
    numRuns: 4,
  });
  const results: number[][] = [];
  for (const [run, order] of orders.entries()) {
    const customer = await setting.customer();
    const calls = [];
    for (const name of FEATURES) {
      const mine = order.map((event) => ({
        ...event,
        name,
        customer_id: customer,
        external_id: `${event.external_id} ${name} ${run}`,
      }));
      for (let from = 0; from < mine.length; from += 3 + run * 5) {
        const part = mine.slice(from, from + 3 + run * 5);
        calls.push(setting.ingest(part), setting.ingest(part.toReversed()));
      }
    }
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    results.push((await allConsumed(customer)).flat());
  }
  // `last` goes by time, and no two events have the same time.
  expect(results).toEqual(results.map(() => results[0]!));
  expect(results[0]!.slice(0, 3)).toEqual([
    events.reduce((sum, event) => sum + event.value, 0),
    events.length,
    Math.max(...events.map((event) => event.value)),
  ]);
  expect(results[0]![4]).toBe(7);
});

testBooksClose(() => setting);
