// GET /usage: the bins of random histories are what was sent, to the event and at once.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Random, withSeed } from '../../support/random.ts';
import { Setting, testBooksClose, times } from '../metering/setting.ts';
import { untilFolded } from '../../support/folded.ts';
import { ask, type Asked, binsOf, expectReckoned, type Sent, sumOf } from './reckoning.ts';

setDefaultTimeout(120_000);

const DAY = 86_400_000;
const MINUTE = 60_000;
const FEATURES = { tokens: false, calls: true } as const;
type Feature = keyof typeof FEATURES;

let setting: Setting;
const sent: Sent[] = [];
let customers: string[];
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('tokens', { scale: 3 });
  await setting.meter('calls', { aggregation: 'count' });
  await setting.meter('limited');
  customers = await times(3, () => setting.customer());
  // One has a period a day, one a period of a month, one has no grant at all.
  const [daily = '', monthly = ''] = customers;
  const effective_at = new Date(Date.now() - 34 * DAY).toISOString();
  for (const feature of ['tokens', 'calls', 'limited']) {
    await setting.grant(daily, feature, { effective_at, amount: 1000, reset_interval: 'day' });
    await setting.grant(monthly, feature, { effective_at, amount: 10, reset_interval: 'month' });
  }
});
afterAll(() => setting.stop());

/** Thousandths: mostly small, now and then a correction. */
const valueOf = (random: Random): number =>
  random.chance(0.2) ? -random.integer(1, 3000) : random.integer(0, 5000);

type Step = { readonly customer: string; readonly feature: Feature; readonly value: number };

const stepOf = (random: Random): Step => ({
  customer: random.pick(customers),
  feature: random.pick(['tokens', 'calls'] as const),
  value: valueOf(random),
});

const bodyOf = ({ customer, feature, value }: Step, more: object = {}) => ({
  customer_id: customer,
  feature_key: feature,
  value: (value / 1000).toFixed(3),
  ...more,
});

/** The same body, to be sent twice. */
async function trackTwice(random: Random): Promise<void> {
  const step = stepOf(random);
  const body = bodyOf({ ...step, feature: 'tokens' }, { idempotency_key: crypto.randomUUID() });
  const [first, again] = [await setting.post('/track', body), await setting.post('/track', body)];
  expect([first.json.duplicate, again.json.duplicate]).toEqual([false, true]);
  sent.push({ ...step, feature: 'tokens', at: Date.parse(first.json.timestamp as string) });
}

async function trackMany(random: Random): Promise<void> {
  const steps = Array.from({ length: random.integer(1, 20) }, () => stepOf(random));
  const tracks = steps.map((step) => bodyOf({ ...step, value: whole(step) }));
  const { json } = await setting.post('/track/batch', { tracks });
  for (const [index, step] of steps.entries()) {
    const at = Date.parse(json.results[index].timestamp as string);
    sent.push({ ...step, value: whole(step), at });
  }
}

/** Units of a meter of six decimals. */
const whole = ({ value }: Step): number => Math.round(value / 1000) * 1000;

async function ingestMany(random: Random): Promise<void> {
  const steps = Array.from({ length: random.integer(1, 60) }, () => {
    const late = random.integer(0, 34 * 24 * 60) * MINUTE + random.integer(0, MINUTE);
    const ahead = random.chance(0.05) ? random.integer(0, 4) * MINUTE : 0;
    return { ...stepOf(random), at: Date.now() - (ahead === 0 ? late : -ahead) };
  });
  const events = steps.map(({ customer, feature, value, at }) => ({
    name: feature,
    customer_id: customer,
    value: (value / 1000).toFixed(3),
    timestamp: new Date(at).toISOString(),
  }));
  expect((await setting.ingest(events)).json.inserted).toBe(events.length);
  sent.push(...steps);
}

/** Refused usage is none. */
async function refuseOne(random: Random): Promise<void> {
  const body = { customer_id: random.pick(customers.slice(2)), feature_key: 'limited', value: 9 };
  const { status } = await setting.post('/track', {
    ...body,
    overage: 'reject',
    idempotency_key: crypto.randomUUID(),
  });
  expect(status).toBe(402);
}

const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe'];

/** Any instants, quarters, or one moment's neighbours. */
function rangeOf(random: Random): { from: number; to: number } {
  const back = () => Date.now() - random.integer(-10 * MINUTE, 36 * DAY);
  const [a, b] = [back(), random.chance(0.2) ? sent.at(-1)!.at : back()];
  const place = random.chance(0.4) ? (at: number) => Math.floor(at / 900_000) * 900_000 : Number;
  const from = place(Math.min(a, b));
  return { from, to: Math.max(place(Math.max(a, b)), from + random.pick([1, 900_000, DAY])) };
}

async function expectRandom(random: Random): Promise<void> {
  const feature = random.pick(['tokens', 'calls'] as const);
  const range = rangeOf(random);
  const bin = range.to - range.from > 40 * DAY ? 'day' : random.pick(['hour', 'day', 'month']);
  const customer = random.chance(0.5) ? { customer: random.pick(customers) } : {};
  const asked: Asked = { feature, ...range, bin, timezone: random.pick(ZONES), ...customer };
  expectReckoned(await binsOf(setting, asked), sent, { asked, isCount: FEATURES[feature] });
}

test('usage of random histories is right when read after each call', async () => {
  await withSeed(async (random) => {
    for (let run = 0; run < 120; run += 1) {
      await random.pick([trackTwice, trackMany, ingestMany, refuseOne])(random);
      if (sent.length > 0) await expectRandom(random);
    }
  });
});

