// Two real processes on one database; one of them freezes.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { Book } from './book.ts';
import { statusOf } from './call.ts';
import { type Gate, type Held, startGate } from './gate.ts';
import { type ServiceProcess, startProcess } from './service-process.ts';
import { OPEN_METER, type Tenant, createTenant } from './tenant.ts';
import { type Usage, sendUsage } from './usage.ts';
import { violations } from './verdict.ts';

/** Each test starts two processes; what has to be quick has its own bound. */
setDefaultTimeout(20_000);

const LEASE_MS = 1000;
/** Counted from the last sign of life of the frozen one. */
const TAKEOVER_MS_MAX = LEASE_MS + 2000;

let database: FreshDatabase;
let gate: Gate;
let sql: Sql;
let first: ServiceProcess;
let second: ServiceProcess;
let tenant: Tenant;
let book: Book;

beforeEach(async () => {
  database = await freshDatabase();
  gate = await startGate(database.url);
  sql = openPool(database.url, { max: 1, applicationName: 'chaos test' });
  first = await startProcess({ databaseUrl: gate.url, leaseMs: LEASE_MS });
  await first.ready();
  tenant = await createTenant(first.url, { databaseUrl: database.url, customers: 1 });
  second = await startProcess({ databaseUrl: database.url, leaseMs: LEASE_MS });
  await second.up();
  book = new Book(tenant);
});

afterEach(async () => {
  first.signal('SIGCONT');
  await Promise.all([first.kill(), second.kill()]);
  await gate.stop();
  await sql.end();
  await database.drop();
});

function usageOf(key: string): Usage {
  const customer = tenant.customers[0]!;
  return { kind: 'track', events: [{ key, customer, meter: OPEN_METER, value: 1 }] };
}

async function track(service: ServiceProcess, key: string): Promise<number> {
  const usage = usageOf(key);
  const answer = await sendUsage(service.url, tenant.key, usage).catch(() => null);
  if (answer?.status === 200) book.enter(usage, true);
  return answer?.status ?? 0;
}

const check = (service: ServiceProcess): Promise<number> =>
  statusOf({ url: service.url, key: tenant.key }, '/check', {
    feature_key: OPEN_METER,
    customer_id: tenant.customers[0],
  });

async function seat() {
  const [row] = await sql<{ epoch: bigint; seq: bigint; holder: string }[]>`
    select epoch, seq, holder from nodes`;
  return row!;
}

/** Freezes the first process while a flush of the call `key` is held at `point`. */
async function freeze(point: 'before' | 'sync', key: string) {
  expect(await track(first, 'warm')).toBe(200);
  const holding = gate.hold(point);
  const answer = track(first, key);
  const held: Held = await holding;
  first.signal('SIGSTOP');
  const at = performance.now();
  return { held, answer, at };
}

test('a frozen process is replaced, and when it wakes neither writes nor answers from memory', async () => {
  const { held, answer: late } = await freeze('before', 'late');
  await second.ready();
  for (const key of ['second-1', 'second-2']) expect(await track(second, key)).toBe(200);
  // These arrive while it cannot read them: it finds them when it wakes.
  const asked = [check(first), check(first), track(first, 'while-frozen')];
  const before = await seat();
  first.signal('SIGCONT');
  held.release();
  expect(await Promise.all(asked)).toEqual([503, 503, 503]);
  expect(await late).toBe(503);
  // For several of its heartbeats and of its attempts to get the seat back.
  const wrong: number[] = [];
  await until('the second has written three times', async () => {
    const statuses = await Promise.all([check(first), track(first, 'not-here')]);
    wrong.push(...statuses.filter((status) => status !== 503));
    return (await seat()).seq >= before.seq + 3n;
  });
  expect(wrong).toEqual([]);
  const { epoch, holder } = await seat();
  expect({ epoch, holder }).toEqual({ epoch: before.epoch, holder: before.holder });
  // The callers go to the node that serves.
  for (const key of ['late', 'while-frozen', 'not-here'])
    expect(await track(second, key)).toBe(200);
  second.signal('SIGTERM');
  await first.ready();
  expect(await track(first, 'first-again')).toBe(200);
  const place = { url: first.url, databaseUrl: database.url, tenant };
  expect(await violations(place, book)).toEqual([]);
}, 30_000);

test('a frozen client that holds the lock of its row does not stop a takeover', async () => {
  const { held, at } = await freeze('sync', 'late');
  await until('the row is locked', async () => {
    const free = await sql`select 1 from nodes for update skip locked`;
    return free.length === 0;
  });
  await second.ready();
  expect(performance.now() - at).toBeLessThan(TAKEOVER_MS_MAX);
  first.signal('SIGCONT');
  held.release();
  expect(await track(second, 'late')).toBe(200);
  const place = { url: second.url, databaseUrl: database.url, tenant };
  expect(await violations(place, book)).toEqual([]);
}, 30_000);

test("a database connection that gives no answer is closed, and its statement's outcome is looked up", async () => {
  expect(await track(first, 'warm')).toBe(200);
  const holding = gate.hold('reply');
  const during = track(first, 'during');
  const held = await holding;
  // It committed, but the first node does not know: it asks again on another connection, and keeps
  // its seat.
  expect(await during).toBe(200);
  await first.ready();
  expect(await check(first)).toBe(200);
  held.cut();
  const place = { url: first.url, databaseUrl: database.url, tenant };
  expect(await violations(place, book)).toEqual([]);
}, 30_000);
