// GET /usage/events: raw events, newest first, in pages.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { retain } from '../../../src/database/retention.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { POLICY } from '../../store/keeping.ts';
import { type Random, withSeed } from '../../support/random.ts';
import {
  NOT_FOUND,
  refusal,
  type Fields,
  Setting,
  testBooksClose,
  times,
} from '../metering/setting.ts';

setDefaultTimeout(120_000);

const DAY = 86_400_000;
const MINUTE = 60_000;

type Event = {
  readonly id: string;
  readonly feature_key: string;
  readonly customer_id: string;
  readonly timestamp: string;
};

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
});
afterAll(() => setting.stop());

let meters = 0;
async function metered(fields: Fields = {}): Promise<string> {
  meters += 1;
  await setting.meter(`m${meters}`, fields);
  return `m${meters}`;
}

type Query = Readonly<Record<string, string | number>>;

async function page(query: Query, key?: string) {
  const text = new URLSearchParams(query as Record<string, string>).toString();
  const reply = await setting.server.call('GET', `/usage/events?${text}`, {
    ...(key !== undefined && { key }),
  });
  expect([reply.status, reply.json.error]).toEqual([200, undefined]);
  return reply.json as { data: Event[]; next_cursor: string | null };
}

/** All pages. `between` runs after each. */
async function pages(query: Query, between?: () => Promise<unknown>): Promise<Event[]> {
  const all: Event[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { data, next_cursor } = await page({ ...query, ...(cursor !== '' && { cursor }) });
    expect(data.length).toBeLessThanOrEqual(Number(query['limit'] ?? 50));
    all.push(...data);
    cursor = next_cursor;
    await between?.();
  }
  return all;
}

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);

/** Newest first. */
const inOrder = <T extends { readonly id: string; readonly at: number }>(events: readonly T[]) =>
  events.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));

type Sent = {
  readonly id: string;
  readonly at: number;
  readonly customer: string;
  readonly feature: string;
};

async function ingest(events: readonly Omit<Sent, 'id'>[]): Promise<Sent[]> {
  const { status, json } = await setting.ingest(
    events.map(({ at, customer, feature }) => ({
      name: feature,
      customer_id: customer,
      timestamp: new Date(at).toISOString(),
    })),
  );
  expect(status).toBe(200);
  return events.map((event, index) => ({ ...event, id: json.events[index].id as string }));
}

test('/usage/events lists each field, as it was reported', async () => {
  const feature = await metered({ scale: 2 });
  const customer = await setting.customer({ external_customer_id: 'ext-1' });
  const metadata = { a: 'x', b: 1.5, c: false };
  const { json } = await setting.track(customer, feature, { value: '-2.25', metadata });
  const late = new Date(Date.now() - DAY).toISOString();
  const { json: made } = await setting.ingest([
    { name: feature, customer_id: customer, value: 3, timestamp: late },
  ]);
  const { data, next_cursor } = await page({ feature_key: feature });
  expect(data).toEqual([
    {
      id: json.id,
      feature_key: feature,
      customer_id: customer,
      external_customer_id: 'ext-1',
      value: -2.25,
      timestamp: json.timestamp,
      recorded_at: json.timestamp,
      metadata,
    },
    {
      id: made.events[0].id,
      feature_key: feature,
      customer_id: customer,
      external_customer_id: 'ext-1',
      value: 3,
      timestamp: late,
      recorded_at: expect.stringContaining(new Date().toISOString().slice(0, 10)),
      metadata: null,
    },
  ] as never);
  expect(next_cursor).toBeNull();
});

test('/usage/events lists neither refused usage nor a repeated key', async () => {
  const feature = await metered();
  const customer = await setting.customer();
  const key = { idempotency_key: 'one' };
  await setting.track(customer, feature, key);
  await setting.track(customer, feature, key);
  const refused = { overage: 'reject', value: 9, idempotency_key: 'two' };
  expect((await setting.track(customer, feature, refused)).status).toBe(402);
  expect((await page({ customer_id: customer })).data).toHaveLength(1);
});

test('/usage/events lists events of max, last and unique meters', async () => {
  const customer = await setting.customer();
  for (const aggregation of ['max', 'last']) {
    const feature = await metered({ aggregation });
    await setting.track(customer, feature, { value: 4 });
    expect((await page({ feature_key: feature })).data).toHaveLength(1);
  }
});