test('usage of random histories is the same when all is in bins', async () => {
  await untilFolded(setting.server.sql);
  await withSeed(async (random) => {
    for (let run = 0; run < 60; run += 1) await expectRandom(random);
  });
});

test('while many write, each answer of /usage has what was acknowledged before it', async () => {
  const customer = await setting.customer();
  const from = Date.now() - DAY;
  const asked = { feature: 'calls', customer, from, to: Date.now() + DAY, bin: 'month' };
  const acknowledged: string[] = [];
  const write = async () => {
    for (let n = 0; n < 25; n += 1) {
      acknowledged.push((await setting.track(customer, 'calls')).json.id as string);
    }
  };
  const writing = Promise.all(Array.from({ length: 8 }, write));
  for (let before = 0; before < 200; before = acknowledged.length) {
    const bins = await binsOf(setting, asked);
    expect(bins.reduce((sum, { value }) => sum + value!, 0)).toBeWithin(before, 201);
  }
  await writing;
  const { status } = await setting.ingest(
    Array.from({ length: 40 }, () => ({ name: 'calls', customer_id: customer })),
  );
  expect(status).toBe(200);
  const bins = await binsOf(setting, asked);
  expect(bins.reduce((sum, { value }) => sum + value!, 0)).toBe(240);
  sent.push(
    ...Array.from({ length: 240 }, () => ({
      customer,
      feature: 'calls',
      at: Date.now(),
      value: 1,
    })),
  );
});

test('exact_through of /usage is now, and without a range it has the last 30 days', async () => {
  const before = Date.now();
  const { status, json } = await setting.server.call('GET', '/usage?feature_key=tokens');
  expect(status).toBe(200);
  expect(Date.parse(json.exact_through)).toBeWithin(before, Date.now() + 1);
  expect(json.data).toHaveLength(30);
  const day = Math.floor(before / DAY) * DAY;
  const range = { feature: 'tokens', from: day - 29 * DAY, to: day + DAY };
  expectReckoned(json.data, sent, { asked: range, isCount: false });
});

test.each([
  ['hour', 24],
  ['month', 12],
])('/usage by %s answers the last %d by default', async (bin, count) => {
  const query = `feature_key=tokens&bin=${bin}&timezone=Asia/Kolkata`;
  const { json } = await setting.server.call('GET', `/usage?${query}`);
  expect(json.data).toHaveLength(count);
  const [first, last] = [json.data[0], json.data.at(-1)];
  const asked = { feature: 'tokens', from: Date.parse(first.start), to: Date.parse(last.end) };
  expect(Date.now()).toBeWithin(Date.parse(last.start), Date.parse(last.end));
  expectReckoned(json.data, sent, { asked, isCount: false });
});

test('/usage by the external id, and by the id of the customer', async () => {
  const id = await setting.customer({ external_customer_id: 'mine/ä' });
  await setting.track(id, 'tokens', { value: 7 });
  sent.push({ customer: id, feature: 'tokens', at: Date.now(), value: 7000 });
  const range = { feature: 'tokens', from: Date.now() - DAY, to: Date.now() + 1000, bin: 'month' };
  for (const who of [{ external_customer_id: 'mine/ä' }, { customer: id }]) {
    const { json } = await ask(setting, { ...range, ...who });
    expect(json.data.reduce((sum: number, bin: { value: number }) => sum + bin.value, 0)).toBe(7);
  }
});

test('usage of more than 15 digits is null in JSON, and whole in CSV', async () => {
  await setting.meter('huge', { scale: 0 });
  const value = '999999999999999';
  for (const customer of await times(3, () => setting.customer())) {
    expect((await setting.track(customer, 'huge', { value })).status).toBe(200);
  }
  const asked = { feature: 'huge', from: Date.now() - DAY, to: Date.now() + DAY, bin: 'month' };
  const { json } = await ask(setting, asked);
  const full = json.data.filter(({ events }: { events: number }) => events > 0);
  expect(full).toEqual([expect.objectContaining({ value: null, events: 3 })]);
  const { text } = await ask(setting, { ...asked, format: 'csv' });
  expect(text).toContain(',2999999999999997,3\r\n');
});

test('usage that a test clock has moved is at the time of that clock', async () => {
  const { json: moved } = await setting.post('/test-clock', { advance: 'P50D' });
  const now = Date.parse(moved.now as string);
  const customer = await setting.customer();
  await setting.track(customer, 'tokens', { value: 3 });
  const { json } = await setting.server.call(
    'GET',
    `/usage?feature_key=tokens&customer_id=${customer}`,
  );
  expect(Date.parse(json.exact_through)).toBeGreaterThanOrEqual(now);
  expect(json.data.at(-1)).toEqual(expect.objectContaining({ value: 3, events: 1 }));
  const all = { feature: 'tokens', from: Date.now() - 40 * DAY, to: Date.now() + DAY };
  expectReckoned(await binsOf(setting, all), sent, { asked: all, isCount: false });
  expect(sumOf(sent, all, false).events).not.toBe(0);
});

test('/usage has no answer while older usage is still being counted', async () => {
  const { sql } = setting.server;
  await sql`insert into usage_backfills (relation, page) values ('none', 0)`;
  const get = async (path: string) => (await setting.server.call('GET', path)).status;
  expect(await get('/usage?feature_key=tokens')).toBe(503);
  expect(await get('/usage/events')).toBe(503);
  expect(await get(`/usage/events?customer_id=${customers[0]}`)).toBe(503);
  await sql`delete from usage_backfills where relation = 'none'`;
});

testBooksClose(() => setting);
