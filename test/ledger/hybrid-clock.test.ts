// The time on a node that has received times of other clocks.
import { expect, test } from 'bun:test';
import { HybridClock } from '../../ledger/kernel/hybrid-clock.ts';
import { T0 } from './world.ts';

type Step = ['own' | 'hear', number];

// prettier-ignore
const HEARD: [string, Step[], number, number, number][] = [
  // what steps now lead wrong
  ['nothing heard',                           [],                                                     0,     0,     0],
  ['one that is behind',                      [['hear', -5]],                                         0,     0,     0],
  ['one that is the same',                    [['hear', 0]],                                          0,     0,     0],
  ['one that is ahead',                       [['hear', 1]],                                          1,     1,     0],
  ['as far ahead as is followed',             [['hear', 2000]],                                       2000,  2000,  0],
  ['one further',                             [['hear', 2001]],                                       0,     0,     1],
  ['one further, and again',                  [['hear', 2001], ['hear', 2002]],                       0,     0,     2],
  ['the one that is furthest ahead counts',   [['hear', 9], ['hear', 7]],                             9,     9,     0],
  ['the latest of them counts',               [['hear', 7], ['hear', 9]],                             9,     9,     0],
  ['its own has caught up',                   [['hear', 9], ['own', 9]],                              9,     0,     0],
  ['its own has gone on',                     [['hear', 9], ['own', 10]],                             10,    0,     0],
  ['its own has been set back a little',      [['hear', 9], ['own', -1991]],                          9,     2000,  0],
  ['one that was behind counts for nothing later', [['hear', -5], ['own', -10]],                     -10,   0,     0],
  ['its own has been set back further',       [['hear', 9], ['own', -1992]],                          -1992, 0,     0],
  ['and the same is heard again',             [['hear', 9], ['own', -1992], ['hear', 9]],             -1992, 0,     0],
];

test.each(HEARD)('the hybrid clock: %s', (_what, steps, now, leadMs, wrong) => {
  let own = T0;
  const told: number[] = [];
  const clock = new HybridClock({ now: () => own }, (aheadMs) => told.push(aheadMs));
  for (const [kind, at] of steps) {
    if (kind === 'own') own = T0 + at;
    else clock.observe(T0 + at);
  }
  expect(clock.now()).toBe(T0 + now);
  expect(clock.stats).toEqual({ leadMs, wrong });
  // Only for the first one that is wrong: each of its calls would log it again.
  expect(told).toEqual(wrong > 0 ? [2001] : []);
});
