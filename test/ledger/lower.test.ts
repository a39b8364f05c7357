// Which of two answers to the same question allows less: the durable one, or the one with all later
// decisions.
import { expect, test } from 'bun:test';
import { type CheckAnswer, check, isLower } from '../../ledger/metering/meter.ts';
import { type PlanFields, subscribed } from './world.ts';

const answer = (plan: PlanFields, used = 0n, suspended = false): CheckAnswer => {
  const world = subscribed(plan);
  world.use(used);
  if (suspended) world.suspendPlan('paused');
  return check(world.seen, 1n);
};
const UNLIMITED = { limit: null };

// prettier-ignore
test.each([
  ['less, than more',                      answer({}, 1n),                answer({}),                    true],
  ['more, than less',                      answer({}),                    answer({}, 1n),                false],
  ['the same',                             answer({}),                    answer({}),                    false],
  ['the same that may not be used',        answer({}, 0n, true),          answer({}),                    true],
  ['what may be used, than what may not',  answer({}),                    answer({}, 0n, true),          false],
  ['more that may not be used',            answer({}, 0n, true),          answer({}, 1n),                false],
  ['units, than unlimited',                answer({}),                    answer(UNLIMITED),             true],
  ['unlimited, than units',                answer(UNLIMITED),             answer({}),                    false],
  ['unlimited, than the same',             answer(UNLIMITED),             answer(UNLIMITED),             false],
])('lower: %s', (_what, one, other, is) => {
  expect(isLower(one, other)).toBe(is);
});
