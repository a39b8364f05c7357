// A meter that carries: each period begins with the level of the one before, over HTTP
// (docs/spec/balance.md#levels).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Watching } from '../alerts/watching.ts';
import { type Fields, type Setting, testBooksClose } from './setting.ts';

setDefaultTimeout(120_000);

const HOUR_MS = 3_600_000;

let watching: Watching;
let setting: Setting;
beforeAll(async () => {
  watching = await Watching.open();
  ({ setting } = watching);
});
afterAll(() => setting.stop());

/** A customer of a new meter with 10 a day. */
async function given(meter: Fields = { carry: true }) {
  const feature = await watching.feature({ aggregation: 'last', ...meter });
  const customer = await setting.customer();
  await setting.grant(customer, feature, { amount: 10, reset_interval: 'day' });
  const of = { customer, feature, start: await now() };
  return { ...of, level: () => levelOf(of), use: (value: number) => use(of, value) };
}

const now = async (): Promise<number> =>
  Date.parse((await setting.server.call('GET', '/test-clock')).json.now);

async function advance(duration: string): Promise<void> {
  expect((await setting.post('/test-clock', { advance: duration })).status).toBe(200);
}

type Of = { readonly customer: string; readonly feature: string };

/** Consumed, balance, and what is left of each grant. */
async function levelOf({ customer, feature }: Of): Promise<unknown> {
  const { json } = await setting.check(customer, feature);
  const row = await setting.balance(customer, feature);
  const grants = (await setting.server.call('GET', `/customers/${customer}/grants`)).json.data;
  expect(row).toMatchObject({ consumed: json.consumed, remaining: json.balance });
  return [json.consumed, json.balance, grants.map(({ remaining }: Fields) => remaining)];
}

async function use({ customer, feature }: Of, value: number): Promise<void> {
  expect((await setting.track(customer, feature, { value })).status).toBe(200);
}

async function useAt({ customer, feature }: Of, value: number, at: number): Promise<void> {
  const timestamp = new Date(at).toISOString();
  const reply = await setting.ingest([{ name: feature, customer_id: customer, value, timestamp }]);
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
}

test('each day begins with the level of the day before, until an event sets it', async () => {
  const seats = await given();
  expect(await seats.level()).toEqual([0, 10, [10]]);
  await seats.use(7);
  for (let day = 0; day < 3; day += 1) {
    expect(await seats.level()).toEqual([7, 3, [3]]);
    await advance('P1D');
  }
  await seats.use(4);
  await advance('P2D');
  expect(await seats.level()).toEqual([4, 6, [6]]);
  expect(await setting.consumed(seats.customer, seats.feature)).toEqual([7, 7, 7, 4, 4, 4]);
});

test('without carry each day begins with nothing', async () => {
  const seats = await given({});
  await seats.use(7);
  await advance('P1D');
  expect(await seats.level()).toEqual([0, 10, [10]]);
});

test('a level that was read again from the database is carried on', async () => {
  const seats = await given();
  await seats.use(7);
  setting.server.ledger.forgetAll();
  await advance('P1D');
  setting.server.ledger.forgetAll();
  expect(await seats.level()).toEqual([7, 3, [3]]);
  setting.server.ledger.forgetAll();
  await useAt(seats, 5, seats.start + 23 * HOUR_MS);
  expect(await seats.level()).toEqual([5, 5, [5]]);
  setting.server.ledger.forgetAll();
  expect(await seats.level()).toEqual([5, 5, [5]]);
});

test('a late event at the end of a day counts for all days after it without one of their own', async () => {
  const seats = await given();
  await seats.use(7);
  await advance('P3D');
  await seats.use(2);
  await advance('P2D');
  // The first three days; the fourth has an event.
  await useAt(seats, 9, seats.start + 23 * HOUR_MS);
  expect(await seats.level()).toEqual([2, 8, [8]]);
  expect(await setting.consumed(seats.customer, seats.feature)).toEqual([9, 9, 9, 2, 2, 2]);
  // The fourth day goes on as it was.
  await useAt(seats, 8, seats.start + 71 * HOUR_MS);
  expect(await setting.consumed(seats.customer, seats.feature)).toEqual([9, 9, 8, 2, 2, 2]);
  await useAt(seats, 6, seats.start + 95 * HOUR_MS);
  expect(await seats.level()).toEqual([6, 4, [4]]);
});

test('the limit holds for a carried level, and no event is invented', async () => {
  const { customer, feature, ...seats } = await given();
  await seats.use(7);
  await advance('P2D');
  const over = { value: 11, overage: 'reject' };
  expect((await setting.track(customer, feature, over)).status).toBe(402);
  expect((await setting.check(customer, feature, { value: 4 })).json.allowed).toBe(false);
  expect((await setting.check(customer, feature, { value: 3 })).json.allowed).toBe(true);
  const path = `/usage/events?feature_key=${feature}&customer_id=${customer}`;
  const { data } = (await setting.server.call('GET', path)).json;
  expect(data.map(({ value }: Fields) => value)).toEqual([7]);
});

test('an alert of a carried level stays triggered, and tells again once it was led back', async () => {
  const { customer, feature, start, ...seats } = await given();
  await watching.alert(feature, { type: 'usage', threshold: 8 });
  await seats.use(9);
  await advance('P1D');
  await seats.use(9);
  expect(await watching.told(customer, feature)).toEqual(['triggered usage 8']);
  await seats.use(3);
  await advance('P1D');
  expect(await watching.told(customer, feature)).toEqual([
    'triggered usage 8',
    'recovered usage 8',
  ]);
  // Late, and told at once.
  await useAt({ customer, feature }, 9, start + 47 * HOUR_MS);
  expect(await seats.level()).toEqual([9, 1, [1]]);
  expect(await watching.triggered(customer)).toEqual(['usage 8']);
});

testBooksClose(() => setting);
