// Redis is killed, frozen or down: nothing is lost or sent twice, and there is no flood of calls or
// logs.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { until } from '../../support/until.ts';
import { KEYS_MAX, RedisBed } from './redis-bed.ts';

/** A sweep, and the longest wait between two attempts to connect. */
const BACK_MS_MAX = 2000;

let place: RedisBed;
beforeEach(async () => {
  place = await RedisBed.open();
});
afterEach(() => place.end());

test('the worker delivers though Redis is killed under load, and back, empty', async () => {
  const events = await place.bed.events(5);
  await place.redis.kill();
  events.push(...(await place.bed.events(5)));
  await place.redis.start();
  events.push(...(await place.bed.events(5)));
  await place.allDelivered(events);
}, 60_000);

test('while Redis is away the API goes on, and deliveries flow when it is back', async () => {
  await place.redis.kill();
  const began = performance.now();
  const events = await place.bed.events(10);
  // The worker still reports that it is alive.
  await place.bed.sweeps(2);
  // Long enough that every client waits its longest between two attempts.
  await until('it was away for a while', () => performance.now() - began > 2000);
  expect(place.sink.arrivals).toHaveLength(0);
  await place.redis.start();
  const back = performance.now();
  await place.allArrived(events);
  expect(performance.now() - back).toBeLessThan(BACK_MS_MAX);
  expect(await place.redis.keys()).toBeLessThan(KEYS_MAX);
  // It is logged once, not again and again.
  expect(place.bed.logged.length).toBeWithin(1, 5);
  await place.allDelivered(events);
}, 60_000);

test('the worker stays alive while Redis is frozen', async () => {
  place.redis.signal('SIGSTOP');
  const events = await place.bed.events(3);
  await place.bed.sweeps(2);
  place.redis.signal('SIGCONT');
  await place.allDelivered(events);
}, 60_000);

test('the worker closes while Redis is away', async () => {
  await place.redis.kill();
  await place.bed.events(1);
  const began = performance.now();
  await place.close();
  expect(performance.now() - began).toBeLessThan(BACK_MS_MAX);
}, 60_000);
