// Redis is emptied: nothing is lost or sent twice.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { KEYS_MAX, RedisBed } from './redis-bed.ts';

let place: RedisBed;
beforeEach(async () => {
  place = await RedisBed.open();
});
afterEach(() => place.end());

test('deliveries are made though Redis is emptied while they are due and in flight', async () => {
  const events: string[] = [];
  let most = 0;
  for (let round = 0; round < 5; round += 1) {
    events.push(...(await place.bed.events(5)));
    most = Math.max(most, await place.redis.keys());
    await place.redis.flush();
  }
  await place.allDelivered(events);
  expect(most).toBeWithin(1, KEYS_MAX);
}, 60_000);
