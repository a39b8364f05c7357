// The real ledger in a simulated world made from a seed: no answer may be wrong, whatever fails.
import { expect, test } from 'bun:test';
import { simulate } from './run.ts';
import { failuresOf, SEEDS_OF_A_SHORT_RUN } from './seeds.ts';

/** SEEDS=10000 asks for more. */
const SEEDS = Number(process.env['SEEDS'] ?? SEEDS_OF_A_SHORT_RUN);

test('no answer of the ledger is wrong in the simulated worlds of the first seeds', () => {
  expect(failuresOf(1, SEEDS)).toEqual([]);
}, 600_000);

test('a seed of the simulation is one run, however often', () => {
  const runs = [1, 2].map(() => {
    const lines: string[] = [];
    simulate(7, (line) => lines.push(line));
    return lines;
  });
  expect(runs[0]!.length).toBeGreaterThan(100);
  expect(runs[0]).toEqual(runs[1]);
});
