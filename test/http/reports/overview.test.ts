// GET /reports/overview: a random book of two weeks, against a reckoning of its own; whose numbers
// they are; and usage as soon as it is acknowledged.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { daysOf } from '../../../src/http/wire/overview.ts';
import { ids } from '../../../src/platform/ids.ts';
import { untilFolded } from '../../support/folded.ts';
import { type Random, withSeed } from '../../support/random.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Half an hour off, and without summer time: each day has 24 hours. */
const ZONE = 'Asia/Kolkata';

const read = async (key = server.organisation.testKey) => {
  const { status, json } = await server.call('GET', '/reports/overview', { key });
  expect([status, json.error]).toEqual([200, undefined]);
  return json;
};

/** The day and the hour of an instant on the wall, by another road than the service's. */
function wall(at: number): { date: string; hour: number } {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(ZONE);
  return { date: zoned.toPlainDate().toString(), hour: zoned.hour };
}

type Row = { at: number; units: number };

function reckoned(rows: readonly Row[], now: number) {
  const today = Temporal.PlainDate.from(wall(now).date);
  const on = (date: Temporal.PlainDate) => {
    const own = rows.filter(({ at }) => wall(at).date === date.toString());
    const hours = Array.from({ length: 24 }, (_, hour) =>
      own.filter(({ at }) => wall(at).hour === hour).reduce((sum, { units }) => sum + units, 0),
    );
    return { total: own.reduce((sum, { units }) => sum + units, 0), hours };
  };
  return { today: on(today), last_week: on(today.subtract({ days: 7 })) };
}

const scaled = ({ today, last_week }: ReturnType<typeof reckoned>) => {
  const shown = (units: number) => (units / 100).toFixed(2);
  const day = ({ total, hours }: typeof today) => ({
    total: shown(total),
    hours: hours.map(shown),
  });
  return { today: day(today), last_week: day(last_week) };
};

/** Rows of payments and of refunds, of this organisation or another one. */
async function pay(
  random: Random,
  organisationId: string,
  rows: readonly (Row & { currency: string })[],
) {
  for (const { at, units, currency } of rows) {
    const time = new Date(at);
    if (units > 0) {
      await server.sql`
        insert into payments (slot, id, organisation_id, mode, status, amount, currency, transaction_type, metadata, attempt,
          processor, asks, sequence, event_at, created_at, paid_at)
        values (${random.integer(0, 1023)}, ${ids.next()}, ${organisationId}, 'test', ${random.pick(['succeeded', 'refunded'])},
          ${units}, ${currency}, 'ONE_TIME', '{}', 1, 'sandbox', 0, 1, ${time}, ${time}, ${time})`;
    } else {
      await server.sql`
        insert into refunds (slot, id, payment_id, organisation_id, mode, amount, currency, status, reason, asks, created_at, settled_at)
        values (1, ${ids.next()}, ${ids.next()}, ${organisationId}, 'test', ${-units}, ${currency}, 'succeeded', 'duplicate', 0,
          ${new Date(at - DAY)}, ${time})`;
    }
  }
}

test('the overview adds up two weeks of random payments', async () => {
  await withSeed(async (random) => {
    const { sql, organisation, other } = server;
    await server.call('PATCH', '/organization', { body: { timezone: ZONE } });
    const { json: meter } = await server.call('POST', '/meters', {
      body: { slug: 'api', aggregation: 'sum' },
    });
    const { json: calls } = await server.call('POST', '/meters', {
      body: { slug: 'calls', aggregation: 'count', scale: 0 },
    });
    const now = Date.now();
    const near = () => now - random.integer(0, 15 * 24 * 60) * 60_000;
    const paid = Array.from({ length: 300 }, () => ({
      at: near(),
      units: random.integer(1, 9999) * (random.chance(0.3) ? -1 : 1),
      currency: random.pick(['USD', 'EUR']),
    }));
    await pay(random, organisation.id, paid);
    await pay(random, other.id, paid.slice(0, 50));
    const failed = Array.from({ length: 60 }, () => ({ at: near(), units: 1 }));
    for (const { at } of failed) {
      await sql`
        insert into payments (slot, id, organisation_id, mode, status, amount, currency, transaction_type, metadata, attempt,
          processor, asks, sequence, event_at, created_at)
        values (1, ${ids.next()}, ${organisation.id}, 'test', ${random.pick(['failed', 'errored'])}, 5, 'USD', 'ONE_TIME', '{}', 1,
          'sandbox', 0, 1, now(), ${new Date(at)})`;
    }
    const quarter = () => Math.floor(near() / 900_000) * 900_000;
    const quarters = [...new Set(Array.from({ length: 200 }, quarter))];
    const used = quarters.map((at) => ({ at, units: random.integer(-50, 500) }));
    for (const { at, units } of used) {
      await sql`insert into usage_totals values (${meter.id}, ${new Date(at)}, ${units * 1_000_000}, 3)`;
      await sql`insert into usage_totals values (${calls.id}, ${new Date(at)}, ${999}, ${units})`;
    }
    const denied = quarters.map((at) => ({ at, units: random.integer(1, 9) }));
    for (const { at, units } of denied) {
      await sql`insert into denial_counts values (${organisation.id}, 'test', ${new Date(at)}, ${meter.id}, ${units})`;
    }
    const overview = await read();
    // It may be the next day since.
    expect(Date.parse(overview.at)).toBeGreaterThanOrEqual(now);
    const at = Date.parse(overview.at);
    expect(overview.today.hours.map((hour: string) => wall(Date.parse(hour)).hour)).toEqual(
      Array.from({ length: overview.today.hours.length }, (_, hour) => hour),
    );
    for (const currency of ['EUR', 'USD']) {
      const own = paid.filter((row) => row.currency === currency);
      const found = overview.revenue.find((one: { currency: string }) => one.currency === currency);
      const expected = scaled(reckoned(own, at));
      const isNothing = !own.some((row) =>
        [0, 7].some((days) => wall(row.at).date === wall(at - days * DAY).date),
      );
      expect(found ?? null).toEqual(isNothing ? null : { currency, ...expected });
    }
    expect(overview.usage).toEqual([
      { feature_key: 'api', ...reckoned(used, at) },
      { feature_key: 'calls', ...reckoned(used, at) },
    ]);
    expect(overview.denials).toEqual(reckoned(denied, at));
    const { today, last_week } = reckoned(failed, at);
    expect(overview.failed_payments).toEqual({ today: today.total, last_week: last_week.total });
  });
}, 60_000);

