// What Stripe's dispute is to us: by its status, and by what was taken and given back.
import { describe, expect, test } from 'bun:test';
import type Stripe from 'stripe';
import { disputeOf } from '../../../src/processors/stripe/disputes.ts';

type Made = {
  readonly status: Stripe.Dispute.Status;
  /** Movements of the account's balance. */
  readonly moves?: readonly number[];
} & Partial<Pick<Stripe.Dispute, 'amount' | 'currency' | 'reason'>>;

/** The fields that are read. */
function dispute({ moves = [], ...made }: Made): Stripe.Dispute {
  return {
    id: 'du_1',
    object: 'dispute',
    amount: 5000,
    currency: 'usd',
    reason: 'fraudulent',
    created: 1_700_000_000,
    balance_transactions: moves.map((amount) => ({ amount })),
    ...made,
  } as unknown as Stripe.Dispute;
}

const SAID = {
  reference: 'du_1',
  currency: 'USD',
  reason: 'fraudulent',
  at: 1_700_000_000_000,
} as const;

describe('a Stripe dispute by its status', () => {
  // prettier-ignore
  test.each<[Stripe.Dispute.Status, readonly number[], string | null]>([
    ['needs_response',         [-5000],       'opened'],
    ['under_review',           [-5000],       'opened'],
    ['won',                    [-5000, 5000], 'won'],
    ['lost',                   [-5000],       'lost'],
    // The money is gone while it is appealed.
    ['appeal_needs_response',  [-5000],       'lost'],
    ['appeal_under_review',    [-5000],       'lost'],
    // The bank only asks.
    ['warning_needs_response', [],            null],
    ['warning_under_review',   [],            null],
    ['warning_closed',         [],            null],
    ['prevented',              [],            null],
    ['prevented',              [-5000],       'lost'],
    ['what comes next',        [],            null],
    ['what comes next',        [-5000],       'lost'],
  ])('%s, moved %p: is %s', (status, moves, ours) => {
    const made = disputeOf(dispute({ status, moves }));
    expect(made?.status ?? null).toBe(ours as 'won');
    if (made !== null) expect(made).toMatchObject({ ...SAID, amount: 5000n });
  });

  test('that is appealed is looked up again', () => {
    expect(disputeOf(dispute({ status: 'appeal_under_review' }))?.askAfterMs).toBe(86_400_000);
    expect(disputeOf(dispute({ status: 'lost' }))?.askAfterMs).toBeUndefined();
  });
});

describe('a Stripe dispute that is lost', () => {
  // prettier-ignore
  test.each<[string, readonly number[], bigint, string]>([
    ['all of it',                              [-5000],       5000n, 'lost'],
    ['but for what was given back',            [-5000, 2000], 3000n, 'lost'],
    // Of 45.01, 15 came back; what is left is never rounded to our favour.
    ['in another currency, by its share',      [-4501, 1500], 3334n, 'lost'],
    ['with all of it given back: it is ours',  [-5000, 5000], 5000n, 'won'],
  ])('takes %s', (_what, moves, amount, status) => {
    expect(disputeOf(dispute({ status: 'lost', moves }))).toMatchObject({ amount, status });
  });
});

test.each([
  ['jpy', 500, 500n],
  ['kwd', 12_340, 12_340n],
  // Stripe writes them with two decimals, we with none: what is not whole is rounded up.
  ['isk', 1200, 12n],
  ['isk', 1201, 13n],
  // The other way round.
  ['mga', 12, 1200n],
])(
  'a lost Stripe dispute in %s of %d has the amount in our decimals',
  (currency, units, amount) => {
    const made = disputeOf(dispute({ status: 'lost', currency, amount: units }));
    expect(made).toMatchObject({ amount, currency: currency.toUpperCase() });
  },
);

test.each([
  ['product_not_received', 'product_not_received'],
  ['a reason of tomorrow', 'general'],
])('a Stripe dispute for %s has its reason', (reason, ours) => {
  expect(disputeOf(dispute({ status: 'lost', reason }))?.reason).toBe(ours as 'general');
});
