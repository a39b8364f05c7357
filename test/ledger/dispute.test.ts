import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { must } from '../../ledger/kernel/assert.ts';
import { DISPUTES_MAX, type DisputeNews, uncovered } from '../../ledger/payments/dispute.ts';
import {
  capturedStatus,
  type Dispute,
  DISPUTE_STATUSES,
  nextAsk,
  refundable,
} from '../../ledger/payments/payment.ts';
import type { RefundOutcome } from '../../ledger/payments/refund.ts';
import { PaymentWorld, SUCCEEDED, T0 } from './payment-world.ts';
import { holds, seeded } from './property.ts';

const DAY_MS = 86_400_000;
const DONE: RefundOutcome = { kind: 'succeeded', reference: 're_1', askAfterMs: null };
const WATCHED: RefundOutcome = { kind: 'succeeded', reference: 're_1', askAfterMs: 3000 };
const DECLINED: RefundOutcome = { kind: 'declined', reason: 'disputed' };

function captured(options: { amount?: bigint; currency?: string } = {}): PaymentWorld {
  const world = new PaymentWorld(options);
  world.charge(SUCCEEDED);
  return world;
}

/** A refund that the processor has answered. */
function refunded(world: PaymentWorld, amount: bigint, outcome: RefundOutcome): string {
  const decision = world.refund(amount);
  if (decision.kind !== 'reserved') throw new Error(decision.refusal);
  world.settle(decision.refund.id, outcome);
  return decision.refund.id;
}

const disputeOf = (world: PaymentWorld, reference = 'dp_1'): Dispute =>
  must(
    [...world.state.disputes.values()].find((dispute) => dispute.reference === reference),
    reference,
  );

const told = (world: PaymentWorld) =>
  world.events
    .filter(({ type }) => type === 'payment.disputed')
    .map(({ data }) => [data['status'], data['amount']]);

/** What the payment's invoice was told was charged back, in all. */
const invoiced = (world: PaymentWorld): bigint =>
  world.followups.reduce(
    (sum, { kind, data }) => (kind === 'dispute_settled' ? sum + BigInt(data.delta ?? '0') : sum),
    0n,
  );

