// The real ledger in a simulated world made from a seed: no answer may be wrong, whatever fails.
import { expect, test } from 'bun:test';
import { simulate } from './run.ts';
import { failuresOf, SEEDS_OF_A_SHORT_RUN } from './seeds.ts';

/** SEED=17 asks for one seed, SEEDS=10000 for more. */
const ONE = process.env['SEED'];
const SEEDS = Number(process.env['SEEDS'] ?? SEEDS_OF_A_SHORT_RUN);
const [FIRST, LAST] = ONE === undefined ? [1, SEEDS] : [Number(ONE), Number(ONE)];

test(`seeds ${FIRST} to ${LAST}`, () => {
  expect(failuresOf(FIRST, LAST)).toEqual([]);
}, 600_000);

test('a seed is one run, however often', () => {
  const runs = [1, 2].map(() => {
    const lines: string[] = [];
    simulate(7, (line) => lines.push(line));
    return lines;
  });
  expect(runs[0]!.length).toBeGreaterThan(100);
  expect(runs[0]).toEqual(runs[1]);
});
