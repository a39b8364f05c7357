// Pauses of a subscription: what is kept of them, and what they take off the time of a span.
import { expect, test } from 'bun:test';
import { soldTimeOf } from '../../ledger/subscriptions/pauses.ts';
import { pause, active } from './subscription-situations.ts';
import { HOUR } from './world.ts';

const PERIOD = { start: 0, end: 100 };

test.each([
  ['before it', { start: -9, end: 10 }, 40],
  ['over its start', { start: 0, end: 20 }, 30],
  ['within it', { start: 20, end: 25 }, 35],
  ['over its end', { start: 45, end: 90 }, 35],
  ['all of it', { start: 5, end: 90 }, 0],
  ['after it', { start: 50, end: 90 }, 40],
  ['resumed by a later period', { start: 20, end: 90, begins: 45 }, 10],
  ['resumed by its own period', { start: 0, end: 30, begins: 0 }, 40],
])('a pause %s', (_where, one, time) => {
  expect(soldTimeOf({ start: 10, end: 50, period: PERIOD }, [one])).toBe(time);
});

test('many pauses within a period are kept as few, and as long', () => {
  const world = active();
  for (let count = 0; count < 500; count += 1) {
    world.do(pause());
    world.wait(1000);
    world.do({ kind: 'resume' });
    world.wait(1000);
  }
  const { pauses } = world.state;
  expect(pauses).toHaveLength(200);
  expect(pauses.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(500 * 1000);
  expect(pauses.at(-1)?.end).toBeLessThan(world.now + HOUR);
});
