// The real ledger in a simulated world made from a seed: no answer may be wrong, whatever fails.
import { expect, test } from 'bun:test';
import { simulate } from './run.ts';
import { runsOf, SEEDS_OF_A_SHORT_RUN } from './seeds.ts';

/** SEEDS=10000 asks for more. */
const SEEDS = Number(process.env['SEEDS'] ?? SEEDS_OF_A_SHORT_RUN);

test('no answer of the ledger is wrong in the simulated worlds of the first seeds', () => {
  expect(runsOf(1, SEEDS).failed).toEqual([]);
}, 600_000);

test.each([7, 9])('a seed of the simulation is one run, however often: %d', (seed) => {
  const runs = [1, 2].map(() => {
    const lines: string[] = [];
    simulate(seed, (line) => lines.push(line));
    return lines;
  });
  expect(runs[0]!.length).toBeGreaterThan(100);
  expect(runs[0]).toEqual(runs[1]);
});
