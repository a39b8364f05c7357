// Old rows are removed, and no caller can tell: keys count once within their window, old periods
// and old payments work as before.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import type { Timers } from '../../ledger/ports.ts';
import { timers } from '../../src/platform/clock.ts';
import { times } from '../http/metering/setting.ts';
import { ask, buy, sell, sessionOf, submit } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { DAY_MS, Keeping } from './keeping.ts';

const MINUTE = 60_000;
const START = Date.parse('2028-01-10T12:00:00Z');

let keeping: Keeping;
beforeAll(async () => {
  keeping = await Keeping.open();
  await keeping.setting.meter('api');
  await keeping.setting.meter('users', { aggregation: 'unique', unique_property: 'user' });
}, 60_000);
afterEach(() => keeping.closes());
afterAll(() => keeping.stop());

async function customerWith(fields: object = {}, feature = 'api'): Promise<string> {
  const customer = await keeping.setting.customer();
  await keeping.setting.grant(customer, feature, { amount: 1000, ...fields });
  return customer;
}

test('retention keeps a key to the last minute of its window, and it counts anew after it', async () => {
  const { setting } = keeping;
  await keeping.travel(START);
  const customer = await customerWith();
  const used = async () => {
    const { json } = await setting.track(customer, 'api', { value: 7, idempotency_key: 'once' });
    return [json.duplicate, json.consumed];
  };
  const refused = async () => {
    const body = { value: 5000, overage: 'reject', idempotency_key: 'too much' };
    return (await setting.track(customer, 'api', body)).status;
  };
  expect(await used()).toEqual([false, 7]);
  expect(await refused()).toBe(402);
  await keeping.travel(START + 40 * DAY_MS - MINUTE);
  expect(must(await keeping.retain(), 'what went').rows['transfers']).toBe(0);
  expect(await used()).toEqual([true, 7]);
  await keeping.travel(START + 40 * DAY_MS + MINUTE);
  // The grant, the usage and the refusal.
  expect(must(await keeping.retain(), 'what went').rows['transfers']).toBe(3);
  expect(await used()).toEqual([false, 14]);
  expect(await used()).toEqual([true, 14]);
  expect(await refused()).toBe(402);
  // The second use of the key is removed like the first.
  await keeping.travel(START + 81 * DAY_MS);
  expect(must(await keeping.retain(), 'what went').rows['transfers']).toBe(2);
});

test('an event with a timestamp never counts twice: when its key is gone, it is refused', async () => {
  const { setting } = keeping;
  await keeping.travel(START);
  const customer = await customerWith();
  const sent = {
    name: 'api',
    customer_id: customer,
    timestamp: new Date(START + 5 * MINUTE).toISOString(),
    external_id: 'dated',
  };
  const send = async () => {
    const { status, json } = await setting.ingest([sent]);
    return [status, json.inserted];
  };
  expect(await send()).toEqual([200, 1]);
  await keeping.travel(START + 35 * DAY_MS + 4 * MINUTE);
  await keeping.retain({ keysMs: 36 * DAY_MS });
  expect(await send()).toEqual([200, 0]);
  await keeping.travel(START + 36 * DAY_MS + MINUTE);
  await keeping.retain({ keysMs: 36 * DAY_MS });
  expect(await send()).toEqual([400, undefined]);
});

test('late events and corrections count in an old period whose transfers are archived or dropped', async () => {
  const { setting } = keeping;
  await keeping.travel(START);
  const resets = {
    reset_interval: 'month',
    expires_at: new Date(START + 150 * DAY_MS).toISOString(),
  };
  const monthly = await customerWith(resets);
  const endless = await customerWith();
  const users = await customerWith(resets, 'users');
  const seen = (user: string, timestamp = keeping.clock.now()) => {
    const event = { name: 'users', customer_id: users, metadata: { user } };
    return setting.ingest([{ ...event, timestamp: new Date(timestamp).toISOString() }]);
  };
  for (const customer of [monthly, endless]) await setting.track(customer, 'api', { value: 10 });
  for (const user of ['a', 'b', 'a']) await seen(user);
  // Beyond the window of the first transfers; the first period can just be reached.
  const later = START + 60 * DAY_MS;
  await keeping.travel(later);
  for (const customer of [monthly, endless]) await setting.track(customer, 'api', { value: 1 });
  const { rows } = must(await keeping.retain({ usageMonths: 1 }), 'what went');
  expect(rows['transfers']).toBeGreaterThan(0);
  expect(rows['members']).toBe(0);
  setting.server.ledger.forgetAll();
  const timestamp = new Date(later - 34 * DAY_MS).toISOString();
  const late = (customer: string, value: number) =>
    setting.ingest([{ name: 'api', customer_id: customer, timestamp, value }]);
  for (const value of [5, -3, -1000]) {
    for (const customer of [monthly, endless])
      expect((await late(customer, value)).status).toBe(200);
  }
  expect(await setting.consumed(monthly, 'api')).toEqual([0, 0, 1]);
  expect(await setting.consumed(endless, 'api')).toEqual([0]);
  // The members counted in the first period are still known.
  await seen('a', later - 34 * DAY_MS);
  await seen('c', later - 34 * DAY_MS);
  expect((await setting.consumed(users, 'users'))[0]).toBe(3);
  await keeping.closes();
  await keeping.travel(START + 200 * DAY_MS);
  const gone = must(await keeping.retain({ usageMonths: 1 }), 'what went');
  expect(gone.rows['members']).toBe(3);
  expect(gone.closed.length).toBeGreaterThan(0);
  expect((await setting.consumed(users, 'users'))[0]).toBe(3);
});

