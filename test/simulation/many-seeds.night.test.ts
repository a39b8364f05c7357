// The seeds beyond those of the long run.
import { expect, test } from 'bun:test';
import { runsOf, SEEDS_OF_A_LONG_RUN, SEEDS_OF_A_NIGHT } from './seeds.ts';

test('no answer of the ledger is wrong in the simulated worlds of the seeds of a night', () => {
  expect(runsOf(SEEDS_OF_A_LONG_RUN + 1, SEEDS_OF_A_NIGHT).failed).toEqual([]);
}, 3_600_000);
