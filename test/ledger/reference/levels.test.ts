// A meter that takes the last value beside the reference, with and without carry, after every step
// of random histories (docs/spec/balance.md#levels).
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { holds, seeded } from '../property.ts';
import type { Plan } from './facts.ts';
import { histories, type Kinds } from './history.ts';
import { levelDifferenceOf } from './side-by-side.ts';

const LIMITED: readonly Plan[] = [{ limit: 100n }, { limit: 30n }, { limit: 0n }, { limit: 200n }];
const PLANS: readonly Plan[] = [...LIMITED.slice(0, 3), { limit: null }];

// prettier-ignore
const KEPT: readonly (readonly [name: string, carry: boolean, kinds: Kinds, plans: readonly Plan[]])[] = [
  ['carried levels',                            true,  { use: 2, late: 3 }, PLANS],
  ['carried levels beside grants and changes',  true,  { use: 2, late: 3, grant: 2, void: 1, change: 2 }, PLANS],
  ['carried levels over suspensions',           true,  { use: 2, late: 2, grant: 1, rest: 1, change: 1 }, LIMITED],
  ['levels that are not carried',               false, { use: 2, late: 3, grant: 1, void: 1, change: 1 }, PLANS],
];

test.each(KEPT)(
  seeded('%s: the ledger says what the reference says'),
  (_name, carry, kinds, plans) => {
    holds(
      fc.property(histories(kinds), (history) => {
        expect(levelDifferenceOf(history, plans, carry)).toBe(null);
      }),
      300,
    );
  },
);
