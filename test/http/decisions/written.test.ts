// The record of denials by itself, on a database that goes away and comes back.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Denials, type Denied } from '../../../src/decisions/denials.ts';
import { timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import { freshDatabase, type FreshDatabase } from '../../support/database.ts';
import { type Proxy, startProxy } from '../../support/proxy.ts';
import { until } from '../../support/until.ts';

let database: FreshDatabase;
let proxy: Proxy;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  proxy = await startProxy(database.url);
  sql = openPool(database.url, { max: 1, applicationName: 'test' });
});
afterAll(async () => {
  await sql.end();
  await proxy.stop();
  await database.drop();
});

const warned: string[] = [];
const log = {
  info: () => undefined,
  warn: (_: object, message: string) => void warned.push(message),
  error: (fields: object, message: string) => {
    throw new Error(`${message} ${JSON.stringify(fields)}`);
  },
};

/** A record whose times are 1 s apart, and `at` of its organisations. */
function open(url = database.url) {
  const pool = openPool(url, { max: 1, applicationName: 'test denials' });
  const time = { now: 1_800_000_000_000 };
  const clock = { now: () => time.now };
  const node = () => 1;
  const denials = new Denials({ sql: pool, node, ids, clock, orgClock: clock, timers, log });
  return { denials, time, close: () => denials.close() };
}

const METER = { id: ids.next(), scale: 0 };

function denied(requested: number, fields: Partial<Denied> = {}): Denied {
  const answer = {
    allowed: false,
    limit: 10,
    consumed: 10,
    reserved: 0,
    reason: 'insufficient_balance',
    requested,
    period_start: null,
    period_end: null,
  };
  return {
    tenant: { organisationId: ids.next(), mode: 'test' },
    customerId: ids.next(),
    meter: METER,
    kind: 'check',
    answer: JSON.stringify(answer),
    keyed: null,
    requestId: ids.next(),
    ...fields,
  };
}

type Kept = { readonly rows: number; readonly count: number; readonly left_out: number };

async function keptOf({ organisationId }: Denied['tenant']): Promise<Kept> {
  const [kept] = await sql<Kept[]>`
    select count(customer_id)::int as rows, coalesce(sum(count), 0)::int as count,
      coalesce(sum(count) filter (where customer_id is null), 0)::int as left_out
    from denials where organisation_id = ${organisationId}`;
  return kept!;
}

test("a denial's row has its first and last time, by the clock of the organisation", async () => {
  const { denials, time, close } = open();
  const one = denied(1);
  denials.add(one);
  time.now += 500;
  denials.add(one);
  time.now -= 200;
  denials.add(one);
  await close();
  const [row] = await sql<{ at: Date; last_at: Date; count: number }[]>`
    select at, last_at, count from denials where customer_id = ${one.customerId}`;
  expect(row).toEqual({
    at: new Date(1_800_000_000_000),
    last_at: new Date(1_800_000_000_500),
    count: 3,
  });
});

test('denials are written by themselves, within about a second', async () => {
  const { denials, close } = open();
  const one = denied(1);
  denials.add(one);
  await until('it is written', async () => (await keptOf(one.tenant)).rows === 1);
  // And again: the next second begins with the next denial.
  denials.add(one);
  await until('it is written', async () => (await keptOf(one.tenant)).rows === 2);
  await close();
});

test('denials are bounded for a customer, a tenant and in all, and the rest is counted', async () => {
  const { denials, close } = open();
  const { tenant, customerId } = denied(0);
  const hundred = Array.from({ length: 100 }, (_, n) => n);
  for (const n of hundred) denials.add(denied(n, { tenant, customerId }));
  for (const n of hundred) denials.add(denied(n, { tenant }));
  // Others, 30 each, until all rows of the second are taken.
  const others = hundred.map(() => denied(0).tenant);
  for (const other of others) {
    for (const n of hundred.slice(0, 30)) denials.add(denied(n, { tenant: other }));
  }
  await close();
  // 10 of the customer, and 90 of the others.
  expect(await keptOf(tenant)).toEqual({ rows: 100, count: 200, left_out: 100 });
  const kept = await Promise.all(others.map(keptOf));
  expect(kept.reduce((sum, { rows }) => sum + rows, 0)).toBe(900);
  for (const { count } of kept) expect(count).toBe(30);
  const [first] = await sql<{ rows: number }[]>`
    select count(*)::int as rows from denials where customer_id = ${customerId}`;
  expect(first!.rows).toBe(10);
  expect(denials.stats).toEqual({ waiting: 0, lost: 0 });
});

test('denials of features beyond those that are counted are dropped, and their number is counted', async () => {
  const { denials, close } = open();
  const { tenant, customerId } = denied(0);
  for (let n = 0; n < 50; n += 1) {
    const meter = { id: ids.next(), scale: 0 };
    denials.add(denied(n, { tenant, customerId, meter }));
  }
  await close();
  expect(await keptOf(tenant)).toEqual({ rows: 10, count: 30, left_out: 20 });
  expect(denials.stats.lost).toBe(20);
});

test('denials while the database is away are each written once when it is back', async () => {
  const { denials, close } = open(proxy.url);
  const [before, meanwhile, after] = [denied(1), denied(2), denied(3)];
  denials.add(before);
  await denials.flush();
  proxy.detach();
  denials.add(meanwhile);
  await denials.flush();
  expect(denials.stats).toEqual({ waiting: 1, lost: 0 });
  expect(warned).toContain('denials will be written later');
  proxy.attach();
  denials.add(after);
  await until('it is written', () => denials.stats.waiting === 0);
  await close();
  for (const { tenant } of [before, meanwhile, after]) {
    expect(await keptOf(tenant)).toEqual({ rows: 1, count: 1, left_out: 0 });
  }
});

test('denials whose write lost its answer are counted once', async () => {
  const { denials, close } = open(proxy.url);
  const one = denied(1);
  await denials.flush();
  denials.add(denied(2));
  await denials.flush();
  // The statement arrives, its answer does not.
  proxy.deafen();
  denials.add(one);
  const flushed = denials.flush();
  await until('it is there', async () => (await keptOf(one.tenant)).rows === 1);
  proxy.cut();
  await flushed;
  expect(denials.stats.waiting).toBe(1);
  proxy.thaw();
  await denials.flush();
  expect(denials.stats).toEqual({ waiting: 0, lost: 0 });
  const [counted] = await sql<{ count: bigint }[]>`
    select count from denial_counts where organisation_id = ${one.tenant.organisationId}`;
  expect(counted!.count).toBe(1n);
  expect((await keptOf(one.tenant)).rows).toBe(1);
  await close();
});
