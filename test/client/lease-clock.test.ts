// A lease whose client has another time than the service: what it costs is at most one slice, and
// nothing goes into another period. And a close that cannot reach the service.
import { expect, spyOn, test } from 'bun:test';
import { DeadlineError, Tollhouse } from '../../src/client/index.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const USE = { externalCustomerId: 'ann', featureKey: 'calls' };

type Body = {
  readonly consume?: boolean;
  readonly value?: number;
  readonly checks: readonly object[];
  readonly tracks: readonly { readonly value: number }[];
};

/** One customer's balance in a period that ends when the test says. */
class Service {
  granted = 10_000;
  consumed = 0;
  resetsAt: number;
  isAway = false;

  constructor(resetsAt: number) {
    this.resetsAt = resetsAt;
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    await Promise.resolve();
    if (this.isAway) throw new TypeError('connection refused');
    const body = JSON.parse(init.body as string) as Body;
    if (url.endsWith('/check/batch')) {
      return Response.json({ results: body.checks.map(() => this.#answer(true)) });
    }
    if (url.endsWith('/track/batch')) {
      for (const { value } of body.tracks) this.consumed += value;
      return Response.json({ results: body.tracks.map(() => ({})) });
    }
    const value = body.value ?? 1;
    const allowed = this.consumed + value <= this.granted;
    if (allowed) this.consumed += value;
    return Response.json(this.#answer(allowed));
  };

  #answer(allowed: boolean): object {
    const remaining = this.granted - this.consumed;
    const reason = allowed ? 'ok' : 'insufficient_balance';
    return { allowed, remaining, reason, resets_at: new Date(this.resetsAt).toISOString() };
  }
}

const clientOf = ({ fetch }: Service, timeoutMs = 30_000): Tollhouse =>
  new Tollhouse({ apiKey: 'svc_test_1', baseUrl: 'http://service', fetch, timeoutMs });

test('a client whose clock is ahead loses at most one slice, and goes on in the next', async () => {
  const service = new Service(Date.now() - 1000);
  await using tollhouse = clientOf(service);
  const lease = await tollhouse.lease({ ...USE, amount: 1000 });
  for (let n = 0; n < 50; n += 1) {
    expect(lease.take(1)).toBe(false);
    expect(await lease.ready()).toBe(false);
  }
  expect(service.consumed).toBe(1000);
  service.resetsAt += 30 * DAY_MS;
  service.consumed = 0;
  expect(await lease.ready()).toBe(true);
  for (let n = 0; n < 10; n += 1) expect(lease.take(1)).toBe(true);
  await tollhouse.close();
  expect(service.consumed).toBe(10);
});

test('a slice that ends by the client is the last of its period', async () => {
  const clock = spyOn(Date, 'now');
  try {
    const service = new Service(performance.timeOrigin + performance.now() + DAY_MS);
    await using tollhouse = clientOf(service);
    const lease = await tollhouse.lease({ ...USE, amount: 1000 });
    clock.mockReturnValue(service.resetsAt + 1);
    for (let n = 0; n < 100; n += 1) lease.take(0);
    for (let n = 0; n < 5; n += 1) expect(await lease.ready()).toBe(false);
    expect(service.consumed).toBe(1000);
  } finally {
    clock.mockRestore();
  }
});

test('a client whose clock is behind gives nothing back into the next period', async () => {
  const service = new Service(Date.now() + DAY_MS);
  await using tollhouse = clientOf(service);
  const lease = await tollhouse.lease({ ...USE, amount: 500 });
  service.resetsAt += 30 * DAY_MS;
  service.consumed = 400;
  await lease.close();
  expect(service.consumed).toBe(400);
});

test('a close that cannot reach the service ends in time, and says what stays counted', async () => {
  const warned: string[] = [];
  const note = ({ name }: Error): void => void warned.push(name);
  process.on('warning', note);
  try {
    const service = new Service(Date.now() + 60 * DAY_MS);
    const tollhouse = clientOf(service, 200);
    const lease = await tollhouse.lease({ ...USE, amount: 100 });
    lease.take(10);
    service.isAway = true;
    const error: unknown = await tollhouse.close().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeadlineError);
    expect((error as Error).message).toStartWith('90 calls of ann could not be given back: ');
    expect(warned).toEqual([]);
  } finally {
    process.off('warning', note);
  }
}, 20_000);

test('a call may have longer than a timer has', async () => {
  const service = new Service(Date.now() + 60 * DAY_MS);
  await using tollhouse = clientOf(service);
  const timer = spyOn(globalThis, 'setTimeout');
  try {
    await tollhouse.track({ ...USE, value: 1 }, { timeoutMs: 60 * DAY_MS });
    const times = timer.mock.calls.map(([, ms]) => ms ?? 0);
    expect(Math.max(...times)).toBeLessThan(2 ** 31);
    expect(times.length).toBeGreaterThan(0);
  } finally {
    timer.mockRestore();
  }
});
