// Redis is emptied, killed, frozen or down: nothing is lost or sent twice, and there is no flood of
// calls or logs.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { until } from '../../support/until.ts';
import { Bed, type Endpoint } from './bed.ts';
import { OwnRedis } from './own-redis.ts';
import { Sink } from './sink.ts';

const ENDPOINTS = 20;
/** BullMQ's keys for a ticket, and for the queue. */
const KEYS_MAX = 4 * ENDPOINTS + 20;
/** A sweep, and the longest wait between two attempts to connect. */
const BACK_MS_MAX = 2000;

let redis: OwnRedis;
let bed: Bed;
let sink: Sink;
let endpoints: Endpoint[];
let close: () => Promise<void>;

beforeEach(async () => {
  redis = await OwnRedis.start();
  bed = await Bed.start({ engines: 0, faster: 1 });
  close = await bed.addEngine({ redisUrl: redis.url });
  sink = new Sink();
  endpoints = await Promise.all(
    Array.from({ length: ENDPOINTS }, (_, index) => bed.endpoint(`${sink.url}/${index}`)),
  );
});
afterEach(async () => {
  expect(await audit(bed.server.sql)).toEqual([]);
  await bed.stop();
  await sink.stop();
  await redis.stop();
});

const owed = (events: readonly string[]) => endpoints.flatMap(() => events).toSorted();

async function allDelivered(events: readonly string[]): Promise<void> {
  await until('all arrived', () => sink.arrivals.length >= owed(events).length);
  for (const { id } of endpoints) await bed.all(id, 'delivered');
  expect(sink.ids.toSorted()).toEqual(owed(events));
}

test('emptied while deliveries are due and in flight', async () => {
  const events: string[] = [];
  let most = 0;
  for (let round = 0; round < 5; round += 1) {
    events.push(...(await bed.events(5)));
    most = Math.max(most, await redis.keys());
    await redis.flush();
  }
  await allDelivered(events);
  expect(most).toBeWithin(1, KEYS_MAX);
}, 60_000);

test('killed under load, and back, empty', async () => {
  const events = await bed.events(5);
  await redis.kill();
  events.push(...(await bed.events(5)));
  await redis.start();
  events.push(...(await bed.events(5)));
  await allDelivered(events);
}, 60_000);

test('away: the API goes on, and what is owed flows when it is back', async () => {
  await redis.kill();
  const began = performance.now();
  const events = await bed.events(10);
  // The worker still reports that it is alive.
  await bed.sweeps(2);
  // Long enough that every client waits its longest between two attempts.
  await until('it was away for a while', () => performance.now() - began > 2000);
  expect(sink.arrivals).toHaveLength(0);
  await redis.start();
  const back = performance.now();
  await until('all arrived', () => sink.arrivals.length >= owed(events).length);
  expect(performance.now() - back).toBeLessThan(BACK_MS_MAX);
  expect(await redis.keys()).toBeLessThan(KEYS_MAX);
  // It is logged once, not again and again.
  expect(bed.logged.length).toBeWithin(1, 5);
  await allDelivered(events);
}, 60_000);

test('frozen: the worker stays alive without it', async () => {
  redis.signal('SIGSTOP');
  const events = await bed.events(3);
  await bed.sweeps(2);
  redis.signal('SIGCONT');
  await allDelivered(events);
}, 60_000);

test('away: the engine closes all the same', async () => {
  await redis.kill();
  await bed.events(1);
  const began = performance.now();
  await close();
  expect(performance.now() - began).toBeLessThan(BACK_MS_MAX);
}, 60_000);
