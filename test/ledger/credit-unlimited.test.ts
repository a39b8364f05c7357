// A pool and a member with a grant without a limit: what it paid for costs the pool nothing, in its
// period and later. For each period of both: what was given, used and held. A chat costs 2 credits.
import { expect, test } from 'bun:test';
import {
  after,
  commit,
  hold,
  plan,
  type Step,
  topUp,
  use,
  wait,
  withdraw,
} from './credit-steps.ts';
import { DAY, HOUR } from './world.ts';

// prettier-ignore
const WITHOUT_LIMIT: [string, Step[], number[][], number[][]][] = [
  // what steps chat credits
  ['by a plan',                          [plan('chat', null), use('chat', 5), wait(DAY), use('chat', 2)],                                     [[5, 5, 0], [0, 2, 0]],  [[20, 0, 0], [20, 0, 0]]],
  ['by a top-up',                        [topUp('chat', null), use('chat', 5), wait(DAY), use('chat', 2)],                                    [[5, 5, 0], [0, 2, 0]],  [[20, 0, 0], [20, 0, 0]]],
  ['beside one that has a limit',        [topUp('chat', null), plan('chat', 3), use('chat', 5), wait(DAY)],                                   [[5, 5, 0], [3, 0, 0]],  [[20, 0, 0], [20, 0, 0]]],
  ['after the pool had paid',            [use('chat', 5), topUp('chat', null), wait(DAY), use('chat', 2)],                                    [[5, 5, 0], [0, 2, 0]],  [[20, 0, 0], [20, 0, 0]]],
  ['with an event that comes late',      [plan('chat', null), use('chat', 5), wait(DAY), use('chat', 3, HOUR), use('chat', 1)],               [[8, 8, 0], [0, 1, 0]],  [[20, 0, 0], [20, 0, 0]]],
  ['with all of its events late',        [plan('chat', null), wait(DAY), use('chat', 3, HOUR), use('chat', -1, HOUR)],                        [[2, 2, 0]],             [[20, 0, 0], [20, 0, 0]]],
  ['with a hold that is committed then', [plan('chat', null), hold('chat', 5), wait(DAY), commit('chat', 4)],                                 [[4, 4, 0]],             [[20, 0, 0], [20, 0, 0]]],
  ['and ends in a later one',            [plan('chat', null), use('chat', 5), wait(DAY), use('chat', 2), withdraw('chat'), use('chat', 1)],   [[5, 5, 0], [2, 3, 0]],  [[20, 0, 0], [20, 2, 0]]],
];

test.each(WITHOUT_LIMIT)(
  'a credit pool without a limit costs nothing later: %s',
  (_what, steps, chat, credits) => {
    const world = after(plan('credits', 20), ...steps);
    expect([world.periods('chat'), world.periods('credits')]).toEqual([chat, credits] as never);
  },
);
