// POST /reservations: held, then committed, released, extended or expired.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  type Fields,
  invalidAt,
  NOT_FOUND,
  refusal,
  Setting,
  tally,
  testBooksClose,
  times,
} from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('tokens');
  await setting.meter('calls', { aggregation: 'count' });
});
afterAll(() => setting.stop());

/** A customer with so many tokens. */
async function holder(amount: number, fields: Fields = {}): Promise<string> {
  customer = await setting.customer();
  await setting.grant(customer, 'tokens', { amount, ...fields });
  return customer;
}

const reserve = (amount: number | string, fields: Fields = {}) =>
  setting.post('/reservations', {
    feature_key: 'tokens',
    customer_id: customer,
    amount,
    ...fields,
  });
const act = (id: string, what: string, body?: Fields) =>
  setting.server.call('POST', `/reservations/${id}/${what}`, body === undefined ? {} : { body });
const read = async (id: string) => (await setting.server.call('GET', `/reservations/${id}`)).json;
const seen = async () => {
  const { json } = await setting.check(customer, 'tokens', { value: 0 });
  return [json.limit, json.consumed, json.reserved, json.balance, json.remaining];
};

test('what is held is taken off the balance, and is free again', async () => {
  await holder(100);
  const { status, json } = await reserve(40);
  expect([status, json]).toMatchObject([
    201,
    {
      feature_key: 'tokens',
      customer_id: customer,
      external_customer_id: null,
      amount: 40,
      committed: 0,
      status: 'open',
      late: false,
      balance: 60,
      remaining: 60,
    },
  ]);
  expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(300_000);
  expect(await seen()).toEqual([100, 0, 40, 60, 60]);
  expect(await read(json.id)).toEqual(json);
  const released = await act(json.id, 'release');
  expect([released.status, released.json.status, released.json.balance]).toEqual([
    200,
    'released',
    100,
  ]);
  expect((await act(json.id, 'release')).text).toBe(released.text);
  expect(await seen()).toEqual([100, 0, 0, 100, 100]);
  expect(refusal(await act(json.id, 'commit', { value: 1 }))).toEqual([409, 'invalid_state']);
});

test('a commit below the hold frees the rest, and above it uses more', async () => {
  await holder(100);
  const low = (await reserve(40)).json.id;
  const high = (await reserve(40)).json.id;
  const first = await act(low, 'commit', { value: 15 });
  expect(first.json).toMatchObject({ status: 'committed', committed: 15, amount: 40, balance: 45 });
  expect((await act(low, 'commit', { value: 15 })).text).toBe(first.text);
  expect(refusal(await act(low, 'commit', { value: 16 }))).toEqual([409, 'invalid_state']);
  expect(refusal(await act(low, 'release'))).toEqual([409, 'invalid_state']);
  expect(await seen()).toEqual([100, 15, 40, 45, 45]);
  const second = await act(high, 'commit', { value: 90 });
  expect(second.json).toMatchObject({
    status: 'committed',
    committed: 90,
    balance: -5,
    remaining: 0,
  });
  expect(await seen()).toEqual([100, 105, 0, -5, 0]);
  expect((await act(low, 'commit', { value: 15 })).text).toBe(first.text);
});

test('500 at once of 7 against 1,000: exactly 142', async () => {
  await holder(1000);
  const replies = await times(500, () => reserve(7));
  expect(tally(replies.map(({ status }) => status))).toEqual({ 201: 142, 402: 358 });
  expect(await seen()).toEqual([1000, 0, 994, 6, 6]);
});

test('one that expires is free again, and may be committed late', async () => {
  await holder(100);
  const { json } = await reserve(60, { expires_in: 1 });
  await Bun.sleep(1200);
  expect(await seen()).toEqual([100, 0, 0, 100, 100]);
  expect(await read(json.id)).toMatchObject({ status: 'expired', balance: 100 });
  expect((await act(json.id, 'release')).json).toMatchObject({ status: 'expired' });
  expect(refusal(await act(json.id, 'extend', { expires_in: 5 }))).toEqual([409, 'invalid_state']);
  const late = await act(json.id, 'commit', { value: 70 });
  expect(late.json).toMatchObject({ status: 'committed', late: true, committed: 70, balance: 30 });
  expect((await act(json.id, 'commit', { value: 70 })).text).toBe(late.text);
});

test('an extension', async () => {
  await holder(100);
  const { json } = await reserve(60);
  expect((await act(json.id, 'extend', { amount: 90 })).json).toMatchObject({
    amount: 90,
    balance: 10,
  });
  expect(refusal(await act(json.id, 'extend', { amount: 101 }))).toEqual([
    402,
    'insufficient_balance',
  ]);
  expect(refusal(await act(json.id, 'extend', { amount: 89 }))).toEqual(invalidAt(['amount']));
  expect(await seen()).toEqual([100, 0, 90, 10, 10]);
  const longer = (await act(json.id, 'extend', { expires_in: 86_400 })).json;
  expect(Date.parse(longer.expires_at) - Date.now()).toBeGreaterThan(86_000_000);
  expect((await act(json.id, 'commit', { value: 80 })).json).toMatchObject({ balance: 20 });
});

test('a key', async () => {
  await holder(100);
  const first = await reserve(60, { idempotency_key: 'a' });
  const again = await reserve(60, { idempotency_key: 'a' });
  expect([again.status, again.json]).toEqual([201, first.json]);
  expect(refusal(await reserve(61, { idempotency_key: 'a' }))).toEqual([
    422,
    'idempotency_key_reused',
  ]);
  await act(first.json.id, 'commit', { value: 10 });
  expect((await reserve(60, { idempotency_key: 'a' })).json).toMatchObject({
    status: 'committed',
    balance: 90,
  });
});

test('in one step with a check', async () => {
  await holder(100);
  const { json } = await setting.check(customer, 'tokens', {
    value: 70,
    reserve: true,
    expires_in: 60,
  });
  expect(json).toMatchObject({
    allowed: true,
    reserved: 70,
    balance: 30,
    reservation: { amount: 70, status: 'open' },
  });
  const no = (await setting.check(customer, 'tokens', { value: 70, reserve: true })).json;
  expect(no).toMatchObject({ allowed: false, reason: 'insufficient_balance', reservation: null });
});

test('a meter that counts is held in whole units', async () => {
  customer = await setting.customer();
  await setting.grant(customer, 'calls', { amount: 10 });
  expect(refusal(await reserve(1.5, { feature_key: 'calls' }))).toEqual(invalidAt(['amount']));
  const { json } = await reserve(6, { feature_key: 'calls' });
  expect((await act(json.id, 'commit', { value: 4 })).json).toMatchObject({ balance: 6 });
  expect(await setting.consumed(customer, 'calls')).toEqual([4]);
});

test('what is wrong is refused', async () => {
  await holder(10);
  expect(refusal(await reserve(0))).toEqual(invalidAt(['amount']));
  expect(refusal(await reserve(-1))).toEqual(invalidAt(['amount']));
  expect(refusal(await reserve(1, { expires_in: 0 }))).toEqual(invalidAt(['expires_in']));
  expect(refusal(await act(crypto.randomUUID(), 'release'))).toEqual(NOT_FOUND);
});

testBooksClose(() => setting);