/** A world of its own: two customers whose periods differ, and two meters. */
async function world(random: Random) {
  const features = [await metered(), await metered({ aggregation: 'count' })];
  const customers = await times(3, () => setting.customer());
  const [hourly = '', monthly = ''] = customers;
  const effective_at = new Date(Date.now() - 32 * DAY).toISOString();
  for (const feature of features) {
    const grant = { amount: 5, effective_at };
    await setting.grant(hourly, feature, { ...grant, reset_interval: 'hour' });
    await setting.grant(monthly, feature, { ...grant, reset_interval: 'month' });
  }
  const base = Date.now();
  const any = () => ({
    // Many at the same time.
    at: random.chance(0.5)
      ? base - random.integer(0, 10) * 3 * DAY
      : base - random.integer(-4, 30 * 24 * 60) * MINUTE,
    customer: random.pick(customers),
    feature: random.pick(features),
  });
  const sent = await ingest(Array.from({ length: 400 }, any));
  return { features, customers, sent, any };
}

test('/usage/events by every filter, in pages of every size', async () => {
  await withSeed(async (random) => {
    const { features, customers, sent } = await world(random);
    const own = (of: (one: Sent) => boolean) => idsOf(inOrder(sent.filter(of)));
    for (const customer of customers) {
      const all = await pages({ customer_id: customer, limit: random.integer(1, 60) });
      expect(idsOf(all)).toEqual(own((one) => one.customer === customer));
      for (const feature of features) {
        const query = { customer_id: customer, feature_key: feature, limit: random.integer(1, 60) };
        const found = await pages(query);
        const is = (one: Sent) => one.customer === customer && one.feature === feature;
        expect(idsOf(found)).toEqual(own(is));
      }
    }
    for (const feature of features) {
      const found = await pages({ feature_key: feature, limit: random.integer(5, 200) });
      expect(idsOf(found)).toEqual(own((one) => one.feature === feature));
    }
    const known = new Set(idsOf(sent));
    const everything = await pages({ limit: 200 });
    expect(idsOf(everything).filter((id) => known.has(id))).toEqual(own(() => true));
    for (let run = 0; run < 20; run += 1) {
      const [a, b] = [random.pick(sent).at, random.pick(sent).at];
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const customer = random.pick(customers);
      const found = await pages({
        customer_id: customer,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        limit: 7,
      });
      const is = (one: Sent) => one.customer === customer && one.at >= from && one.at < to;
      expect(idsOf(found)).toEqual(own(is));
    }
  });
});

test('/usage/events has no gap and no repeat while other events arrive, late ones too', async () => {
  await withSeed(async (random) => {
    const { features, sent, any } = await world(random);
    const feature = features[0]!;
    const later: Sent[] = [];
    const found = await pages({ feature_key: feature, limit: 10 }, async () => {
      later.push(...(await ingest(Array.from({ length: 5 }, any))));
    });
    const listed = idsOf(found);
    expect(new Set(listed).size).toBe(listed.length);
    const here = listed.filter((id) => sent.some((one) => one.id === id));
    expect(here).toEqual(idsOf(inOrder(sent.filter((one) => one.feature === feature))));
    const at = found.map(({ timestamp }) => Date.parse(timestamp));
    expect(at).toEqual(at.toSorted((a, b) => b - a));
    const known = new Map([...sent, ...later].map((one) => [one.id, one]));
    expect(listed.every((id) => known.get(id)?.feature === feature)).toBe(true);
  });
});

test('thousands of periods without usage do not shorten a page of /usage/events', async () => {
  const feature = await metered();
  const customer = await setting.customer();
  await setting.grant(customer, feature, { amount: 5, reset_interval: 'hour' });
  const now = Date.now();
  const sent = await ingest([
    { at: now - 30 * DAY, customer, feature },
    { at: now - 1000, customer, feature },
  ]);
  // Hours without usage, as the calendar leaves them.
  const { sql } = setting.server;
  await sql.begin(async (rows) => {
    const made = await rows<{ id: string; slot: number; at: Date }[]>`
      insert into accounts (id, organisation_id, customer_id, meter_id, period_start, kind, mode, slot)
      select uuidv7(), a.organisation_id, a.customer_id, a.meter_id, now() - n * interval '10 minutes', a.kind, a.mode, a.slot
      from (select * from accounts where customer_id = ${customer} limit 1) a, generate_series(1, 5000) n
      returning id, slot, period_start as at`;
    const [like] = await rows`
      select b.* from balances b join accounts a on a.slot = b.slot and a.id = b.id where a.customer_id = ${customer} limit 1`;
    const balances = made.map(({ id, slot, at }) => ({
      ...like,
      id,
      slot,
      period_end: new Date(at.getTime() + 600_000),
      aggregate: 0n,
      debits_posted: 0n,
      credits_posted: 0n,
    }));
    for (let from = 0; from < balances.length; from += 1000) {
      await rows`insert into balances ${rows(balances.slice(from, from + 1000) as never)}`;
    }
  });
  const first = await page({ customer_id: customer, limit: 10 });
  expect(idsOf(first.data)).toEqual(idsOf(sent).toReversed());
  expect(first.next_cursor).toBeNull();
  await sql`delete from balances b using accounts a where a.slot = b.slot and a.id = b.id and a.customer_id = ${customer} and uuid_extract_version(a.id) = 7`;
  await sql`delete from accounts where customer_id = ${customer} and uuid_extract_version(id) = 7`;
});

