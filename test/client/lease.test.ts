// Leases against the real service: what is taken is what is counted, and never more than granted.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { InvalidRequestError, NotFoundError, Tollhouse } from '../../src/client/index.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await server.call('PUT', '/meters/calls', { body: { name: 'Calls' } });
});
afterAll(() => server.stop());

async function customer(externalCustomerId: string, amount: number) {
  const path = `/customers/${externalCustomerId}`;
  await server.call('PUT', path, { body: {} });
  await server.call('POST', `${path}/grants`, { body: { feature_key: 'calls', amount } });
  return { externalCustomerId, featureKey: 'calls' };
}

async function balance(name: string): Promise<{ consumed: number; reserved: number }> {
  const { json } = await server.call('GET', `/customers/${name}/balances`);
  const { consumed, reserved } = json.data[0];
  return { consumed, reserved };
}

const client = (): Tollhouse =>
  new Tollhouse({ baseUrl: server.url, apiKey: server.organisation.testKey });

test('a lease holds a slice when it begins, and counts what was taken when it closes', async () => {
  const ann = await customer('ann', 250);
  await using tollhouse = client();
  const lease = await tollhouse.lease({ ...ann, amount: 100 });
  expect(await balance('ann')).toEqual({ consumed: 0, reserved: 100 });
  for (let n = 0; n < 30; n += 1) expect(lease.take()).toBe(true);
  expect(lease.take(71)).toBe(false);
  expect(lease.remaining).toBe(70);
  await lease.close();
  expect(await balance('ann')).toEqual({ consumed: 30, reserved: 0 });
  expect(lease.take()).toBe(false);
});

test('a lease refills until the balance is used up: all of it, and no more', async () => {
  const ben = await customer('ben', 250);
  await using tollhouse = client();
  const leases = await Promise.all([1, 2].map(() => tollhouse.lease({ ...ben, amount: 70 })));
  let taken = 0;
  let isEmpty = false;
  while (!isEmpty) {
    isEmpty = true;
    for (const lease of leases) {
      while (lease.take(3)) {
        taken += 3;
        isEmpty = false;
      }
      if (await lease.ready(3)) isEmpty = false;
    }
  }
  await tollhouse.close();
  expect(await balance('ben')).toEqual({ consumed: taken, reserved: 0 });
  // At most what is less than one take in each.
  expect(taken).toBeGreaterThan(250 - 2 * 3);
});

test('a lease takes what is there where the whole amount cannot be had', async () => {
  const cy = await customer('cy', 30);
  await using tollhouse = client();
  const lease = await tollhouse.lease({ ...cy, amount: 1000 });
  expect(lease.remaining).toBe(30);
  expect(lease.take(30)).toBe(true);
  expect(lease.take()).toBe(false);
  expect(await lease.ready()).toBe(false);
  await server.call('POST', '/customers/cy/grants', { body: { feature_key: 'calls', amount: 5 } });
  expect(await lease.ready(5)).toBe(true);
});

test('a lease counts decimals exactly', async () => {
  const dan = await customer('dan', 1);
  await using tollhouse = client();
  const lease = await tollhouse.lease({ ...dan, amount: 1, decimals: 2 });
  for (let n = 0; n < 10; n += 1) expect(lease.take(0.07)).toBe(true);
  expect(lease.remaining).toBe(0.3);
  for (let n = 0; n < 3; n += 1) expect(lease.take(0.1)).toBe(true);
  expect(lease.take(0.01)).toBe(false);
  expect(() => lease.take(0.001)).toThrow(RangeError);
  const whole = await tollhouse.lease({ ...dan, amount: 1 });
  expect(() => whole.take(0.5)).toThrow('more than the 0 decimals');
  for (const n of [-1, NaN, Infinity]) expect(() => whole.take(n)).toThrow(RangeError);
});

test('a lease of a counting meter works, and of one that does not add up is refused', async () => {
  await server.call('POST', '/meters', { body: { slug: 'runs', aggregation: 'count' } });
  await server.call('POST', '/meters', { body: { slug: 'peak', aggregation: 'max' } });
  const { externalCustomerId } = await customer('gus', 1);
  const body = { feature_key: 'runs', amount: 10 };
  await server.call('POST', '/customers/gus/grants', { body });
  await using tollhouse = client();
  const use = { externalCustomerId, amount: 10 };
  const lease = await tollhouse.lease({ ...use, featureKey: 'runs' });
  expect([lease.take(4), lease.take(7)]).toEqual([true, false]);
  const refused = tollhouse.lease({ ...use, featureKey: 'peak' });
  expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(InvalidRequestError);
  await lease.close();
  const answer = await tollhouse.check({ externalCustomerId, featureKey: 'runs' });
  expect([answer.consumed, answer.reserved]).toEqual([4, 0]);
});

test('a lease of a killed process: what it held is free at expiry, what it committed stays', async () => {
  const eve = await customer('eve', 1000);
  const of = JSON.stringify({ baseUrl: server.url, apiKey: server.organisation.testKey });
  const code = [
    `import { Tollhouse } from '${new URL('../../src/client/index.ts', import.meta.url).pathname}';`,
    `const lease = await new Tollhouse(${of}).lease(${JSON.stringify({ ...eve, amount: 50 })});`,
    'let taken = 0;',
    'while (taken < 70) if (lease.take()) taken += 1; else await lease.ready();',
    "console.log('taken');",
    'setInterval(() => {}, 1000);',
  ];
  const child = Bun.spawn([process.execPath, '-e', code.join('\n')], { stdout: 'pipe' });
  const reader = child.stdout.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('taken');
  await until('what is used up is committed', async () => (await balance('eve')).consumed > 0);
  child.kill('SIGKILL');
  await child.exited;
  const dead = await balance('eve');
  // What it took since it last committed is not counted, and is less than what it held.
  expect(dead.consumed).toBeGreaterThanOrEqual(50);
  expect(dead.consumed).toBeLessThanOrEqual(70);
  expect(dead.consumed + dead.reserved).toBeGreaterThanOrEqual(70);
  expect(dead.reserved).toBeLessThanOrEqual(100);
  await server.call('POST', '/test-clock', { body: { advance: 'PT1M' } });
  expect(await balance('eve')).toEqual({ consumed: dead.consumed, reserved: 0 });
});

test('closing the client releases its leases, and an unknown customer has none', async () => {
  const fay = await customer('fay', 100);
  const tollhouse = client();
  const lease = await tollhouse.lease({ ...fay, amount: 80 });
  expect(lease.take(10)).toBe(true);
  const unknown = tollhouse.lease({ ...fay, externalCustomerId: 'nobody', amount: 1 });
  expect(await unknown.catch((error: unknown) => error)).toBeInstanceOf(NotFoundError);
  await tollhouse.close();
  expect(await balance('fay')).toEqual({ consumed: 10, reserved: 0 });
});
