// The Idempotency-Key header of a batch: sent again, the whole is replayed; another body is
// refused.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { type Fields, Setting, testBooksClose } from '../setting.ts';
import { batchOf, type Result } from './batch.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
});
beforeEach(async () => {
  customer = await setting.customer();
});
afterAll(() => setting.stop());

const { batch, results } = batchOf(() => setting);

const item = (fields: Fields = {}): Fields => ({
  feature_key: 'api',
  customer_id: customer,
  ...fields,
});
const keyed = (key: string, fields: Fields = {}) => item({ idempotency_key: key, ...fields });
const header = (key: string) => ({ headers: { 'idempotency-key': `${key} ${customer}` } });
const consumed = async (id = customer): Promise<number> =>
  (await setting.consumed(id, 'api')).reduce((total, part) => total + part, 0);
const duplicates = (given: readonly Result[]) => given.map(({ duplicate }) => duplicate);

/** What a crash leaves after the items were recorded, and before the answer was stored. */
async function forgetAnswers(): Promise<void> {
  const { count } = await setting.server.sql`
    update idempotency set status = 0, body = '' where operation = 'POST /track/batch'`;
  expect(count).toBeGreaterThan(0);
}

test('a track batch sent again under its Idempotency-Key is replayed to the byte', async () => {
  const tracks = [
    item({ value: 3 }),
    keyed('a', { value: 2 }),
    item({ value: 900, overage: 'reject' }),
    keyed('a', { value: 2 }),
    item({ feature_key: 'nothing' }),
    7,
  ];
  const first = await batch(tracks, header('whole'));
  expect(first.headers.get('idempotency-replayed')).toBeNull();
  await setting.grant(customer, 'api', { amount: 5000 });
  await setting.track(customer, 'api');
  const again = await setting.withoutTrace(() => batch(tracks, header('whole')));
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await consumed()).toBe(6);
  const other = await batch(tracks, header('another'));
  expect(other.headers.get('idempotency-replayed')).toBeNull();
});

test('a track batch with another body under its Idempotency-Key is refused whole, and records nothing', async () => {
  const other = await setting.customer();
  const tracks = [item(), item({ customer_id: other })];
  const { text } = await batch(tracks, header('whole'));
  const others = [
    tracks.toReversed(),
    [item({ value: 7 }), item({ customer_id: other, value: 7 })],
    tracks.slice(0, 1),
    [...tracks, item()],
    [],
  ];
  for (const body of others) {
    const reply = await setting.withoutTrace(() => batch(body, header('whole')));
    expect([reply.status, reply.json.error?.type]).toEqual([422, 'idempotency_key_reused']);
  }
  expect([await consumed(), await consumed(other)]).toEqual([1, 1]);
  // The same value, written differently.
  const reordered = tracks.map((track) => Object.fromEntries(Object.entries(track).toReversed()));
  expect((await batch(reordered, header('whole'))).text).toBe(text);
});

test('of two track batches at once under one Idempotency-Key with different bodies, one is recorded', async () => {
  const other = await setting.customer();
  const tracks = [item(), item({ customer_id: other })];
  const replies = await Promise.all([
    batch(tracks, header('at once')),
    batch(tracks.toReversed(), header('at once')),
  ]);
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
  expect([await consumed(), await consumed(other)]).toEqual([1, 1]);
});

test('a track batch whose answer was lost in a crash is completed, and counts nothing twice', async () => {
  const other = await setting.customer();
  const tracks = [item({ value: 3 }), keyed('a'), item({ customer_id: other }), keyed('a')];
  const before = await results(tracks, header('crash'));
  await setting.track(customer, 'api', { value: 100 });
  await forgetAnswers();
  const reused = await batch(tracks.toReversed(), header('crash'));
  expect([reused.status, reused.json.error?.type]).toEqual([422, 'idempotency_key_reused']);
  const again = await batch(tracks, header('crash'));
  // Items without a key of their own have the first answer; a key tells of itself.
  expect(again.json.results).toEqual([
    before[0],
    { ...before[1], duplicate: true },
    before[2],
    before[3],
  ]);
  expect(again.headers.get('idempotency-replayed')).toBeNull();
  const third = await setting.withoutTrace(() => batch(tracks, header('crash')));
  expect(third.text).toBe(again.text);
  expect(third.headers.get('idempotency-replayed')).toBe('true');
  expect([await consumed(), await consumed(other)]).toEqual([104, 1]);
});

test("a batch item's key that another call used is a duplicate, under a new Idempotency-Key too", async () => {
  await setting.track(customer, 'api', { idempotency_key: 'a' });
  await results([keyed('b')]);
  const reply = await batch([keyed('a'), keyed('b')], header('never used'));
  expect(duplicates(reply.json.results)).toEqual([true, true]);
  expect(reply.headers.get('idempotency-replayed')).toBeNull();
  const more = await results([keyed('a'), item(), keyed('c')], header('nor this'));
  expect(duplicates(more)).toEqual([true, false, false]);
  expect(await consumed()).toBe(4);
});

test('a track batch of 500 items is replayed to the byte', async () => {
  const tracks = Array.from({ length: 500 }, (_, index) => item({ value: 1 + (index % 7) }));
  const first = await batch(tracks, header('many'));
  expect(first.json.results).toHaveLength(500);
  const again = await setting.withoutTrace(() => batch(tracks, header('many')));
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
});

testBooksClose(() => setting);
