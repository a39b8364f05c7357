// A database of before `balances`, with rows of every kind, is upgraded: its books are as sound as
// they were, and the ledger answers the same.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import type { Means } from '../support/means.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, buy, sell } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { databaseBefore } from './before.ts';
import { copyAsBefore } from './copied.ts';
import { DAY_MS, Keeping } from './keeping.ts';

setDefaultTimeout(120_000);

const VERSION = 38;
const START = Date.parse('2028-01-10T12:00:00Z');
const FEATURES = ['sum', 'count', 'max', 'last', 'unique'];

let keeping: Keeping;
let customer: string;
let payments: string[];
let upgraded: FreshDatabase;
let sql: Sql;

beforeAll(async () => {
  keeping = await Keeping.open();
  const { setting } = keeping;
  const { server } = setting;
  for (const aggregation of FEATURES) {
    const more = aggregation === 'unique' ? { unique_property: 'user' } : {};
    await setting.meter(aggregation, { aggregation, ...more });
  }
  const seller = { url: server.url, key: server.organisation.testKey };
  const product_id = await sell(seller, { USD: '10.00' });
  /** A payment of which a part is refunded. */
  const pay = async (means: Means) => {
    const id = await buy(seller, { product_id, means: [means] });
    await refund(server, id, means);
    return id;
  };
  const posted = await pay('good');
  const bounced = await pay('refundFailsLate');
  await until('it has bounced', async () => {
    const { data } = await ask(seller, 'GET', `/payments/${bounced}/refunds`);
    return data[0].status === 'failed';
  });
  await keeping.travel(START);
  customer = await setting.customer();
  for (const feature of FEATURES) {
    await setting.grant(customer, feature, { amount: 1000, reset_interval: 'month' });
  }
  // Closed, archived, and unchanged.
  await use();
  await keeping.travel(START + 100 * DAY_MS);
  await keeping.retain({ usageMonths: 1 });
  await use();
  await keeping.travel(START + 150 * DAY_MS);
  await keeping.retain({ usageMonths: 3 });
  await use('key');
  const { status } = await setting.track(customer, 'sum', { value: 5000, ...KEYED_REFUSAL });
  expect(status).toBe(402);
  const consume = { value: 2, consume: true };
  expect((await setting.check(customer, 'sum', consume)).json.allowed).toBe(true);
  // An aggregate below zero, of which nothing is consumed.
  const other = await setting.customer();
  await setting.track(other, 'sum', { value: -5 });
  // Its answer comes later.
  payments = [posted, bounced, await pay('refundPends')];
  await server.ledger.close();

  const [before, at] = [await databaseBefore(VERSION), keeping.setting.server.sql];
  upgraded = before;
  sql = openPool(upgraded.url, { max: 2, applicationName: 'test upgrade', statementTimeoutMs: 0 });
  await copyAsBefore(at, sql);
});
afterAll(async () => {
  await sql.end();
  await upgraded.drop();
  await keeping.stop();
});

const KEYED_REFUSAL = { overage: 'reject', idempotency_key: 'too much' };

async function use(key?: string): Promise<void> {
  for (const feature of FEATURES) {
    for (const value of [30, 4]) {
      const metadata = { user: `user ${value}` };
      const named = key === undefined ? {} : { idempotency_key: `${key} ${feature} ${value}` };
      const { status } = await keeping.setting.track(customer, feature, {
        value,
        metadata,
        ...named,
      });
      expect(status).toBe(200);
    }
  }
  await keeping.setting.track(customer, 'sum', { value: -1 });
}

function refund(server: TestServer, id: string, key: string) {
  const headers = { 'idempotency-key': key };
  return server.call('POST', `/payments/${id}/refund`, { body: { amount: '3.00' }, headers });
}

const BOOKS = [
  'accounts',
  'balances',
  'node_balances',
  'closing_balances',
  'customer_meters',
  'members',
  'refunds',
];

/**
 * The rows, with what may be left out of a transfer, and without what says who wrote it. A release
 * without corrections of usage does not mark or close them, and one without stretches does not keep them.
 */
