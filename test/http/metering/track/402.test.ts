import { afterAll, beforeAll, expect, test } from 'bun:test';
import { refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
});
afterAll(() => setting.stop());

const TOO_LITTLE = [402, 'insufficient_balance'];

async function customerWith(amount: number | null): Promise<string> {
  const made = await setting.customer();
  if (amount !== null) await setting.grant(made, 'api', { amount });
  return made;
}

// prettier-ignore
const REFUSED: [string, number | null, number, unknown][] = [
  // what                    granted  used  value
  ['one more than is left',  10,      4,    7],
  ['a millionth more',       10,      4,    '6.000001'],
  ['anything when used up',  10,      10,   '0.000001'],
  ['anything overdrawn',     10,      12,   1],
  ['anything not granted',   null,    0,    1],
];

test.each(REFUSED)(
  'POST /track of %s is 402 and leaves no trace',
  async (_what, amount, used, value) => {
    customer = await customerWith(amount);
    if (used > 0) await setting.track(customer, 'api', { value: used });
    const request = () => setting.track(customer, 'api', { value, overage: 'reject' });
    expect(refusal(await setting.withoutTrace(request))).toEqual(TOO_LITTLE);
  },
);

test('a track refused with a key stays refused after a top-up; another key is recorded', async () => {
  customer = await customerWith(5);
  const fields = { value: 8, overage: 'reject', idempotency_key: `refused ${customer}` };
  const first = await setting.track(customer, 'api', fields);
  expect(refusal(first)).toEqual(TOO_LITTLE);
  await setting.grant(customer, 'api', { amount: 50 });
  const again = await setting.withoutTrace(() => setting.track(customer, 'api', fields));
  expect([again.status, again.text]).toEqual([402, first.text]);
  expect(await setting.consumed(customer, 'api')).toEqual([0]);
  const other = await setting.track(customer, 'api', { ...fields, idempotency_key: 'another' });
  expect(other.status).toBe(200);
});

test('a track refused under an Idempotency-Key header replays its 402', async () => {
  customer = await customerWith(5);
  const call = { headers: { 'idempotency-key': `refused ${customer}` } };
  const fields = { value: 8, overage: 'reject' };
  const first = await setting.track(customer, 'api', fields, call);
  await setting.grant(customer, 'api', { amount: 50 });
  const again = await setting.track(customer, 'api', fields, call);
  expect([again.status, again.text]).toEqual([402, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(first.headers.get('idempotency-replayed')).toBeNull();
});

test('a track refused without a key may be tried again after a top-up', async () => {
  customer = await customerWith(5);
  const fields = { value: 8, overage: 'reject' };
  await setting.track(customer, 'api', fields);
  await setting.grant(customer, 'api', { amount: 50 });
  expect((await setting.track(customer, 'api', fields)).status).toBe(200);
});

testBooksClose(() => setting);
