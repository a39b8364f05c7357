// Leases against the real service: what is taken is what is counted, and never more than granted.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { NotFoundError, Tollhouse } from '../../src/client/index.ts';
import { startServer, type TestServer } from '../support/server.ts';

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

async function consumed(name: string): Promise<number> {
  const { json } = await server.call('GET', `/customers/${name}/balances`);
  return json.data[0].consumed as number;
}

const client = (): Tollhouse =>
  new Tollhouse({ baseUrl: server.url, apiKey: server.organisation.testKey });

test('a slice is counted when it is leased, and what is left when it closes is not', async () => {
  const ann = await customer('ann', 250);
  await using tollhouse = client();
  const lease = await tollhouse.lease({ ...ann, amount: 100 });
  expect(await consumed('ann')).toBe(100);
  for (let n = 0; n < 30; n += 1) expect(lease.take()).toBe(true);
  expect(lease.take(71)).toBe(false);
  expect(lease.remaining).toBe(70);
  await lease.close();
  expect(await consumed('ann')).toBe(30);
  expect(lease.take()).toBe(false);
});

test('refills follow until the balance is used up: all of it, and no more', async () => {
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
  expect(await consumed('ben')).toBe(taken);
  // At most what is less than one take in each.
  expect(taken).toBeGreaterThan(250 - 2 * 3);
});

test('where the whole amount cannot be had, what is there is taken', async () => {
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

test('decimals are exact', async () => {
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

test('of a process that dies, at most a slice is lost', async () => {
  const eve = await customer('eve', 1000);
  const tollhouse = client();
  const lease = await tollhouse.lease({ ...eve, amount: 50 });
  let taken = 0;
  for (let n = 0; n < 120; n += 1) {
    if (lease.take()) taken += 1;
    else await lease.ready();
  }
  await tollhouse.flush();
  // It is never closed.
  expect((await consumed('eve')) - taken).toBeLessThanOrEqual(50);
});

test('a client that closes gives back what its leases hold; who is unknown has none', async () => {
  const fay = await customer('fay', 100);
  const tollhouse = client();
  const lease = await tollhouse.lease({ ...fay, amount: 80 });
  expect(lease.take(10)).toBe(true);
  const unknown = tollhouse.lease({ ...fay, externalCustomerId: 'nobody', amount: 1 });
  expect(await unknown.catch((error: unknown) => error)).toBeInstanceOf(NotFoundError);
  await tollhouse.close();
  expect(await consumed('fay')).toBe(10);
});