test('the overview counts each subscription once by its state', async () => {
  const { sql, other } = server;
  const row = (status: string, overdue: string, trial: Date | null) => sql`
    insert into subscriptions (slot, id, organisation_id, mode, customer_id, bundle_id, product_id, price_id, plan_name, price_list_name,
      unit_amount, currency, "interval", interval_count, quantity, metadata, status, overdue, anchor_at, zone, period_index, period_start,
      period_end, period_price, trial_end, ended_at, keep_invoices, open, credit, sequence, event_at, created_at, live)
    values (1, ${ids.next()}, ${other.id}, 'test', ${ids.next()}, ${ids.next()}, ${ids.next()}, ${ids.next()}, 'Pro', 'Monthly', 100, 'USD',
      'month', 1, 1, '{}', ${status}, ${overdue}, now(), 'UTC', 0, now(), now() + interval '1 month', 100, ${trial},
      ${status === 'canceled' ? new Date() : null}, false, '[]', 0, 1, now(), now(), ${status !== 'canceled'})`;
  const [past, future] = [new Date(Date.now() - DAY), new Date(Date.now() + DAY)];
  await row('active', 'clear', null);
  await row('active', 'clear', past);
  await row('active', 'clear', future);
  await row('active', 'warning', null);
  await row('active', 'warning', past);
  await row('active', 'blocked', null);
  await row('paused', 'clear', future);
  await row('canceled', 'clear', null);
  const { subscriptions } = await read(other.testKey);
  expect(subscriptions).toEqual({ active: 2, trialing: 1, past_due: 2, paused: 1, blocked: 1 });
  const none = { active: 0, trialing: 0, past_due: 0, paused: 0, blocked: 0 };
  expect((await read(other.liveKey)).subscriptions).toEqual(none);
  expect((await read()).subscriptions).toEqual(none);
  // What was counted is kept for a second, and no longer.
  await row('paused', 'clear', null);
  await until(
    'it is counted again',
    async () => (await read(other.testKey)).subscriptions.paused === 2,
  );
});

test('the overview has usage as soon as it is acknowledged', async () => {
  const key = server.other.testKey;
  await server.call('POST', '/meters', { key, body: { slug: 'live' } });
  const { json: customer } = await server.call('POST', '/customers', { key, body: {} });
  for (const value of [5, 2, -1]) {
    const body = { feature_key: 'live', customer_id: customer.id, value };
    expect((await server.call('POST', '/track', { key, body })).status).toBe(200);
  }
  expect((await read(key)).usage).toMatchObject([{ feature_key: 'live', today: { total: 6 } }]);
  // And once, when it is in the bins.
  await untilFolded(server.sql);
  expect((await read(key)).usage).toMatchObject([{ feature_key: 'live', today: { total: 6 } }]);
  const summed = (
    await server.sql<{ value: string }[]>`
    select sum(value)::text as value from usage_totals t join meters m on m.id = t.meter_id where m.slug = 'live'`
  )[0];
  expect(summed?.value).toBe('6000000');
});

test("the overview counts today's webhook deliveries by outcome, of endpoints that exist", async () => {
  const key = server.other.testKey;
  const url = 'http://localhost:65000/';
  const make = async () =>
    (await server.call('POST', '/webhook-endpoints', { key, body: { url } })).json;
  const [one, two] = [await make(), await make()];
  await server.call('PATCH', `/webhook-endpoints/${two.id}`, { key, body: { status: 'disabled' } });
  await server.sql`delete from deliveries`;
  const deliver = (status: string, at: number) => server.sql`
    insert into deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    values (uuidv7(), ${one.id}, uuidv7(), 'tag.created', ${status}, now(), ${new Date(at)})`;
  for (const status of ['delivered', 'delivered', 'pending', 'held', 'exhausted']) {
    await deliver(status, Date.now());
  }
  await deliver('delivered', Date.now() - 2 * DAY);
  expect((await read(key)).webhooks).toEqual({
    endpoints: 2,
    disabled: 1,
    delivered: 2,
    waiting: 2,
    failed: 1,
  });
});

test('the overview has days of 23 and 25 hours', () => {
  const berlin = 'Europe/Berlin';
  // Clocks went forward on 29 March 2026 and back on 25 October.
  const spring = daysOf(Date.UTC(2026, 2, 29, 12), berlin);
  const autumn = daysOf(Date.UTC(2026, 9, 25, 12), berlin);
  const count = (hours: readonly number[]) => hours.length - 1;
  expect([count(spring.today), count(spring.before)]).toEqual([23, 24]);
  expect([count(autumn.today), count(autumn.before)]).toEqual([25, 24]);
  expect(new Date(spring.before[0]!).toISOString()).toBe('2026-03-21T23:00:00.000Z');
});