async function rowsOf(on: Sql, table: string): Promise<string[]> {
  const row = table.startsWith('transfers')
    ? `(to_jsonb(r) || jsonb_build_object('amount', coalesce(amount, value), 'event_at', coalesce(event_at, case when value is not null then at end),
        'events', coalesce(events, case when value < 0 then -1 end))) - 'unbinned'`
    : "(to_jsonb(r) - '{corrections,stretch_start,stretch_place,stretch_aggregate}'::text[])";
  const rows = await on.unsafe<{ row: string }[]>(
    `select ${row}::text as row from ${table} r order by 1`,
  );
  return rows.map((one) => one.row);
}

test('an upgrade of balances leaves the books sound, and the same as before', async () => {
  const { sql: from } = keeping.setting.server;
  expect(await audit(from)).toEqual([]);
  const [kinds] = await from`
    select count(distinct kind)::int as kinds, (select count(*) from transfers_archive) > 0 as kept,
      (select count(*) from closing_balances) > 0 as closed
    from transfers`;
  expect(kinds).toMatchObject({ kinds: 5, closed: true, kept: true });
  await migrate(upgraded.url);
  expect(await audit(sql)).toEqual([]);
  for (const table of [...BOOKS, 'transfers', 'transfers_archive']) {
    expect(await rowsOf(sql, table)).toEqual(await rowsOf(from, table));
  }
});

test('after an upgrade of balances the ledger answers the same, and goes on', async () => {
  const { server } = keeping.setting;
  keeping.clock.travel(START + 151 * DAY_MS);
  const after = await startServer({
    alone: true,
    clock: keeping.clock,
    beside: { ...server, databaseUrl: upgraded.url },
  });
  const call = async (method: string, path: string, body?: object) => {
    const { status, json } = await after.call(method, path, { body });
    expect(status).toBeLessThan(300);
    return json;
  };
  try {
    for (const feature of FEATURES) {
      const asked = { customer_id: customer, feature_key: feature };
      const { sql: from } = server;
      const [was] = await from<{ consumed: number; granted: number }[]>`
        select (b.debits_posted / 10 ^ m.scale)::float8 as consumed, (b.credits_posted / 10 ^ m.scale)::float8 as granted
        from accounts a join balances b on b.slot = a.slot and b.id = a.id join meters m on m.id = a.meter_id
        where a.customer_id = ${customer} and m.slug = ${feature} order by a.period_start desc limit 1`;
      expect(await call('POST', '/check', asked)).toMatchObject({
        consumed: was!.consumed,
        limit: was!.granted,
      });
      const key = {
        value: 30,
        metadata: { user: 'user 30' },
        idempotency_key: `key ${feature} 30`,
      };
      expect(await call('POST', '/track', { ...asked, ...key })).toMatchObject({ duplicate: true });
      await call('POST', '/track', { ...asked, value: 4, metadata: { user: 'another' } });
    }
    const asked = { customer_id: customer, feature_key: 'sum', value: 5000, ...KEYED_REFUSAL };
    expect((await after.call('POST', '/track', { body: asked })).status).toBe(402);
    const [posted, bounced, pending] = payments as [string, string, string];
    for (const [id, refundable] of [
      [posted, '7.00'],
      [bounced, '10.00'],
      [pending, '7.00'],
    ] as const) {
      expect(await call('GET', `/payments/${id}`)).toMatchObject({ refundable_amount: refundable });
    }
    expect((await refund(after, posted, 'good')).status).toBe(200);
    await until('the pending one is posted', async () => {
      const { data } = await call('GET', `/payments/${pending}/refunds`);
      return data[0].status === 'succeeded';
    });
    expect(await call('GET', `/payments/${posted}`)).toMatchObject({ refundable_amount: '7.00' });
    await until('nothing is owed', async () => (await sql`select from followups`).length === 0);
    expect(await audit(sql)).toEqual([]);
  } finally {
    await after.stop();
  }
});
