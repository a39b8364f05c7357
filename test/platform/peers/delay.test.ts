import { expect, test } from 'bun:test';
import { Delay } from '../../../src/platform/peers/delay.ts';

test.each([
  // sent and read, on clocks that have nothing in common   how late the last one was
  ['the first', [[5000, 10]], 0],
  [
    'the same way',
    [
      [5000, 10],
      [5100, 110],
    ],
    0,
  ],
  [
    'a faster one',
    [
      [5000, 10],
      [5100, 105],
    ],
    0,
  ],
  [
    'a slower one',
    [
      [5000, 10],
      [5100, 150],
    ],
    40,
  ],
  [
    'unread for a second',
    [
      [5000, 10],
      [5100, 1110],
    ],
    1000,
  ],
])('the delay of a frame between peers: %s', (_, frames, late) => {
  const delay = new Delay();
  const delays = frames.map(([sentAt = 0, readAt = 0]) => delay.of(sentAt, readAt));
  expect(Math.abs(delays.at(-1)! - late)).toBeLessThan(1.2);
});

test.each([-100e-6, 100e-6])(
  'peers whose clocks drift apart by %d never take a frame as late',
  (drift) => {
    const delay = new Delay();
    const dayMs = 24 * 3600 * 1000;
    let worst = 0;
    for (let at = 0; at < dayMs; at += 10_000) {
      worst = Math.max(worst, delay.of(at * (1 + drift) + 777, at));
    }
    expect(worst).toBeLessThan(1);
  },
);
