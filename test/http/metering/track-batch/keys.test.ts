// A key of an item counts once: within a call, and over calls of every kind.
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
const consumed = async (): Promise<number> =>
  (await setting.consumed(customer, 'api')).reduce((total, part) => total + part, 0);
const duplicates = (given: readonly Result[]) => given.map(({ duplicate }) => duplicate);

test('a key that is twice in a track batch is the first item, then a duplicate', async () => {
  const given = await results([keyed('a', { value: 2 }), item(), keyed('a', { value: 2 })]);
  expect(duplicates(given)).toEqual([false, false, true]);
  expect(given[2]).toEqual({ ...given[0]!, duplicate: true });
  expect(await consumed()).toBe(3);
});

test("a batch item's key with another body is refused, within a call and after it", async () => {
  const { json } = await batch([keyed('a'), keyed('a', { value: 2 }), keyed('b')]);
  const types = json.results.map(({ error }: Result) => error?.type);
  expect(types).toEqual([undefined, 'idempotency_key_reused', undefined]);
  const again = await batch([keyed('b', { value: 7 }), keyed('a')]);
  const [reused, duplicate] = again.json.results as Result[];
  expect(reused?.error).toEqual(json.results[1].error);
  expect(duplicate).toEqual({ ...json.results[0], duplicate: true });
  expect(await consumed()).toBe(2);
});

test('a key whose batch item was out of range is free for the next item', async () => {
  const { json } = await batch([keyed('a', { value: 999_999_999 }), item({ value: 5 })]);
  expect(json.results.map(({ error }: Result) => error?.type)).toEqual([
    undefined,
    'invalid_request',
  ]);
  const more = await batch([keyed('b', { value: 5 }), item({ value: -10 }), keyed('b')]);
  expect(more.json.results.map(({ error }: Result) => error?.type)).toEqual([
    'invalid_request',
    undefined,
    undefined,
  ]);
});

test('a batch item refused by overage: reject stays refused under its key, in the call too', async () => {
  const refused = keyed('a', { value: 5, overage: 'reject' });
  const first = await batch([refused, refused]);
  expect(first.json.results.map(({ error }: Result) => error?.type)).toEqual([
    'insufficient_balance',
    'insufficient_balance',
  ]);
  await setting.grant(customer, 'api', { amount: 50 });
  expect((await batch([refused])).json.results).toEqual([first.json.results[0]]);
  const alone = await setting.post('/track', refused);
  expect([alone.status, alone.json]).toEqual([402, first.json.results[0]]);
});

test('a key of a batch item is the same one for /track and for ingest', async () => {
  const single = await setting.track(customer, 'api', { idempotency_key: 'a' });
  const event = { name: 'api', customer_id: customer, external_id: 'b' };
  expect((await setting.ingest([event])).json.inserted).toBe(1);
  const [a, , c] = await results([keyed('a'), item(), keyed('c')]);
  expect(a).toEqual({ ...single.json, duplicate: true });
  const after = await setting.track(customer, 'api', { idempotency_key: 'c' });
  expect(after.json).toEqual({ ...c, duplicate: true });
  const again = await setting.ingest([event, { ...event, external_id: 'c' }]);
  expect(again.json).toMatchObject({ inserted: 0, duplicates: 2 });
  expect(await consumed()).toBe(4);
});

test('a track batch of 500 keys twice at once counts each once, as a duplicate in one of the calls', async () => {
  const tracks = Array.from({ length: 500 }, (_, index) => keyed(`at once ${index}`));
  const [one, two] = await Promise.all([results(tracks), results(tracks.toReversed())]);
  expect(await consumed()).toBe(500);
  const fresh = [...one, ...two].filter(({ duplicate }) => !duplicate);
  expect(fresh).toHaveLength(500);
  expect(two.map(({ id }) => id)).toEqual(one.map(({ id }) => id).toReversed());
});

testBooksClose(() => setting);
