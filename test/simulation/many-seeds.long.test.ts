// The seeds beyond those of the short run.
import { expect, test } from 'bun:test';
import { failuresOf, SEEDS_OF_A_LONG_RUN, SEEDS_OF_A_SHORT_RUN } from './seeds.ts';

test('no answer of the ledger is wrong in the simulated worlds of many more seeds', () => {
  expect(failuresOf(SEEDS_OF_A_SHORT_RUN + 1, SEEDS_OF_A_LONG_RUN)).toEqual([]);
}, 900_000);
