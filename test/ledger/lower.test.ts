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
const OVER = { overageAllowed: true };
const capped = (used: bigint): CheckAnswer => ({
  ...answer(OVER, used),
  allowed: false,
  reason: 'spend_cap',
});

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
  ['more that a cap denies, than less',    capped(10n),                   answer(OVER, 11n),             true],
  ['less, than more that a cap denies',    answer(OVER, 11n),             capped(10n),                   false],
])('a balance answer is lower than another: %s', (_what, one, other, is) => {
  expect(isLower(one, other)).toBe(is);
});
