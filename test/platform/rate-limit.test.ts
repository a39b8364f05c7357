import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { openRateLimiter } from '../../src/platform/redis/rate-limit.ts';
import { openRedis } from '../../src/platform/redis/redis.ts';
import type { RedisConnection } from '../../src/platform/redis/redis-connection.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { testServices } from '../support/services.ts';

const warnings: string[] = [];
const warn = (_fields: object, message: string): void => void warnings.push(message);
const open = (url: string): RedisConnection => openRedis({ url, warn });

let redis: RedisConnection;
let elsewhere: RedisConnection;
let proxy: Proxy;
beforeAll(async () => {
  redis = open(testServices().redisUrl);
  elsewhere = open(testServices().redisUrl);
  await Promise.all([ready(redis), ready(elsewhere)]);
  proxy = await startProxy(testServices().redisUrl);
});
afterAll(async () => {
  redis.disconnect();
  elsewhere.disconnect();
  await proxy.stop();
});

function ready(client: RedisConnection): Promise<void> {
  return new Promise((resolve) => {
    client.once('ready', resolve);
  });
}

test('a rate limit allows as many as it says, and tells when there is more', async () => {
  const limit = openRateLimiter(redis).limit(ids.next(), 3);
  const taken = [];
  for (let count = 0; count < 5; count += 1) taken.push(await limit.take('a'));
  expect(taken.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 2],
    [true, 1],
    [true, 0],
    [false, 0],
    [false, 0],
  ]);
  for (const { limit: most, resetMs } of taken) {
    expect(most).toBe(3);
    expect(resetMs).toBeGreaterThan(50_000);
    expect(resetMs).toBeLessThanOrEqual(60_000);
  }
});

test('a rate limit that is asked whether it is spent takes nothing', async () => {
  const limit = openRateLimiter(redis).limit(ids.next(), 1);
  expect(await limit.spent('a')).toBe(null);
  expect((await limit.take('a')).allowed).toBe(true);
  const spent = await limit.spent('a');
  expect([spent?.allowed, spent?.limit, spent?.remaining]).toEqual([false, 1, 0]);
  expect(spent?.resetMs).toBeGreaterThan(50_000);
  expect(await limit.spent('b')).toBe(null);
});

test('a rate limit counts for each key and each name', async () => {
  const limiter = openRateLimiter(redis);
  const [one, two] = [limiter.limit(ids.next(), 1), limiter.limit(ids.next(), 1)];
  expect((await one.take('a')).allowed).toBe(true);
  expect((await one.take('b')).allowed).toBe(true);
  expect((await two.take('a')).allowed).toBe(true);
  expect((await one.take('a')).allowed).toBe(false);
});

test('processes count a rate limit in the same window, also at once', async () => {
  const name = ids.next();
  const limits = [redis, elsewhere].map((client) => openRateLimiter(client).limit(name, 10));
  const taken = await Promise.all(
    limits.flatMap((limit) => Array.from({ length: 20 }, () => limit.take('a'))),
  );
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10);
});

test("a rate limit's window ends", async () => {
  const name = ids.next();
  const limit = openRateLimiter(redis).limit(name, 1);
  await limit.take('a');
  expect((await limit.take('a')).allowed).toBe(false);
  const [key] = await redis.keys(`*${name}*`);
  expect(await redis.pttl(key!)).toBeGreaterThan(0);
  await redis.pexpire(key!, 0);
  expect((await limit.take('a')).allowed).toBe(true);
});

test('a rate limit of 0 is none', async () => {
  const limit = openRateLimiter(redis).limit(ids.next(), 0);
  const taken = await Promise.all(Array.from({ length: 100 }, () => limit.take('a')));
  expect(taken.every(({ allowed }) => allowed)).toBe(true);
});

test('without a Redis the process counts a rate limit by itself', async () => {
  const client = open('redis://127.0.0.1:1');
  try {
    const limit = openRateLimiter(client).limit(ids.next(), 2);
    const taken = await Promise.all(Array.from({ length: 50 }, () => limit.take('a')));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(2);
    expect((await limit.spent('a'))?.allowed).toBe(false);
    expect(await limit.spent('b')).toBe(null);
  } finally {
    client.disconnect();
  }
});

test('a Redis that falls silent costs a rate limit one short wait, and counts again when it is back', async () => {
  warnings.length = 0;
  const client = open(proxy.url);
  try {
    await ready(client);
    const name = ids.next();
    const limit = openRateLimiter(client).limit(name, 2);
    await limit.take('a');
    proxy.freeze();
    const began = performance.now();
    const taken = [await limit.take('a'), await limit.take('a'), await limit.take('a')];
    expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(performance.now() - began).toBeLessThan(900);
    // It is given up, and found again.
    await new Promise<void>((resolve) => {
      client.once('close', resolve);
    });
    const back = ready(client);
    proxy.thaw();
    await back;
    expect(warnings).toEqual(['Redis does not answer']);
    expect((await limit.take('a')).remaining).toBeLessThan(2);
    expect(await redis.keys(`*${name}*`)).toHaveLength(1);
  } finally {
    proxy.thaw();
    client.disconnect();
  }
});
