import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { MovedClock } from '../../../support/moved-clock.ts';
import {
  type Fields,
  invalidAt,
  refusal,
  Setting,
  tally,
  testBooksClose,
  times,
} from '../setting.ts';

const clock = new MovedClock();
let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open({ clock });
  await setting.meter('api');
  await setting.meter('twice_sum', { event_name: 'twice' });
  await setting.meter('twice_count', { event_name: 'twice', aggregation: 'count' });
  customer = await setting.customer({ external_customer_id: 'mine' });
});
afterEach(() => clock.travel(null));
afterAll(() => setting.stop());

const event = (fields: Fields = {}): Fields => ({ name: 'api', customer_id: customer, ...fields });

/** A customer for one test, and what they used. */
async function fresh(): Promise<{ id: string; used: (feature?: string) => Promise<number> }> {
  const id = await setting.customer();
  return {
    id,
    used: async (feature = 'api') =>
      (await setting.consumed(id, feature)).reduce((sum, part) => sum + part, 0),
  };
}

test('POST /events/ingest records events of several customers and meters, and names each', async () => {
  const { id, used } = await fresh();
  const events = [
    event({ customer_id: id, value: 2 }),
    event({ customer_id: undefined, external_customer_id: 'mine', external_id: 'named' }),
    event({ customer_id: id, name: 'twice', value: '0.5', metadata: { a: 'b' } }),
  ];
  const { status, json } = await setting.ingest(events);
  expect(status).toBe(200);
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown;
  expect(json).toEqual({
    inserted: 3,
    duplicates: 0,
    events: [
      { index: 0, id: uuid, external_id: null, status: 'inserted' },
      { index: 1, id: uuid, external_id: 'named', status: 'inserted' },
      { index: 2, id: uuid, external_id: null, status: 'inserted' },
    ],
  });
  expect([await used(), await used('twice_sum'), await used('twice_count')]).toEqual([2, 0.5, 1]);
});

test('POST /events/ingest records 500 events in one call', async () => {
  const { id, used } = await fresh();
  const events = Array.from({ length: 500 }, (_, i) =>
    event({ customer_id: id, external_id: `500 ${i}` }),
  );
  expect((await setting.ingest(events)).json).toMatchObject({ inserted: 500, duplicates: 0 });
  expect((await setting.ingest(events)).json).toMatchObject({ inserted: 0, duplicates: 500 });
  expect(await used()).toBe(500);
});

test('an external_id that is twice in one ingest counts once, the first time', async () => {
  const { id, used } = await fresh();
  const one = event({ customer_id: id, external_id: 'inside', value: 3 });
  const { json } = await setting.ingest([
    one,
    event({ customer_id: id }),
    one,
    { ...one, value: 9 },
  ]);
  expect(json).toMatchObject({ inserted: 2, duplicates: 2 });
  expect(json.events.map(({ status }: Fields) => status)).toEqual([
    'inserted',
    'inserted',
    'duplicate',
    'duplicate',
  ]);
  expect(json.events[2].id).toBe(json.events[0].id);
  expect(await used()).toBe(4);
});

test('an external_id in several overlapping ingests counts once', async () => {
  const { id, used } = await fresh();
  const call = (from: number) =>
    setting.ingest(
      Array.from({ length: 20 }, (_, i) =>
        event({ customer_id: id, external_id: `over ${from + i}` }),
      ),
    );
  const replies = await times(10, (index) => call(index * 10));
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 10 });
  const inserted = replies.reduce((sum, { json }) => sum + (json.inserted as number), 0);
  expect([inserted, await used()]).toEqual([110, 110]);
});

test('one key 100 times at once by /track and ingest counts once, under one id', async () => {
  const { id, used } = await fresh();
  const replies = await times(100, async (index) => {
    if (index % 2 === 0)
      return setting.track(id, 'api', { value: 3, idempotency_key: 'both ways' });
    return setting.ingest([event({ customer_id: id, value: 3, external_id: 'both ways' })]);
  });
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 100 });
  const ids = replies.map(({ json }) => (json.id ?? json.events[0].id) as string);
  expect(new Set(ids).size).toBe(1);
  const first = replies.filter(({ json }) => json.duplicate === false || json.inserted === 1);
  expect([first.length, await used()]).toEqual([1, 3]);
});

// prettier-ignore
const BOTH_WAYS: [string, string][] = [
  ['the first meter of its name',   'twice_sum'],
  ['the second meter of its name',  'twice_count'],
];

test.each(BOTH_WAYS)(
  'an event sent by /track to %s and again by ingest counts once on that meter',
  async (_what, feature) => {
    const { id, used } = await fresh();
    const key = `track ${feature}`;
    expect((await setting.track(id, feature, { idempotency_key: key })).status).toBe(200);
    const { json } = await setting.ingest([
      event({ customer_id: id, name: 'twice', external_id: key }),
    ]);
    expect(json).toMatchObject({ inserted: 0, duplicates: 1 });
    expect(await used(feature)).toBe(1);
  },
);

