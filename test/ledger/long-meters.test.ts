// Meters with thousands of periods: what one step costs does not grow with how many came before.
import { expect, test } from 'bun:test';
import { advanced } from '../../ledger/metering/advance.ts';
import { dueOf, snapshotOf } from '../../ledger/metering/meter.ts';
import { threadCpuMs } from '../support/cpu.ts';
import { HOUR, T0, World } from './world.ts';

const PRICE = {
  id: 'price',
  currency: 'USD',
  model: 'per_unit',
  unitAmount: 2_000_000_000n,
  minimum: null,
  maximum: null,
} as const;

const TRIES = 3;

/** Decides some hours of an hourly allowance whose usage is sold, so many `runs` of them. */
function sale(hours: number, runs: number): () => number {
  const world = new World();
  world.plan({ price: PRICE, resetInterval: 'hour' });
  world.use(13n);
  const context = { ...world.context, now: T0 + hours * HOUR };
  return () => {
    const before = threadCpuMs();
    for (let run = 0; run < runs; run += 1) {
      expect(advanced(context, world.state).spans).toHaveLength(hours + 1);
    }
    return threadCpuMs() - before;
  };
}

test('a long row of hours of sold usage costs about as much as the same hours in short rows', () => {
  const [short, long] = [sale(250, 32), sale(8000, 1)];
  const [shorts, longs]: [number[], number[]] = [[], []];
  for (let n = 0; n < TRIES; n += 1) {
    shorts.push(short());
    longs.push(long());
  }
  // Some four times as much, for the periods of 35 days that are kept and the larger heap. With
  // lists that are copied and sorted in each step: above eleven times.
  expect(Math.min(...longs) / Math.min(...shorts)).toBeLessThan(8);
}, 60_000);

test('an alarm of a meter that was asleep does some of what is due, and the rest in later decisions', () => {
  const world = new World();
  world.plan({ price: PRICE, resetInterval: 'hour' });
  const until = T0 + 1200 * HOUR;
  const hours: number[] = [];
  while (dueOf(world.state) <= until) {
    const before = world.state.spans.length;
    world.tickAt(until);
    hours.push(world.state.spans.length - before);
  }
  expect(hours).toEqual([...Array.from({ length: 9 }, () => 125), 75]);
  expect(snapshotOf(world.state)).toMatchObject({ limit: 10n, periodStart: until });
});
