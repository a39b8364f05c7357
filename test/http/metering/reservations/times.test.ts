// Reservations over time, by the test clock: expiry, late commits, periods that end meanwhile.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { moved } from '../../test-clock/clock.ts';
import { invalidAt, refusal, Setting, testBooksClose } from '../setting.ts';
import { Holder } from './holder.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('tokens');
});
afterAll(() => setting.stop());

const pass = (duration: string) => moved(setting.server, { advance: duration });
const INVALID_STATE = [409, 'invalid_state'];

test('a reservation that expires frees its units, and may be committed late', async () => {
  const holder = await Holder.of(setting, { amount: 100 });
  const { json } = await holder.reserve(60, { expires_in: 600 });
  await pass('PT9M');
  expect(await holder.seen()).toEqual([100, 0, 60, 40, 40]);
  await pass('PT1M');
  expect(await holder.seen()).toEqual([100, 0, 0, 100, 100]);
  expect(await holder.read(json.id)).toMatchObject({ status: 'expired', balance: 100 });
  expect((await holder.act(json.id, 'release')).json).toMatchObject({ status: 'expired' });
  expect(refusal(await holder.act(json.id, 'extend', { expires_in: 5 }))).toEqual(INVALID_STATE);
  const late = await holder.act(json.id, 'commit', { value: 70 });
  expect(late.json).toMatchObject({ status: 'committed', late: true, committed: 70, balance: 30 });
  expect(await holder.read(json.id)).toMatchObject({ status: 'committed', committed: 70 });
  expect((await holder.act(json.id, 'commit', { value: 70 })).text).toBe(late.text);
  expect(refusal(await holder.act(json.id, 'commit', { value: 71 }))).toEqual(INVALID_STATE);
  expect(refusal(await holder.act(json.id, 'release'))).toEqual(INVALID_STATE);
});

test('an extension of a reservation counts from now, up to 30 days', async () => {
  const holder = await Holder.of(setting, { amount: 100 });
  const { id, created_at: made } = (await holder.reserve(60, { expires_in: 60 })).json;
  await pass('PT30S');
  const { expires_at: ends } = (await holder.act(id, 'extend', { expires_in: 60 })).json;
  expect(Date.parse(ends) - Date.parse(made)).toBeGreaterThanOrEqual(90_000);
  await pass('PT59S');
  expect(await holder.read(id)).toMatchObject({ status: 'open' });
  for (let day = 0; day < 30; day += 1) {
    expect((await holder.act(id, 'extend', { expires_in: 86_400 })).status).toBe(200);
    await pass('PT23H59M');
  }
  const beyond = await holder.act(id, 'extend', { expires_in: 86_400 });
  expect(refusal(beyond)).toEqual(invalidAt(['expires_in']));
});

test('units reserved in one period take nothing from the next, and are committed in their own', async () => {
  const holder = await Holder.of(setting, { amount: 100, reset_interval: 'day' });
  await pass('PT1H');
  const { id } = (await holder.reserve(60, { expires_in: 86_400 })).json;
  const other = (await holder.reserve(10, { expires_in: 86_400 })).json.id;
  const { period_end: end } = (await setting.balance(holder.customer, 'tokens'))!;
  await moved(setting.server, { now: end });
  expect(await holder.seen()).toEqual([100, 0, 0, 100, 100]);
  expect(refusal(await holder.act(id, 'extend', { amount: 61 }))).toEqual(INVALID_STATE);
  // Up to what was held; the rest is of now.
  const { json } = await holder.act(id, 'commit', { value: 75 });
  expect(json).toMatchObject({ committed: 75, late: false, balance: 85 });
  expect((await holder.act(other, 'release')).json).toMatchObject({ balance: 85 });
  expect(await setting.consumed(holder.customer, 'tokens')).toEqual([60, 15]);
});

testBooksClose(() => setting);
