// The seeds beyond those of the short run.
import { expect, test } from 'bun:test';
import { ONE, runsOf, SEEDS_OF_A_LONG_RUN, SEEDS_OF_A_SHORT_RUN } from './seeds.ts';

test('no answer of the ledger is wrong in the simulated worlds of many more seeds', () => {
  const { failed, compared, late } = runsOf(SEEDS_OF_A_SHORT_RUN + 1, SEEDS_OF_A_LONG_RUN);
  expect(failed).toEqual([]);
  if (ONE !== undefined) return;
  expect(compared).toBeGreaterThan(150);
  expect(late).toBeGreaterThan(50);
}, 900_000);