test.each(BOTH_WAYS)(
  'an event sent by ingest and again by /track to %s counts once on each meter',
  async (_what, feature) => {
    const { id, used } = await fresh();
    const key = `ingest ${feature}`;
    await setting.ingest([event({ customer_id: id, name: 'twice', external_id: key })]);
    await setting.track(id, feature, { idempotency_key: key });
    expect([await used('twice_sum'), await used('twice_count')]).toEqual([1, 1]);
  },
);

test('one event name feeds two meters, each by its aggregation, once however often it is sent', async () => {
  const { id, used } = await fresh();
  const events = [
    event({ customer_id: id, name: 'twice', value: 5, external_id: 'two meters' }),
    event({ customer_id: id, name: 'twice', value: 6 }),
  ];
  expect((await setting.ingest(events)).json).toMatchObject({ inserted: 2, duplicates: 0 });
  expect((await setting.ingest(events.slice(0, 1))).json).toMatchObject({ duplicates: 1 });
  expect([await used('twice_sum'), await used('twice_count')]).toEqual([11, 2]);
});

test('an event sent again does not feed a meter that was made since', async () => {
  const { id, used } = await fresh();
  await setting.meter('young_a', { event_name: 'young' });
  const events = [event({ customer_id: id, name: 'young', external_id: 'old event' })];
  await setting.ingest(events);
  await setting.meter('young_b', { event_name: 'young' });
  expect((await setting.ingest(events)).json).toMatchObject({ inserted: 0, duplicates: 1 });
  expect([await used('young_a'), await used('young_b')]).toEqual([1, 0]);
});

test('an ingest sent again with its Idempotency-Key counts once, also at once', async () => {
  const { id, used } = await fresh();
  const call = { headers: { 'idempotency-key': 'whole call' } };
  const events = [event({ customer_id: id }), event({ customer_id: id, external_id: 'in a call' })];
  const replies = await times(20, () => setting.ingest(events, call));
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 20 });
  expect(await used()).toBe(2);
  const again = await setting.withoutTrace(() => setting.ingest(events, call));
  expect(again.headers.get('idempotency-replayed')).toBe('true');
});

test('an ingest with another Idempotency-Key is another call', async () => {
  const { id, used } = await fresh();
  for (const key of ['call 1', 'call 2']) {
    await setting.ingest([event({ customer_id: id })], { headers: { 'idempotency-key': key } });
  }
  expect(await used()).toBe(2);
});

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = Math.floor(Date.now() / 1000) * 1000;

// prettier-ignore
const EDGES: [string, number, boolean][] = [
  ['now',                              0,                 true],
  ['exactly 5 minutes ahead',          5 * MINUTE,        true],
  ['a millisecond more than that',     5 * MINUTE + 1,    false],
  ['exactly 35 days back',             -35 * DAY,         true],
  ['a millisecond more than that',     -35 * DAY - 1,     false],
];

test.each(EDGES)(
  'POST /events/ingest with a timestamp %s (%p ms): taken %p',
  async (_what, offset, taken) => {
    const { id, used } = await fresh();
    clock.travel(NOW);
    const timestamp = new Date(NOW + offset).toISOString();
    const reply = await setting.ingest([event({ customer_id: id, timestamp })]);
    if (!taken) expect(refusal(reply)).toEqual(invalidAt(['events', '0', 'timestamp']));
    else expect(reply.status).toBe(200);
    expect(await used()).toBe(taken ? 1 : 0);
  },
);

// prettier-ignore
const TIMES: [string, (at: number) => string][] = [
  ['with milliseconds',       (at) => new Date(at).toISOString()],
  ['without them',            (at) => new Date(at).toISOString().replace('.000', '')],
  ['with nanoseconds',        (at) => new Date(at).toISOString().replace('.000', '.000000000')],
  ['with an offset',          (at) => new Date(at + 5.5 * 60 * MINUTE).toISOString().replace('Z', '+05:30')],
  ['with a negative offset',  (at) => new Date(at - 60 * MINUTE).toISOString().replace('Z', '-01:00')],
];

test.each(TIMES)(
  'POST /events/ingest takes a timestamp %s as the same moment',
  async (_what, write) => {
    const { id } = await fresh();
    const reply = await setting.ingest([event({ customer_id: id, timestamp: write(NOW) })]);
    expect(reply).toMatchObject({ status: 200 });
    const [row] = await setting.server.sql<{ at: Date }[]>`
    select coalesce(t.event_at, t.at) as at from transfers t join accounts a on a.id = t.debit where a.customer_id = ${id}`;
    expect(row?.at.getTime()).toBe(NOW);
  },
);

testBooksClose(() => setting);
