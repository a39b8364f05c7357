// What is committed of a reservation is usage: on a meter that counts as many events as units, on
// one that sums one event. GET /usage, its events and decisions say so.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { untilFolded } from '../../../support/folded.ts';
import { type Asked, binsOf } from '../../usage-series/reckoning.ts';
import { Setting, testBooksClose } from '../setting.ts';

const DAY = 86_400_000;

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('tokens');
  await setting.meter('calls', { aggregation: 'count', scale: 0 });
  customer = await setting.customer();
  for (const feature of ['tokens', 'calls']) {
    await setting.grant(customer, feature, { amount: 10 ** 8 });
    await setting.track(customer, feature, { value: 3 });
    await commit(feature, 10, 4);
    await commit(feature, 10, 25);
    await setting.track(customer, feature, { value: -1 });
    const open = await reserve(feature, 7);
    const released = await reserve(feature, 9);
    await setting.server.call('POST', `/reservations/${released}/release`);
    expect(open).not.toBe(released);
  }
});
afterAll(() => setting.stop());

async function reserve(feature: string, amount: number): Promise<string> {
  const body = { feature_key: feature, customer_id: customer, amount };
  return (await setting.post('/reservations', body)).json.id;
}

async function commit(feature: string, amount: number, value: number): Promise<void> {
  const id = await reserve(feature, amount);
  const { status } = await setting.post(`/reservations/${id}/commit`, { value });
  expect(status).toBe(200);
}

const FEATURES: [string, number, number][] = [
  // feature, consumed, events: 10 of the 25 were held, and the rest is another event; -1 is one,
  // too
  ['tokens', 31, 5],
  ['calls', 29, 31],
];

/** What a query comes to in all. */
async function sum(asked: Asked): Promise<[number, number]> {
  const bins = await binsOf(setting, asked);
  return [
    bins.reduce((total, { value }) => total + Number(value), 0),
    bins.reduce((total, { events }) => total + events, 0),
  ];
}

test.each(FEATURES)(
  'usage over time of the reserved feature %s is what was consumed',
  async (feature, used, events) => {
    expect(await setting.consumed(customer, feature)).toEqual([used]);
    const from = Date.now() - DAY;
    const whole = { feature, from: from - (from % DAY), to: from - (from % DAY) + 2 * DAY };
    // Cut: read from the events themselves.
    const cut = { ...whole, from: whole.from + 1 };
    const grouped = { ...whole, group_by: 'metadata.none' };
    const all = async () => {
      for (const asked of [whole, cut, grouped]) {
        expect(await sum(asked)).toEqual([used, events]);
        expect(await sum({ ...asked, customer })).toEqual([used, events]);
      }
    };
    await all();
    await untilFolded(setting.server.sql);
    await all();
  },
);

test.each(FEATURES)(
  'usage events and decisions of %s show the committed reservation',
  async (feature) => {
    const listed = async (path: string) =>
      (await setting.server.call('GET', path)).json.data as { value: number; reason?: string }[];
    const of = `customer_id=${customer}&feature_key=${feature}`;
    const range = `from=${iso(-DAY)}&to=${iso(DAY)}`;
    const events = await listed(`/usage/events?${of}&${range}`);
    const values = events.map(({ value }) => value);
    expect(values.toSorted((a, b) => a - b)).toEqual([-1, 3, 4, 10, 15]);
    const decided = await listed(`/decisions?${of}&at=${iso(0)}`);
    expect(decided.length).toBe(5);
  },
);

test('a commit of 3,000,000,000 units is one event', async () => {
  await commit('calls', 5, 3_000_000_000);
  const from = Date.now() - DAY;
  const to = Date.now() + DAY + 1;
  const all = [3_000_000_029, 3_000_000_031];
  for (const how of [{}, { group_by: 'metadata.none' }]) {
    expect(await sum({ feature: 'calls', from, to, ...how })).toEqual(all as [number, number]);
  }
});

const iso = (ms: number) => encodeURIComponent(new Date(Date.now() + ms).toISOString());

testBooksClose(() => setting);
