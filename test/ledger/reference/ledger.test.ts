// The ledger beside the reference, after every step of random histories (docs/spec/balance.md).
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ids } from '../../../src/platform/ids.ts';
import { holds, holdsLater, seeded } from '../property.ts';
import type { Plan, Price } from './facts.ts';
import { histories, type Kinds, PLANS, ROLLING, UNLIMITED } from './history.ts';
import { differenceOf } from './side-by-side.ts';
import { moneyOf } from './sold-side.ts';

// prettier-ignore
const KEPT: readonly (readonly [name: string, kinds: Kinds, plans: readonly Plan[]])[] = [
  ['usage',                              { use: 1 },                                        ROLLING],
  ['corrections',                        { use: 3, correct: 1 },                            ROLLING],
  ['late usage where nothing is carried', { use: 3, correct: 1, late: 1, lateCorrection: 1 }, PLANS],
  ['reservations that do not roll over', { use: 3, hold: 2, commit: 1, release: 1 },        PLANS],
  ['grants that end and are voided',     { use: 4, grant: 2, void: 1 },                     ROLLING],
  ['changes of plan',                    { use: 4, grant: 1, void: 1, change: 2 },          PLANS],
  ['changes of plans that roll over',    { use: 4, grant: 1, void: 1, change: 2 },          ROLLING],
  ['late usage of plans that roll over', { use: 3, correct: 1, late: 1, lateCorrection: 1 }, ROLLING],
  ['late usage beside grants',           { use: 3, correct: 1, late: 2, lateCorrection: 1, grant: 2, void: 1 }, PLANS],
  ['late usage beside grants and what rolls over', { use: 3, correct: 1, late: 2, lateCorrection: 1, grant: 2, void: 1 }, ROLLING],
  ['late usage over changes of plan',    { use: 3, correct: 1, late: 2, lateCorrection: 1, change: 2 }, PLANS],
  ['late usage over changes of plans that roll over', { use: 3, correct: 1, late: 2, lateCorrection: 1, change: 2 }, ROLLING],
  ['corrections over changes of plan',   { use: 4, correct: 2, change: 2 },                 ROLLING],
  ['reservations that roll over',        { use: 3, hold: 2, commit: 1, release: 1 },        ROLLING],
  ['reservations over changes of plan',  { use: 3, hold: 2, commit: 1, release: 1, change: 2 }, PLANS],
  ['reservations beside all else',       { use: 3, correct: 1, late: 1, lateCorrection: 1, grant: 2, void: 1, change: 1, hold: 2, commit: 1, release: 1 }, ROLLING],
  ['suspensions beside grants',          { use: 4, grant: 2, void: 1, rest: 1 },            ROLLING],
  ['suspensions beside all else',        { use: 3, correct: 1, late: 1, lateCorrection: 1, grant: 1, void: 1, change: 1, hold: 2, commit: 1, release: 1, rest: 1 }, ROLLING],
  ['changes to and from no limit',       { use: 4, change: 2 },                             UNLIMITED],
  ['no limit beside grants and holds',   { use: 4, correct: 1, grant: 1, void: 1, change: 2, hold: 1, commit: 1, release: 1 }, UNLIMITED],
  ['late usage over changes to and from no limit', { use: 3, correct: 1, late: 2, lateCorrection: 1, change: 2 }, UNLIMITED],
  ['corrections beside grants',          { use: 4, correct: 2, grant: 2, void: 1 },         ROLLING],
];

test.each(KEPT)(seeded('%s: the ledger says what the reference says'), (_name, kinds, plans) => {
  holds(
    fc.property(histories(kinds), (history) => {
      expect(differenceOf(history, plans)).toBe(null);
    }),
    600,
  );
});

const TIERS = [
  { upTo: 40n, amount: 10n, flat: 100n },
  { upTo: null, amount: 7n },
];
const PRICES: readonly Price[] = [
  { id: ids.next(), model: 'per_unit', amount: 10n, maximum: 300n },
  { id: ids.next(), model: 'package', size: 7n, amount: 30n },
  { id: ids.next(), model: 'graduated', minimum: 400n, tiers: TIERS },
  { id: ids.next(), model: 'volume', tiers: TIERS },
];

test(seeded('sold usage, late and corrected too: the ledger bills what the reference bills'), () =>
  holdsLater(
    fc.asyncProperty(
      histories({ use: 3, correct: 1, late: 1, lateCorrection: 1 }),
      fc.constantFrom(...PRICES),
      fc.bigInt({ min: 0n, max: 90n }),
      async (history, price, limit) => {
        const { ledger, reference } = await moneyOf(history, { limit, price });
        expect(ledger).toBe(reference);
      },
    ),
    200,
  ),
);
