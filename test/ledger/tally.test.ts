import { expect, test } from 'bun:test';
import { Tally } from '../../ledger/kernel/tally.ts';

test('a tally counts each key by itself, and forgets keys at zero', () => {
  const tally = new Tally();
  for (const key of ['a', 'b', 'a', 'a', 'b']) tally.add(key);
  expect([tally.of('a'), tally.of('b'), tally.of('c')]).toEqual([3, 2, 0]);
  expect([tally.atLeast(1), tally.atLeast(3), tally.atLeast(4)]).toEqual([['a', 'b'], ['a'], []]);
  tally.remove('b');
  expect([tally.of('b'), tally.atLeast(2)]).toEqual([1, ['a']]);
  tally.remove('b');
  expect([tally.of('b'), tally.atLeast(0)]).toEqual([0, ['a']]);
});

test('a tally does not remove what was not added', () => {
  expect(() => new Tally().remove('a')).toThrow('what is removed was added');
});
