// A change of plan to another interval: what was used in the old period counts against the new
// allowance until the old period would have ended (docs/spec/balance.md#plans).
import { expect, test } from 'bun:test';
import { DAY, HOUR, reserved, subscribed, T0, type World } from './world.ts';

const anchored = (world: World) => ({ cycle: { anchor: world.now, zone: 'UTC' } });
const at = (world: World, ms: number): World => {
  world.now = ms;
  return world;
};

/** Ten a day, all of it used, an hour before the day ends to ten a year. */
function yearly(limit: bigint | null = 10n): World {
  const world = subscribed({ resetInterval: 'day' });
  world.use(10n);
  at(world, T0 + DAY - HOUR);
  world.replacePlan({ limit, resetInterval: 'year', ...anchored(world) });
  return world;
}

test('what was used counts until its period would have ended', () => {
  const world = yearly();
  expect(world.numbers).toEqual([0n, 0n, 0n]);
  expect(world.check(1n)).toBe('denied insufficient_balance');
  at(world, T0 + DAY);
  expect(world.numbers).toEqual([10n, 0n, 10n]);
  world.use(4n);
  expect(at(world, T0 + 100 * DAY).numbers).toEqual([10n, 4n, 6n]);
});

test('what was used beyond a smaller plan comes back in the same way', () => {
  const world = yearly(6n);
  expect(world.numbers).toEqual([0n, 0n, 0n]);
  expect(at(world, T0 + DAY).numbers).toEqual([6n, 0n, 6n]);
});

test('what a larger plan leaves is used until then, and all that it gives after', () => {
  const world = yearly(15n);
  expect(world.numbers).toEqual([5n, 0n, 5n]);
  world.use(7n);
  expect(world.numbers).toEqual([5n, 7n, -2n]);
  at(world, T0 + DAY);
  expect(world.numbers).toEqual([15n, 7n, 8n]);
});

test('what was used of an unlimited plan of another interval counts until its period would have ended', () => {
  const world = subscribed({ resetInterval: 'day', limit: null });
  world.use(300n);
  at(world, T0 + HOUR);
  world.replacePlan({ limit: 10n, resetInterval: 'month', ...anchored(world) });
  expect(world.numbers[2]).toBe(0n);
  expect(at(world, T0 + DAY).numbers[2]).toBe(10n);
});

test('an unlimited plan between two intervals keeps when it ends', () => {
  const world = yearly(null);
  world.use(50n);
  at(world, T0 + DAY - HOUR / 2);
  world.replacePlan({ limit: 30n, resetInterval: 'month', ...anchored(world) });
  // 50 of the year that was cut short, which would have ended after the month.
  expect(world.numbers[2]).toBe(0n);
  expect(at(world, T0 + DAY).numbers[2]).toBe(0n);
});

test('a correction gives back what was used last, and no period ends twice', () => {
  const world = yearly(15n);
  world.use(3n);
  world.replacePlan({ limit: 16n, resetInterval: 'year', ...anchored(world) });
  expect(world.numbers[2]).toBe(3n);
  world.use(-2n);
  expect(world.numbers[2]).toBe(5n);
  expect(at(world, T0 + DAY).numbers[2]).toBe(15n);
  expect(at(world, T0 + 30 * DAY).numbers[2]).toBe(15n);
});

test('to another interval and back, within the old period, is no gain', () => {
  const world = yearly();
  at(world, T0 + DAY - HOUR / 2);
  world.replacePlan({ limit: 10n, resetInterval: 'day', ...anchored(world) });
  expect(world.numbers[2]).toBe(0n);
  expect(at(world, T0 + DAY).numbers[2]).toBe(10n);
});

test('who changes to and fro for long keeps few periods apart, and loses nothing', () => {
  const world = subscribed({ resetInterval: 'day', limit: 1000n });
  for (let change = 0; change < 200; change += 1) {
    world.use(1n);
    at(world, world.now + 60_000);
    const resetInterval = change % 2 === 0 ? 'year' : 'day';
    world.replacePlan({ limit: 1000n, resetInterval, ...anchored(world) });
    expect(world.state.grants[0]?.cut.length).toBeLessThan(25);
  }
  expect(world.numbers[2]).toBe(800n);
  world.replacePlan({ limit: 1000n, resetInterval: 'year', ...anchored(world) });
  expect(at(world, world.now + 2 * DAY).numbers[2]).toBe(1000n);
});

test('a plan without the feature in between keeps when it ends', () => {
  const world = yearly();
  world.replacePlan();
  at(world, T0 + DAY - HOUR / 2);
  world.replacePlan({ limit: 10n, resetInterval: 'year', ...anchored(world) });
  expect(world.numbers[2]).toBe(0n);
  expect(at(world, T0 + DAY).numbers[2]).toBe(10n);
});

test('what was held in the period counts as long as what was used in it', () => {
  const world = subscribed({ resetInterval: 'day' });
  world.use(4n);
  const hold = reserved(world.reserve(6n, 2 * 86_400));
  at(world, T0 + DAY - HOUR);
  world.replacePlan({ limit: 10n, resetInterval: 'year', ...anchored(world) });
  expect(world.numbers[2]).toBe(0n);
  expect(at(world, T0 + DAY).numbers[2]).toBe(10n);
  world.release(hold);
  expect(world.numbers[2]).toBe(10n);
});
