// A lease and time: renewals, expiry, a process that sleeps, wrong clocks, the end of a period. And
// a service that is away meanwhile.
import { expect, spyOn, test } from 'bun:test';
import { ConnectionError } from '../../src/client/errors.ts';
import { DeadlineError, Tollhouse } from '../../src/client/index.ts';
import type { Lease } from '../../src/client/lease.ts';
import { Holder } from './lease-model.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Lets what was called come to its end. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
};

/** Time passes, and the lease sees it. */
async function passed(holder: Holder, lease: Lease, ms: number): Promise<void> {
  await settled();
  holder.pass(ms);
  lease.take(0);
  await settled();
}

async function opened(holder: Holder): Promise<Lease> {
  const lease = holder.lease();
  await lease.ready();
  holder.calls.length = 0;
  return lease;
}

test('a lease commits what was taken at half of its time, and `take` is never false meanwhile', async () => {
  const holder = new Holder(1000);
  const lease = await opened(holder);
  lease.take(30);
  holder.pass(30_000);
  for (let turn = 0; turn < 60; turn += 1) {
    if (turn % 4 === 0) expect(lease.take(1)).toBe(true);
    await Promise.resolve();
  }
  const [first, second] = holder.calls;
  expect(first).toBe('reserve');
  expect(second).toMatch(/^commit 3\d$/);
  expect(holder.calls.length).toBe(2);
  await lease.close();
  expect([holder.consumed, holder.reserved]).toEqual([45, 0]);
});

test('a lease extends a slice of which nothing was taken', async () => {
  const holder = new Holder(1000);
  const lease = await opened(holder);
  for (let half = 0; half < 10; half += 1) await passed(holder, lease, 30_000);
  expect(holder.calls).toEqual(Array(10).fill('extend'));
  expect([lease.remaining, holder.reserved]).toEqual([100, 100]);
  await lease.close();
  expect(holder.reserved).toBe(0);
});

test('a lease extends a slice of which something was taken, where no other can be held', async () => {
  const holder = new Holder(100);
  const lease = await opened(holder);
  lease.take(30);
  for (let half = 0; half < 4; half += 1) await passed(holder, lease, 30_000);
  expect(new Set(holder.calls)).toEqual(new Set(['reserve', 'extend']));
  expect([lease.remaining, lease.take(70), lease.take(1)]).toEqual([70, true, false]);
  await lease.close();
  expect(holder.consumed).toBe(100);
});

test('a lease keeps the due slice beside a part that can be had', async () => {
  const holder = new Holder(150);
  const lease = await opened(holder);
  lease.take(30);
  await passed(holder, lease, 30_000);
  expect(holder.calls).toEqual(['reserve', 'reserve', 'extend']);
  expect([lease.remaining, holder.reserved, holder.consumed]).toEqual([100, 130, 0]);
  await lease.close();
  expect(holder.consumed).toBe(30);
});

test('a lease commits a used-up slice with the next refill', async () => {
  const holder = new Holder(1000);
  const lease = await opened(holder);
  lease.take(60);
  await settled();
  lease.take(55);
  await settled();
  expect([lease.remaining, holder.consumed]).toEqual([100, 100]);
  await lease.close();
  expect([holder.consumed, holder.reserved]).toEqual([115, 0]);
});

test('a lease replaces a slice that the service does not extend', async () => {
  const holder = new Holder(100);
  const lease = await opened(holder);
  // The clock of a test was moved: for the service it has expired.
  holder.now += 3_600_000;
  await passed(holder, lease, 30_000);
  expect(holder.calls).toEqual(['extend', 'release']);
  expect(await lease.ready(100)).toBe(true);
  await lease.close();
});

test('a lease retries a renewal that fails after a while', async () => {
  const holder = new Holder(1000);
  const lease = await opened(holder);
  holder.isAway = true;
  holder.attempts = 0;
  await passed(holder, lease, 30_000);
  for (let turn = 0; turn < 5; turn += 1) await passed(holder, lease, 1);
  expect(holder.attempts).toBe(1);
  await passed(holder, lease, 7500);
  expect(holder.attempts).toBe(2);
  await lease.close();
});

test('a lease of a process that slept too long gives out nothing, and counts late what it took', async () => {
  const holder = new Holder(100);
  const lease = await opened(holder);
  lease.take(30);
  await settled();
  holder.pass(61_000);
  expect(holder.reserved).toBe(0);
  expect(lease.take(1)).toBe(false);
  await settled();
  expect(holder.consumed).toBe(30);
  expect(lease.take(1)).toBe(true);
  await lease.close();
  expect(holder.consumed).toBe(31);
});