test('/usage/events of a customer with more accounts than one index query takes', async () => {
  const customer = await setting.customer();
  const features: string[] = [];
  for (let n = 0; n < 12; n += 1) features.push(await metered());
  const now = Date.now();
  const sent = await ingest(
    Array.from({ length: 30 }, (_, n) => {
      return { at: now - n * 7 * MINUTE, customer, feature: features[n % 12]! };
    }),
  );
  for (const limit of [3, 12, 100]) {
    expect(idsOf(await pages({ customer_id: customer, limit }))).toEqual(idsOf(sent));
  }
});

test('/usage/events over more quarters than a page reads', async () => {
  const feature = await metered();
  const customer = await setting.customer();
  const now = Date.now();
  const sent = await ingest([
    { at: now - 30 * DAY, customer, feature },
    { at: now - 1000, customer, feature },
  ]);
  // As after retention: they were used, and the events are gone.
  const { sql } = setting.server;
  const meter = sql`select id from meters where slug = ${feature}`;
  const quarters = sql`
    date_bin('15 minutes', now(), '2000-01-01') - n * interval '15 minutes', 0, 1 from generate_series(1, 600) n`;
  await sql`insert into usage_totals (meter_id, quarter, value, events) select (${meter}), ${quarters}`;
  await sql`
    insert into usage_bins (slot, account_id, quarter, value, events)
    select a.slot, a.id, b.* from (select slot, id from accounts where customer_id = ${customer} order by period_start limit 1) a,
      lateral (select ${quarters}) b`;
  for (const whose of [{ feature_key: feature }, { customer_id: customer }]) {
    const first = await page({ ...whose, limit: 10 });
    expect(idsOf(first.data)).toEqual([sent[1]!.id]);
    expect(first.next_cursor).not.toBeNull();
    const all = await pages({ ...whose, limit: 10 });
    expect(idsOf(all)).toEqual(idsOf(sent).toReversed());
  }
  await sql`delete from usage_totals where meter_id = (${meter}) and value = 0`;
  await sql`delete from usage_bins where value = 0 and account_id in (select id from accounts where customer_id = ${customer})`;
});

test('/usage/events keeps events that retention moves between two pages in place', async () => {
  const feature = await metered();
  const customer = await setting.customer();
  const now = Date.now();
  const sent = await ingest([1, 2, 3, 4].map((n) => ({ at: now - n * DAY, customer, feature })));
  const { sql } = setting.server;
  const later = { ...clock, now: () => now + 41 * DAY };
  const query = { customer_id: customer, limit: 1 };
  const found = await pages(query, () =>
    retain({ sql, clock: later, timers, ids, dryRun: false }, POLICY),
  );
  expect(idsOf(found)).toEqual(idsOf(sent));
  const archived = await sql`select from transfers_archive where id = any(${idsOf(sent)}::uuid[])`;
  expect(archived).toHaveLength(4);
  expect(idsOf(await pages({ feature_key: feature, limit: 3 }))).toEqual(idsOf(sent));
});

test('/usage/events has none of another organisation or mode', async () => {
  const feature = await metered();
  const customer = await setting.customer({ external_customer_id: 'theirs' });
  await setting.track(customer, feature);
  const { other, organisation } = setting.server;
  for (const key of [other.testKey, organisation.liveKey]) {
    for (const query of [{}, { feature_key: feature }]) {
      expect(await page(query as Query, key)).toEqual({ data: [], next_cursor: null });
    }
    for (const query of [`customer_id=${customer}`, 'external_customer_id=theirs']) {
      const reply = await setting.server.call('GET', `/usage/events?${query}`, { key });
      expect(refusal(reply)).toEqual(NOT_FOUND);
    }
  }
});

test('/usage/events of a filter without events is empty, and either id names a customer', async () => {
  const feature = await metered();
  const id = await setting.customer({ external_customer_id: 'both' });
  await setting.customer({ external_customer_id: 'another' });
  await setting.track(id, feature);
  const count = async (query: Query) => (await page(query)).data.length;
  expect(await count({ feature_key: 'nothing' })).toBe(0);
  expect(await count({ external_customer_id: 'both' })).toBe(1);
  expect(await count({ customer_id: id.toUpperCase() })).toBe(1);
  expect(await count({ external_customer_id: 'another' })).toBe(0);
});

testBooksClose(() => setting);