describe('a dispute', () => {
  test('that is opened holds the money, which cannot be refunded', () => {
    const world = captured();
    const { changed, refused } = world.dispute();
    expect([changed.length, refused]).toEqual([1, []]);
    expect(world.totals).toMatchObject({ debitsPending: 10_000n, debitsPosted: 0n });
    expect(world.state.status).toBe('succeeded');
    expect(world.refund(1n)).toEqual({ kind: 'refused', refusal: 'disputed' });
    expect(world.refund(null)).toEqual({ kind: 'refused', refusal: 'disputed' });
    expect(world.events.at(-1)).toMatchObject({
      type: 'payment.disputed',
      sequence: 2n,
      data: {
        paymentId: 'payment',
        amount: '100.00',
        currency: 'USD',
        transactionType: 'DISPUTE',
        disputeId: disputeOf(world).id,
        transactionId: disputeOf(world).hold?.id,
        reason: 'fraudulent',
        status: 'opened',
        amountChargedBack: '0.00',
        refundableAmount: '0.00',
        clientReferenceId: 'order 7',
      },
    });
    expect(invoiced(world)).toBe(0n);
  });

  test('that is lost takes what it held, which counts as given back but is no refund', () => {
    const world = captured();
    world.dispute();
    world.now += 1000;
    world.dispute({ status: 'lost' });
    expect(world.totals).toMatchObject({ debitsPending: 0n, debitsPosted: 10_000n });
    expect(world.state.status).toBe('succeeded');
    expect(world.state.account).toMatchObject({ refunded: 0n, held: 0n, chargedBack: 10_000n });
    expect(world.refund(null)).toEqual({ kind: 'refused', refusal: 'disputed' });
    expect(disputeOf(world)).toMatchObject({ closedAt: T0 + 1000, askAt: null, hold: null });
    expect(world.events.at(-1)?.data).toMatchObject({
      status: 'lost',
      amountChargedBack: '100.00',
    });
    expect(invoiced(world)).toBe(10_000n);
  });

  test('that is won releases what it held, and all can be refunded', () => {
    const world = captured();
    world.dispute();
    world.dispute({ status: 'won' });
    expect(world.totals).toMatchObject({ debitsPending: 0n, debitsPosted: 0n });
    expect(world.refund(null).kind).toBe('reserved');
    expect(told(world)).toEqual([
      ['opened', '100.00'],
      ['won', '100.00'],
    ]);
    expect(invoiced(world)).toBe(0n);
  });

  test('of a part of the payment leaves the rest to refunds', () => {
    const world = captured();
    world.dispute({ amount: 4000n });
    expect(world.refund(6001n)).toEqual({ kind: 'refused', refusal: 'disputed' });
    expect(world.refund(10_001n)).toEqual({ kind: 'refused', refusal: 'exceeds_refundable' });
    refunded(world, 6000n, DONE);
    world.dispute({ amount: 4000n, status: 'lost' });
    expect(world.state.status).toBe('partially_refunded');
    expect(refundable(world.state.account)).toBe(0n);
  });

  test('that is lost in part releases what was not taken', () => {
    const world = captured();
    world.dispute({ amount: 10_000n });
    world.dispute({ amount: 7000n, status: 'lost' });
    expect(world.totals).toMatchObject({ debitsPending: 0n, debitsPosted: 7000n });
    expect(refundable(world.state.account)).toBe(3000n);
  });

  test('whose amount changes while it is open holds the new amount', () => {
    const world = captured();
    world.dispute({ amount: 3000n });
    world.dispute({ amount: 5000n });
    expect(world.state.account.held).toBe(5000n);
    world.dispute({ amount: 2000n });
    expect(world.state.account.held).toBe(2000n);
    expect(told(world)).toEqual([
      ['opened', '30.00'],
      ['opened', '50.00'],
      ['opened', '20.00'],
    ]);
  });
});

describe('news of a dispute, twice or out of order', () => {
  test.each([['opened'], ['won'], ['lost']] as const)('is the same once or twice: %s', (status) => {
    const world = captured();
    world.dispute({ status });
    const { transfers, events } = world;
    const before = [transfers.length, events.length];
    expect(world.dispute({ status })).toEqual({ changed: [], refused: [] });
    expect([transfers.length, events.length]).toEqual(before);
  });

  test('may be that it is lost without having been opened', () => {
    const world = captured();
    world.dispute({ status: 'lost' });
    expect(world.totals).toMatchObject({ debitsPending: 0n, debitsPosted: 10_000n });
    expect(told(world)).toEqual([['lost', '100.00']]);
  });

  test.each([['won'], ['lost']] as const)('as opened after %s is ignored as older', (status) => {
    const world = captured();
    world.dispute({ status });
    const { totals } = world;
    expect(world.dispute({ status: 'opened' }).changed).toEqual([]);
    expect(world.totals).toEqual(totals);
    expect(disputeOf(world).status).toBe(status);
  });

  test('as lost and then won gives back what was taken', () => {
    const world = captured();
    world.dispute({ status: 'lost' });
    world.dispute({ status: 'won' });
    expect(world.totals).toMatchObject({ debitsPending: 0n, debitsPosted: 0n });
    expect(invoiced(world)).toBe(0n);
    expect(world.refund(null).kind).toBe('reserved');
    world.dispute({ status: 'lost' });
    // It was refunded meanwhile: nothing is left to take.
    expect(disputeOf(world)).toMatchObject({ status: 'lost', chargedBack: 0n });
    expect(uncovered(disputeOf(world))).toBe(10_000n);
  });
});

