import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  NO_TOTALS,
  type Transfer,
  type TransferKind,
  applyTransfer,
  movement,
} from '../../ledger/kernel/transfers.ts';
import { holds, seeded } from './property.ts';

function transfer(kind: TransferKind, amount: bigint, held: bigint | null): Transfer {
  return {
    id: 't',
    kind,
    slot: 0,
    debit: 'a',
    credit: 'b',
    amount,
    hold: held === null ? null : { id: 'h', amount: held },
    at: 0,
    usage: null,
  };
}

// prettier-ignore
const MOVES: [TransferKind, bigint, bigint | null, bigint, bigint][] = [
  // kind      amount  held   posted  pending
  ['single',   5n,     null,  5n,     0n],
  ['single',   0n,     null,  0n,     0n],
  ['reverse',  5n,     null,  -5n,    0n],
  ['pending',  5n,     null,  0n,     5n],
  ['post',     5n,     5n,    5n,     -5n],
  ['post',     3n,     5n,    3n,     -5n],   // the rest is let go
  ['post',     0n,     5n,    0n,     -5n],
  ['void',     0n,     5n,    0n,     -5n],
  ['refused',  0n,     null,  0n,     0n],
];

test.each(MOVES)(
  '%s of %p, held %p, moves %p and leaves %p pending',
  (kind, amount, held, posted, pending) => {
    expect(movement(transfer(kind, amount, held))).toEqual({ posted, pending });
  },
);

// prettier-ignore
const BUGS: [TransferKind, bigint, bigint | null, string][] = [
  // kind      amount  held   why
  ['single',   -1n,    null,  'never negative'],
  ['reverse',  -1n,    null,  'never negative'],
  ['pending',  -1n,    null,  'never negative'],
  ['post',     6n,     5n,    'at most what was held'],
  ['post',     5n,     null,  'resolves a hold'],
  ['void',     0n,     null,  'resolves a hold'],
  ['void',     1n,     5n,    'moves nothing'],
  ['refused',  1n,     null,  'moves nothing'],
];

test.each(BUGS)('%s of %p, held %p, throws: %s', (kind, amount, held, why) => {
  expect(() => movement(transfer(kind, amount, held))).toThrow(why);
});

const amounts = fc.bigInt({ min: 0n, max: 10n ** 15n });
/** A movement with its reversal, or a hold with its resolution. */
const stories = fc.oneof(
  amounts.map((amount) => [transfer('single', amount, null), transfer('reverse', amount, null)]),
  fc
    .tuple(amounts, amounts)
    .map(([a, b]) => (a > b ? [b, a] : [a, b]))
    .map(([moved = 0n, held = 0n]) => [
      transfer('pending', held, null),
      transfer('post', moved, held),
      transfer('reverse', moved, null),
    ]),
  amounts.map((held) => [transfer('pending', held, null), transfer('void', 0n, held)]),
);

test(
  seeded('both sides of any transfers get the same numbers, and what is undone is nothing'),
  () => {
    holds(
      fc.property(fc.array(stories), (told) => {
        let [debit, credit] = [NO_TOTALS, NO_TOTALS];
        for (const one of told.flat()) {
          debit = applyTransfer(debit, one, 'debit');
          credit = applyTransfer(credit, one, 'credit');
          expect(debit.debitsPosted).toBe(credit.creditsPosted);
          expect(debit.debitsPending).toBe(credit.creditsPending);
          expect(debit.debitsPosted >= 0n && debit.debitsPending >= 0n).toBe(true);
        }
        expect([debit, credit]).toEqual([NO_TOTALS, NO_TOTALS]);
      }),
      1000,
    );
  },
);