test("a payment is refunded years later, and a refund's key is kept for ever", async () => {
  const { server } = keeping.setting;
  await keeping.travel(START);
  const seller = { url: server.url, key: server.organisation.testKey };
  const product_id = await sell(seller, { USD: '10.00' });
  const payment = await buy(seller, { product_id, means: ['good'] });
  const refund = async (key: string, amount: string) => {
    const { status, json } = await server.call('POST', `/payments/${payment}/refund`, {
      body: { amount },
      headers: { 'idempotency-key': key },
    });
    return [status, json.id ?? json.error.type];
  };
  const first = await refund('first', '4.00');
  const refused = await refund('greedy', '7.00');
  expect([first[0], refused[0]]).toEqual([200, 400]);
  await keeping.travel(START + 800 * DAY_MS);
  await keeping.retain({ usageMonths: 1 });
  expect((await refund('second', '6.00'))[0]).toBe(200);
  expect(await refund('first', '4.00')).toEqual(first);
  expect(await refund('greedy', '7.00')).toEqual(refused);
  const { amount_refunded, status } = await ask(seller, 'GET', `/payments/${payment}`);
  expect([amount_refunded, status]).toEqual(['10.00', 'refunded']);
});

test('retention deletes answers, usage events, unpaid checkouts and tokens, and keeps rows of money', async () => {
  const { setting } = keeping;
  const { server } = setting;
  await keeping.travel(START + 1000 * DAY_MS);
  await keeping.retain();
  const before = await setting.rows();
  const seller = { url: server.url, key: server.organisation.testKey };
  const product_id = await sell(seller, { USD: '10.00' });
  const buyer = { product_id, currency: 'USD', customer_email: 'a@example.com' };
  const paid = sessionOf(await ask(seller, 'POST', '/checkouts', buyer));
  await submit(server.url, paid, 'good');
  const headers = { 'idempotency-key': 'checkout' };
  expect((await setting.post('/checkouts', buyer, { headers })).json.error).toBeUndefined();
  const customer = await customerWith();
  await setting.track(customer, 'api', { value: 2000 });
  await server.call('POST', `/customers/${customer}/portal`, { body: {} });
  for (const day of [1000, 1060]) {
    await server.sql`
      insert into method_attempts (id, organisation_id, mode, customer_id, processor, created_at)
      values (gen_random_uuid(), ${server.organisation.id}, 'test', ${customer}, 'sandbox', ${new Date(START + day * DAY_MS)})`;
  }
  const [checkouts, events] = [await keeping.count('checkouts'), await keeping.count('events')];
  await keeping.travel(START + 1089 * DAY_MS);
  const most = must(await keeping.retain(), 'what went');
  expect([most.rows['idempotency'], most.rows['checkouts'], most.rows['events']]).toEqual([
    1, 0, 0,
  ]);
  expect([most.rows['method_attempts'], await keeping.count('method_attempts')]).toEqual([1, 1]);
  const ofUsage = async () =>
    (
      await server.sql`select from events where account_id = ${customer} and type like 'entitlement.%'`
    ).length;
  // Granted and exhausted.
  expect(await ofUsage()).toBe(2);
  expect((await setting.rows())['answers']).toBe(before['answers']);
  await keeping.travel(START + 1092 * DAY_MS);
  const rest = must(await keeping.retain(), 'what went');
  expect(rest.rows['checkouts']).toBe(1);
  expect(await keeping.count('checkouts')).toBe(checkouts - 1);
  // A period of an earlier test's customer may end in these days.
  expect(await ofUsage()).toBe(0);
  expect(await keeping.count('events')).toBe(events - must(rest.rows['events'], 'a count'));
  const { data } = await ask(seller, 'GET', '/checkouts');
  expect((data as { id: string }[]).map(({ id }) => id)).toContain(paid.id);
  // Its next event has the next number.
  await setting.grant(customer, 'api', { amount: 5000 });
  const { data: told } = await ask(seller, 'GET', `/events?limit=1&type=entitlement.granted`);
  expect(told[0].data.sequence).toBe(3);
});