describe('a dispute beside refunds', () => {
  test('that finds a full refund holds nothing, and says so', () => {
    const world = captured();
    refunded(world, 10_000n, DONE);
    world.dispute();
    expect(world.transfers.length).toBe(3);
    expect(world.events.at(-1)?.data).toMatchObject({ status: 'opened', transactionId: null });
    world.dispute({ status: 'lost' });
    expect(disputeOf(world)).toMatchObject({ hold: null, chargedBack: 0n });
    expect(world.state.status).toBe('refunded');
    expect(invoiced(world)).toBe(0n);
  });

  test('holds what a partial refund left', () => {
    const world = captured();
    refunded(world, 2500n, DONE);
    world.dispute();
    expect(world.state.account.held).toBe(7500n);
    world.dispute({ status: 'lost' });
    expect(world.state.account).toMatchObject({ refunded: 2500n, chargedBack: 7500n });
    expect(world.state.status).toBe('partially_refunded');
    expect(world.events.at(-1)?.data).toMatchObject({
      amount: '100.00',
      amountChargedBack: '75.00',
    });
  });

  test.each([
    ['opened', { held: 10_000n, chargedBack: 0n }],
    ['lost', { held: 0n, chargedBack: 10_000n }],
    ['won', { held: 0n, chargedBack: 0n }],
  ] as const)('holds what a failed refund gives back while it is %s', (status, account) => {
    const world = captured();
    const early = refunded(world, 4000n, WATCHED);
    const pending = world.refund(3000n);
    world.dispute({ status: 'opened' });
    expect(world.state.account.held).toBe(3000n);
    world.dispute({ status });
    world.settle(early, DECLINED);
    if (pending.kind === 'reserved') world.settle(pending.refund.id, DECLINED);
    expect(world.state.account).toMatchObject({ refunded: 0n, reserved: 0n, ...account });
    expect(uncovered(disputeOf(world))).toBe(0n);
    expect(invoiced(world)).toBe(account.chargedBack);
    const failures = world.events.filter(({ type }) => type === 'payment.refund_failed');
    const left = status === 'won' ? '100.00' : '0.00';
    expect(failures.at(-1)?.data).toMatchObject({ refundableAmount: left });
  });

  test.each([
    [
      'less',
      4000n,
      [
        ['single', 10_000n],
        ['reverse', 6000n],
      ],
    ],
    [
      'more',
      10_000n,
      [
        ['single', 4000n],
        ['single', 6000n],
      ],
    ],
  ] as const)(
    'that is lost takes %s, where its amount is another one then',
    (_what, amount, moves) => {
      const world = captured();
      const [[, first]] = moves;
      world.dispute({ amount: first, status: 'lost' });
      world.dispute({ amount, status: 'lost' });
      const moved = world.transfers.slice(-2).map(({ kind, amount: units }) => [kind, units]);
      expect(moved).toEqual(moves.map(([kind, units]) => [kind, units]));
      expect(disputeOf(world)).toMatchObject({ amount, chargedBack: amount });
      expect([world.state.account.chargedBack, invoiced(world)]).toEqual([amount, amount]);
    },
  );

  test.each([[['dp_1', 'dp_2']], [['dp_2', 'dp_1']]])(
    'with others that found nothing, in the order %p, takes what is free in that of their ids',
    (order) => {
      const world = captured();
      const refund = world.refund(null);
      if (refund.kind !== 'reserved') throw new Error(refund.refusal);
      for (const reference of order) world.dispute({ reference, amount: 7000n });
      world.settle(refund.refund.id, DECLINED);
      expect(['dp_1', 'dp_2'].map((reference) => disputeOf(world, reference).hold?.amount)).toEqual(
        [7000n, 3000n],
      );
    },
  );

  test('that shares the payment with another holds what that one releases', () => {
    const world = captured();
    world.dispute({ reference: 'dp_1', amount: 8000n });
    world.dispute({ reference: 'dp_2', amount: 8000n });
    expect(disputeOf(world, 'dp_2').hold?.amount).toBe(2000n);
    world.dispute({ reference: 'dp_1', amount: 8000n, status: 'won' });
    expect(disputeOf(world, 'dp_2').hold?.amount).toBe(8000n);
    expect(world.totals.debitsPending).toBe(8000n);
  });
});

