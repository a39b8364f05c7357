// Answers that are kept for a moment, over a clock that the test moves.
import { expect, test } from 'bun:test';
import { Kept } from '../../src/platform/kept.ts';

function at(max = 10) {
  let ms = 0;
  let reckoned = 0;
  const kept = new Kept<number>({ ms: 1000, max, clock: { monotonic: () => ms } });
  const next = () => Promise.resolve((reckoned += 1));
  return {
    kept,
    get: (key = 'a') => kept.get(key, next),
    pass: (by: number) => {
      ms += by;
    },
  };
}

test('a kept value is computed once a second, however many ask', async () => {
  const { get, pass } = at();
  expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1]);
  pass(1000);
  expect(await get()).toBe(1);
  pass(1);
  expect(await Promise.all([get(), get('b'), get()])).toEqual([2, 3, 2]);
});

test('a kept value that takes longer to compute is waited for', async () => {
  const { kept, pass } = at();
  const slow = Promise.withResolvers<number>();
  const first = kept.get('a', () => slow.promise);
  pass(5000);
  const second = kept.get('a', () => Promise.resolve(2));
  slow.resolve(1);
  expect(await Promise.all([first, second])).toEqual([1, 1]);
  expect(await kept.get('a', () => Promise.resolve(3))).toBe(3);
});

test('a kept value that failed is not kept', async () => {
  const { kept, get } = at();
  const failed = kept.get('a', () => Promise.reject(new Error('away')));
  expect(await failed.catch(String)).toBe('Error: away');
  expect(await get()).toBe(1);
});

test('a kept value is forgotten when its time is over, and where there are too many', async () => {
  const { kept, get, pass } = at(2);
  await Promise.all(['a', 'b', 'c'].map((key) => get(key)));
  expect(kept.size).toBe(2);
  expect([await get('a'), kept.size]).toEqual([4, 2]);
  pass(1001);
  expect([await get('d'), kept.size]).toEqual([5, 1]);
});