test('a lease notices a sleep that only the time of day shows', async () => {
  const holder = new Holder(1000);
  const lease = await opened(holder);
  const clock = spyOn(Date, 'now');
  try {
    clock.mockReturnValue(performance.timeOrigin + performance.now() + 55_000);
    expect(lease.take(1)).toBe(false);
    // The time of the day set back is no sleep.
    await lease.ready();
    clock.mockReturnValue(performance.timeOrigin - DAY_MS);
    expect(lease.take(1)).toBe(true);
    await settled();
    clock.mockReturnValue(performance.timeOrigin - DAY_MS + 55_000);
    expect(lease.take(1)).toBe(false);
  } finally {
    clock.mockRestore();
    await lease.close();
  }
});

test('a lease stops giving out before its expiry, by a margin', async () => {
  const holder = new Holder(1000);
  const lease = await opened(holder);
  holder.isAway = true;
  await passed(holder, lease, 53_900);
  expect(lease.take(1)).toBe(true);
  await passed(holder, lease, 200);
  expect(lease.take(1)).toBe(false);
  expect(holder.reserved).toBe(100);
  holder.isAway = false;
  await lease.close();
  expect(holder.consumed).toBe(1);
});

test("a lease returns its rest at the period's end, and the next slice is of the next period", async () => {
  const holder = new Holder(100);
  holder.periodMs = DAY_MS;
  holder.now = 10 * DAY_MS - 10_000;
  // Whatever time the client has.
  holder.clientNow = 77;
  const lease = await opened(holder);
  lease.take(40);
  await passed(holder, lease, 9_900);
  expect(lease.remaining).toBe(60);
  await passed(holder, lease, 1000);
  expect(await lease.ready(100)).toBe(true);
  expect([holder.consumedIn(9), holder.consumedIn(10)]).toEqual([40, 0]);
  lease.take(5);
  await lease.close();
  expect([holder.consumedIn(9), holder.consumedIn(10), holder.reserved]).toEqual([40, 5, 0]);
});

test('a lease takes nothing from a lost answer that comes in the next period', async () => {
  const holder = new Holder(100, ['lost']);
  holder.periodMs = DAY_MS;
  holder.now = 10 * DAY_MS - 10_000;
  const lease = holder.lease();
  expect(await lease.ready().catch((error: unknown) => error)).toBeInstanceOf(ConnectionError);
  holder.pass(11_000);
  expect(await lease.ready(1)).toBe(false);
  await settled();
  expect(holder.reserved).toBe(0);
  expect(await lease.ready(100)).toBe(true);
  await lease.close();
});

test('a lease commits at a later close what could not be committed', async () => {
  const holder = new Holder(100);
  const lease = await opened(holder);
  lease.take(10);
  holder.isAway = true;
  const error: unknown = await lease.close().catch((thrown: unknown) => thrown);
  expect((error as Error).message).toStartWith('10 calls of ann could not be counted: ');
  expect(lease.take(1)).toBe(false);
  holder.isAway = false;
  await lease.close();
  await lease.close();
  expect([holder.consumed, holder.calls]).toEqual([10, ['commit 10']]);
});

test("a lease's close that cannot reach the service ends in time, and says what is not counted", async () => {
  const now = new Date().toISOString();
  let isAway = false;
  const fetch = async (): Promise<Response> => {
    await Promise.resolve();
    if (isAway) throw new TypeError('connection refused');
    const reservation = { id: 'r', created_at: now };
    return Response.json({ allowed: true, period_start: now, resets_at: null, reservation });
  };
  const options = { apiKey: 'svc_test_1', baseUrl: 'http://service', fetch, timeoutMs: 200 };
  const tollhouse = new Tollhouse(options);
  const lease = await tollhouse.lease({
    externalCustomerId: 'ann',
    featureKey: 'calls',
    amount: 100,
  });
  lease.take(10);
  isAway = true;
  const error: unknown = await tollhouse.close().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DeadlineError);
  expect((error as Error).message).toStartWith('10 calls of ann could not be counted: ');
}, 20_000);

test('a lease may last longer than a timer can', async () => {
  const fetch = () => Promise.resolve(Response.json({ results: [{}] }));
  const options = { apiKey: 'svc_test_1', baseUrl: 'http://service', fetch };
  await using tollhouse = new Tollhouse(options);
  const timer = spyOn(globalThis, 'setTimeout');
  try {
    const use = { externalCustomerId: 'ann', featureKey: 'calls' };
    await tollhouse.track({ ...use, value: 1 }, { timeoutMs: 60 * DAY_MS });
    const times = timer.mock.calls.map(([, ms]) => ms ?? 0);
    expect(Math.max(...times)).toBeLessThan(2 ** 31);
    expect(times.length).toBeGreaterThan(0);
  } finally {
    timer.mockRestore();
  }
});