describe('news of a dispute is refused', () => {
  test.each([
    ['a charge that is not decided', new PaymentWorld(), {}, 'no_charge'],
    ['another currency', captured(), { currency: 'EUR' }, 'other_currency'],
    ['an amount of nothing', captured(), { amount: 0n }, 'invalid_amount'],
  ] as const)('for %s', (_name, world, news, refusal) => {
    const before = world.state;
    const { changed, refused } = world.dispute(news);
    expect([changed, refused]).toEqual([[], [{ reference: 'dp_1', refusal }]]);
    expect(world.state).toBe(before);
  });

  test('beyond the number that a payment can have, while the others go on', () => {
    const world = captured();
    for (let nth = 1; nth <= DISPUTES_MAX; nth += 1) {
      world.dispute({ reference: `dp_${nth}`, amount: 1n });
    }
    const { refused } = world.dispute({ reference: 'one more', amount: 1n });
    expect(refused).toEqual([{ reference: 'one more', refusal: 'full' }]);
    expect(world.dispute({ reference: 'dp_1', amount: 1n, status: 'won' }).changed).toHaveLength(1);
  });
});

describe('a dispute is looked up at the processor', () => {
  test('each day while it is open, or when it says', () => {
    const world = captured();
    world.dispute();
    expect(nextAsk(world.state)).toBe(T0 + DAY_MS);
    world.now += DAY_MS;
    world.dispute({ askAfterMs: 5000 });
    expect(nextAsk(world.state)).toBe(world.now + 5000);
    world.dispute({ status: 'won' });
    expect(nextAsk(world.state)).toBeNull();
  });

  test('later each time without an answer, a day at most, and stays held', () => {
    const world = captured();
    world.dispute();
    const waits = Array.from({ length: 14 }, () => {
      const { now } = world;
      world.now = must(nextAsk(world.state), 'it is asked again');
      world.answer({ kind: 'unknown' });
      return (world.now - now) / 60_000;
    });
    expect(waits.slice(0, 5)).toEqual([1440, 1, 2, 4, 8]);
    expect(Math.max(...waits)).toBe(1440);
    expect(world.state.account.held).toBe(10_000n);
    expect(told(world)).toHaveLength(1);
  });

  test('the next day after an answer that does not name it, as still open', () => {
    const world = captured();
    world.dispute();
    world.now += DAY_MS;
    world.answer({ kind: 'found', disputes: [] });
    expect(nextAsk(world.state)).toBe(world.now + DAY_MS);
    expect(disputeOf(world).status).toBe('opened');
    // Before it is due nothing changes.
    const before = world.state;
    world.answer({ kind: 'unknown' });
    expect(world.state).toBe(before);
  });
});

test('a payment disputed with its charge is captured and held in one decision', () => {
  const world = new PaymentWorld();
  const news: DisputeNews = {
    reference: 'dp_1',
    amount: 10_000n,
    currency: 'USD',
    reason: 'fraudulent',
    status: 'opened',
    at: T0,
  };
  const effects = world.charge({ ...SUCCEEDED, disputes: [news] });
  expect(effects?.events.map(({ type }) => type)).toEqual([
    'payment.succeeded',
    'payment.disputed',
  ]);
  expect(world.totals).toMatchObject({ creditsPosted: 10_000n, debitsPending: 10_000n });
});

type Step =
  | { readonly kind: 'refund'; readonly amount: bigint | null }
  | { readonly kind: 'settle'; readonly which: number; readonly outcome: RefundOutcome }
  | { readonly kind: 'news'; readonly news: Partial<DisputeNews> }
  | { readonly kind: 'vain' }
  | { readonly kind: 'wait'; readonly ms: number };

