// A meter of levels over HTTP: nothing of a grant is used up, and a grant that ends leaves with its
// whole amount (docs/spec/balance.md#levels).
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Setting } from './setting.ts';

const HOUR_MS = 3_600_000;

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('seats', { aggregation: 'last' });
});
afterAll(() => setting.stop());

test('two days after a grant of a day and one that lasts, the level is taken off the second', async () => {
  const customer = await setting.customer();
  const now = Date.parse((await setting.server.call('GET', '/test-clock')).json.now);
  const expires_at = new Date(now + 24 * HOUR_MS).toISOString();
  await setting.grant(customer, 'seats', { amount: 50, expires_at });
  await setting.grant(customer, 'seats', { amount: 100 });
  expect((await setting.track(customer, 'seats', { value: 15 })).status).toBe(200);
  expect(await setting.balance(customer, 'seats')).toMatchObject({ limit: 150, remaining: 135 });
  expect((await setting.post('/test-clock', { advance: 'P2D' })).status).toBe(200);
  expect((await setting.check(customer, 'seats')).json).toMatchObject({
    limit: 100,
    consumed: 15,
    balance: 85,
  });
  const { data } = (await setting.server.call('GET', `/customers/${customer}/grants`)).json;
  expect(data).toMatchObject([{ amount: 100, remaining: 85 }]);
});

test('a grant by hand is whole in each period of an allowance', async () => {
  const customer = await setting.customer();
  await setting.grant(customer, 'seats', { amount: 10, reset_interval: 'day' });
  await setting.grant(customer, 'seats', { amount: 100 });
  for (let day = 0; day < 3; day += 1) {
    expect((await setting.check(customer, 'seats')).json).toMatchObject({
      limit: 110,
      consumed: 0,
    });
    expect((await setting.track(customer, 'seats', { value: 60 })).json.balance).toBe(50);
    expect((await setting.post('/test-clock', { advance: 'P1D' })).status).toBe(200);
  }
});
