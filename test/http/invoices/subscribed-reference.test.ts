// The reference of the lives of invoices: what may happen between a refusal and the try by a method
// that was changed meanwhile.
import { expect, test } from 'bun:test';
import { type Action, explain, type Seen, startOf } from './subscribed-reference.ts';

const seen = (fields: Partial<Seen> = {}): Seen => ({
  status: 'open',
  isUnderWay: false,
  charges: 1,
  isRefunded: false,
  hasEnded: false,
  ...fields,
});
const met = (...answers: [Action, number | null][]) => new Map(answers);

// prettier-ignore
test.each<[string, [Action, number | null][], Partial<Seen>, isPossible: boolean]>([
  ['is tried',                                         [['fail', 0]],                ({ isUnderWay: true, charges: 2 }), true],
  ['is not left alone',                                [['fail', 0]],                ({}),                               false],
  ['is made void before it is tried',                  [['fail', 0], ['void', 200]], ({ status: 'void' }),               true],
  ['is tried before it could be made void',            [['fail', 0], ['void', 409]], ({ isUnderWay: true, charges: 2 }), true],
  ['is not made void beside its try',                  [['fail', 0], ['void', 200]], ({ status: 'void', charges: 2 }),   false],
  ['is not left alone where it could not be void',     [['fail', 0], ['void', 409]], ({}),                               false],
  ['or paid, is not tried',   [['capture', 0]],             ({ status: 'paid' }),                       true],
  ['is tried once where somebody pays it, too',        [['fail', 0], ['pay', 202]],  ({ isUnderWay: true, charges: 2 }), true],
  ['is not tried twice where somebody pays it',        [['fail', 0], ['pay', 202]],  ({ isUnderWay: true, charges: 3 }), false],
])('an invoice whose method has changed during its charge, which is then refused, %s', (_what, answers, fields, isPossible) => {
  const before = explain([startOf('under way')], met(['method', 303]), seen({ isUnderWay: true }));
  expect(before).toHaveLength(1);
  expect(explain(before, met(...answers), seen(fields)).length > 0).toBe(isPossible);
});