test('a dry run of retention says what would be deleted, and deletes nothing', async () => {
  await keeping.travel(START + 1200 * DAY_MS);
  const customer = await customerWith();
  await times(5, () => keeping.setting.track(customer, 'api'));
  await keeping.travel(START + 1400 * DAY_MS);
  const before = await keeping.setting.rows();
  const dry = must(await keeping.retain({}, { dryRun: true }), 'what would go');
  expect(await keeping.setting.rows()).toEqual(before);
  const real = must(await keeping.retain(), 'what went');
  expect(real.rows).toEqual(dry.rows);
  expect(real.rows['transfers']).toBeGreaterThanOrEqual(6);
  const months = must(await keeping.retain({ usageMonths: 1 }, { dryRun: true }), 'months').closed;
  expect(months).not.toEqual([]);
  expect(must(await keeping.retain({ usageMonths: 1 }), 'months').closed).toEqual(months);
});

test('of two retention runs at once one leaves the work to the other', async () => {
  const resting = Promise.withResolvers<void>();
  const rested = Promise.withResolvers<void>();
  const held: Timers = {
    ...timers,
    after(_ms, task) {
      resting.resolve();
      rested.promise.then(task, () => undefined);
      return () => undefined;
    },
  };
  const first = keeping.retain({}, { timers: held });
  await resting.promise;
  expect(await keeping.retain()).toBeNull();
  rested.resolve();
  expect(await first).not.toBeNull();
  expect(await keeping.retain()).not.toBeNull();
});

test('retention does not drop a month that is being read, and drops it the next time', async () => {
  await keeping.travel(START + 1500 * DAY_MS);
  const customer = await customerWith();
  await keeping.setting.track(customer, 'api');
  await keeping.travel(START + 1700 * DAY_MS);
  await keeping.retain();
  const busy = await keeping.setting.server.sql.begin(async (transaction) => {
    await transaction`lock table transfers_archive in access share mode`;
    return keeping.retain({ usageMonths: 1 }, { lockWaitMs: 100 });
  });
  expect(busy).toMatchObject({ closed: [], busy: true });
  await keeping.closes();
  const next = must(await keeping.retain({ usageMonths: 1 }), 'what went');
  expect([next.busy, next.closed.length > 0]).toEqual([false, true]);
}, 60_000);

test('members counted in the current period are known after retention, whatever end it once had', async () => {
  const { setting } = keeping;
  await keeping.travel(START + 1800 * DAY_MS);
  const customer = await customerWith({ reset_interval: 'year' }, 'users');
  const seen = (user: string) => setting.track(customer, 'users', { metadata: { user } });
  await seen('a');
  await setting.server.sql`
    update balances b set period_end = ${new Date(START + 1831 * DAY_MS)}
    from accounts a where a.slot = b.slot and a.id = b.id and a.customer_id = ${customer}`;
  await keeping.travel(START + 1880 * DAY_MS);
  await keeping.retain();
  setting.server.ledger.forgetAll();
  await seen('a');
  expect((await seen('b')).json.consumed).toBe(2);
});

test('retention moves a month written to meanwhile without its new rows, which wait for the next run', async () => {
  const { sql } = keeping.setting.server;
  await keeping.travel(START + 1900 * DAY_MS);
  await keeping.setting.track(await customerWith(), 'api', {
    value: 5000,
    overage: 'reject',
    idempotency_key: 'no',
  });
  await keeping.travel(START + 2100 * DAY_MS);
  const { begun: moving } = await sql.begin(async (transaction) => {
    await transaction`lock table transfers_archive in share update exclusive mode`;
    const begun = keeping.retain();
    await until('it waits', async () => {
      const [row] =
        await sql`select count(*)::int from pg_locks where not granted and relation = 'transfers_archive'::regclass
          and database = (select oid from pg_database where datname = current_database())`;
      return row!['count'] === 1;
    });
    await sql`
      insert into transfers select (jsonb_populate_record(t, jsonb_build_object('id', uuidv7(), 'at', t.at - interval '1 year'))).*
      from transfers t where kind = 'refused' order by at desc limit 1`;
    // Wrapped: a transaction waits for a promise that it returns.
    return { begun };
  });
  expect(await moving).not.toBeNull();
});
