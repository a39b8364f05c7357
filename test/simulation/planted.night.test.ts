// The simulation can fail: the planted faults that the long run leaves out are noticed by some
// seed.
import { expect, test } from 'bun:test';
import { PLANTED, RUN_MS_MAX, simulatedWith } from './planted-faults.ts';

test.each(PLANTED.filter((_, n) => n % 2 === 1))(
  'the simulation notices the planted fault %s',
  async (_, seed, fault) => {
    expect(await simulatedWith(fault, seed)).toContain('SEED=');
  },
  RUN_MS_MAX,
);