const steps = (amount: bigint): fc.Arbitrary<Step[]> => {
  const some = fc.bigInt({ min: 1n, max: amount + amount / 4n + 1n });
  return fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('refund' as const), amount: fc.option(some, { freq: 6 }) }),
      fc.record({
        kind: fc.constant('settle' as const),
        which: fc.nat(),
        outcome: fc.constantFrom<RefundOutcome>(DONE, WATCHED, DECLINED, { kind: 'unknown' }),
      }),
      fc.record({
        kind: fc.constant('news' as const),
        news: fc.record({
          reference: fc.constantFrom('dp_1', 'dp_2', 'dp_3'),
          amount: fc.oneof(some, fc.constant(amount)),
          status: fc.constantFrom(...DISPUTE_STATUSES),
        }),
      }),
      fc.record({ kind: fc.constant('vain' as const) }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.nat({ max: 2 * DAY_MS }) }),
    ),
    { maxLength: 60 },
  );
};

const runs = fc
  .bigInt({ min: 1n, max: 10n ** 12n - 1n })
  .chain((amount) => fc.record({ amount: fc.constant(amount), steps: steps(amount) }));

test(seeded('refunds and lost disputes are never more than was captured'), () => {
  holds(
    fc.property(runs, ({ amount, steps: walk }) => {
      const world = captured({ amount });
      for (const step of walk) {
        take(world, step);
        check(world, amount);
      }
    }),
    500,
  );
});

function take(world: PaymentWorld, step: Step): void {
  if (step.kind === 'wait') world.now += step.ms;
  else if (step.kind === 'refund') world.refund(step.amount);
  else if (step.kind === 'vain') world.answer({ kind: 'unknown' });
  else if (step.kind === 'news') {
    world.dispute(step.news);
    const { length } = world.transfers;
    expect(world.dispute(step.news).changed).toEqual([]);
    expect(world.transfers.length).toBe(length);
  } else {
    const open = [...world.state.refunds.keys()];
    const id = open[step.which % Math.max(open.length, 1)];
    if (id !== undefined) world.settle(id, step.outcome);
  }
}

function check(world: PaymentWorld, amount: bigint): void {
  const { state, totals, clearing, disputes, refunds } = world;
  const { account } = state;
  expect(clearing).toMatchObject({
    creditsPosted: totals.debitsPosted,
    creditsPending: totals.debitsPending,
  });
  // I4: the ceiling.
  expect(totals.debitsPosted + totals.debitsPending <= amount).toBe(true);
  const given = { pending: 0n, succeeded: 0n, failed: 0n };
  for (const refund of refunds.values()) given[refund.status] += refund.amount;
  const all = [...disputes.values()];
  const held = all.reduce((sum, { hold }) => sum + (hold?.amount ?? 0n), 0n);
  const chargedBack = all.reduce((sum, dispute) => sum + dispute.chargedBack, 0n);
  expect(account).toEqual({
    opened: true,
    captured: amount,
    refunded: given.succeeded,
    reserved: given.pending,
    held,
    chargedBack,
  });
  expect(totals.debitsPosted).toBe(given.succeeded + chargedBack);
  expect(totals.debitsPending).toBe(given.pending + held);
  expect(invoiced(world)).toBe(chargedBack);
  expect(state.status).toBe(capturedStatus(account));
  for (const dispute of all) {
    // What is not covered has found nothing left.
    expect(uncovered(dispute) === 0n || refundable(account) === 0n).toBe(true);
    const last = world.events.findLast(({ data }) => data['disputeId'] === dispute.id);
    expect(last?.data['status']).toBe(dispute.status);
    // Its transfers are its own, each under an id of its own.
    const own = world.transfers.filter((transfer) => transfer.dispute === dispute.id);
    expect(new Set(own.map(({ id }) => id)).size).toBe(dispute.moves);
    expect(own.length).toBe(dispute.moves);
  }
}
