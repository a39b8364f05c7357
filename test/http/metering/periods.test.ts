// Months pass on the clock of the service.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { MovedClock } from '../../support/moved-clock.ts';
import { until } from '../../support/until.ts';
import { type Fields, Setting, testBooksClose } from './setting.ts';

const clock = new MovedClock();
let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open({ clock });
  await setting.meter('api');
  await setting.meter('users', { aggregation: 'unique', unique_property: 'user' });
});
beforeEach(() => clock.travel(JAN));
afterAll(() => setting.stop());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string): number => Date.parse(text);
const iso = (ms: number): string => new Date(ms).toISOString();

async function customerWith(fields: Fields): Promise<string> {
  const customer = await setting.customer();
  await setting.grant(customer, 'api', fields);
  return customer;
}

const JAN = at('2028-01-31T12:00:00Z');
const FEB = at('2028-02-29T12:00:00Z');
const MAR = at('2028-03-31T12:00:00Z');

test('a monthly period from 31 January ends on 29 February, and the next on 31 March', async () => {
  const customer = await customerWith({ reset_interval: 'month' });
  const seen = async () => {
    const { json } = await setting.check(customer, 'api');
    // `start` is the time of the first request, which may be slightly later than the jump.
    return [json.period_start, json.period_end, json.consumed].map((part: unknown) =>
      typeof part === 'string' ? part.slice(0, 16) : part,
    );
  };
  await setting.track(customer, 'api', { value: 4 });
  expect(await seen()).toEqual(['2028-01-31T12:00', '2028-02-29T12:00', 4]);
  clock.travel(FEB + HOUR);
  expect(await seen()).toEqual(['2028-02-29T12:00', '2028-03-31T12:00', 0]);
  clock.travel(MAR + HOUR);
  expect(await seen()).toEqual(['2028-03-31T12:00', '2028-04-30T12:00', 0]);
});

test("late events count in their own period, and leave today's balance as it was", async () => {
  const customer = await customerWith({ reset_interval: 'month' });
  await setting.track(customer, 'api', { value: 1 });
  clock.travel(FEB + 2 * HOUR);
  await setting.track(customer, 'api', { value: 2 });
  const late = (timestamp: number, value: number) =>
    setting.ingest([{ name: 'api', customer_id: customer, timestamp: iso(timestamp), value }]);
  expect((await late(FEB - HOUR, 5)).status).toBe(200);
  expect((await late(JAN - HOUR, 3)).status).toBe(200);
  expect((await late(FEB + HOUR, 4)).status).toBe(200);
  expect(await setting.consumed(customer, 'api')).toEqual([3, 6, 6]);
  expect(await setting.balance(customer, 'api')).toMatchObject({ consumed: 6, balance: 4 });
});

test("an event just ahead of the period's end is counted when the next begins", async () => {
  const customer = await customerWith({ reset_interval: 'hour' });
  const { json } = await setting.check(customer, 'api');
  const end = at(json.period_end as string);
  clock.travel(end - 60_000);
  const event = { name: 'api', customer_id: customer, value: 3 };
  await setting.ingest([
    { ...event, timestamp: iso(end - 1) },
    { ...event, timestamp: iso(end), value: 4 },
  ]);
  expect((await setting.check(customer, 'api')).json).toMatchObject({ consumed: 3, balance: 7 });
  clock.travel(end + 1000);
  expect((await setting.check(customer, 'api')).json).toMatchObject({ consumed: 4, balance: 6 });
});

test('an allowance rolls over to its cap and for its number of periods; a top-up goes on', async () => {
  const rollover = { max: 6, expires_after_periods: 1 };
  const customer = await customerWith({ reset_interval: 'day', rollover });
  await setting.grant(customer, 'api', { amount: 5 });
  await setting.track(customer, 'api', { value: 2 });
  clock.travel(JAN + DAY + HOUR);
  const parts = async () => {
    const row = await setting.balance(customer, 'api');
    const breakdown = row?.['breakdown'] as { source: string; remaining: number }[];
    return [
      row?.['limit'],
      Object.fromEntries(breakdown.map(({ source, remaining }) => [source, remaining])),
    ];
  };
  expect(await parts()).toEqual([21, { rollover: 6, manual: 10, top_up: 5 }]);
  await setting.track(customer, 'api', { value: 18 });
  expect(await parts()).toEqual([21, { rollover: 0, manual: 0, top_up: 3 }]);
  clock.travel(JAN + 2 * DAY + HOUR);
  expect(await parts()).toEqual([13, { manual: 10, top_up: 3 }]);
});

test('a unique meter counts values again in a new period, and once when they come late', async () => {
  const customer = await setting.customer();
  await setting.grant(customer, 'users', { reset_interval: 'day' });
  const see = (user: string, timestamp: number) =>
    setting.ingest([
      { name: 'users', customer_id: customer, metadata: { user }, timestamp: iso(timestamp) },
    ]);
  await see('a', JAN + HOUR / 60);
  clock.travel(JAN + DAY + HOUR);
  await see('a', JAN + DAY + HOUR);
  await see('a', JAN + HOUR);
  await see('b', JAN + HOUR);
  expect(await setting.consumed(customer, 'users')).toEqual([2, 1]);
});

test('the event that an allowance is used up is written once in each period', async () => {
  const customer = await customerWith({ reset_interval: 'day' });
  const exhaust = async () => {
    for (let i = 0; i < 3; i += 1) await setting.track(customer, 'api', { value: 10 });
  };
  await exhaust();
  clock.travel(JAN + DAY + HOUR);
  await exhaust();
  const told = await setting.server.sql<{ type: string }[]>`
    select type from events where account_id = ${customer} and object_type = 'ENTITLEMENT' order by sequence`;
  expect(told.map(({ type }) => type.replace('entitlement.', ''))).toEqual([
    'granted',
    'exhausted',
    'granted',
    'exhausted',
  ]);
});

test('a new period is given once, however many ask at its start', async () => {
  const customer = await customerWith({ reset_interval: 'day' });
  clock.travel(JAN + 3 * DAY + HOUR);
  await Promise.all(Array.from({ length: 50 }, () => setting.track(customer, 'api')));
  expect(await setting.balance(customer, 'api')).toMatchObject({ limit: 10, consumed: 50 });
});

test('an alarm begins the new period without a call', async () => {
  const customer = await customerWith({ reset_interval: 'day' });
  clock.travel(JAN + DAY + HOUR);
  await until(
    'the period has rolled',
    async () => (await setting.consumed(customer, 'api')).length === 2,
    5000,
  );
});

test('a check is expired after the end of its grant, and a later grant begins anew', async () => {
  const customer = await customerWith({ expires_at: iso(JAN + DAY) });
  clock.travel(JAN + DAY + HOUR);
  expect((await setting.check(customer, 'api')).json).toMatchObject({
    allowed: false,
    reason: 'expired',
    balance: 0,
  });
  await setting.grant(customer, 'api');
  expect((await setting.check(customer, 'api')).json).toMatchObject({ reason: 'ok', balance: 10 });
});

testBooksClose(() => setting);
