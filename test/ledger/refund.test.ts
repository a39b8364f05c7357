import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { EXPONENTS } from '../../ledger/kernel/currencies.ts';
import { formatMoney, parseMoney } from '../../ledger/kernel/money.ts';
import { type Refund, isCaptured, nextAsk, refundable } from '../../ledger/payments/payment.ts';
import type { RefundDecision, RefundOutcome } from '../../ledger/payments/refund.ts';
import { PaymentWorld, SUCCEEDED, T0 } from './payment-world.ts';
import { holds, seeded } from './property.ts';

const DONE: RefundOutcome = { kind: 'succeeded', reference: 're_1', askAfterMs: null };
const WATCHED: RefundOutcome = { kind: 'succeeded', reference: 're_1', askAfterMs: 3000 };
const PENDING: RefundOutcome = { kind: 'pending', reference: 're_1', askAfterMs: 3000 };
const DECLINED: RefundOutcome = { kind: 'declined', reason: 'expired_or_canceled_card' };

function captured(options: { amount?: bigint; currency?: string } = {}): PaymentWorld {
  const world = new PaymentWorld(options);
  world.charge(SUCCEEDED);
  return world;
}

function reserved(decision: RefundDecision): Refund {
  if (decision.kind !== 'reserved') throw new Error(decision.refusal);
  return decision.refund;
}

describe('a refund is refused, by the first of these reasons', () => {
  test.each([
    ['no charge', new PaymentWorld(), 1n, 'no_charge'],
    ['no charge, however little', new PaymentWorld(), null, 'no_charge'],
    ['more than was captured', captured(), 10_001n, 'exceeds_refundable'],
  ] as const)('for %s', (_name, world, amount, refusal) => {
    expect(world.refund(amount)).toEqual({ kind: 'refused', refusal });
    // The refusal is not stored either: without a key nobody retries it.
    expect(world.transfers.filter(({ kind }) => kind !== 'single')).toEqual([]);
  });

  test('where a pending one counts as refunded', () => {
    const world = captured();
    reserved(world.refund(6000n));
    expect(world.refund(4001n)).toEqual({ kind: 'refused', refusal: 'exceeds_refundable' });
    expect(reserved(world.refund(null)).amount).toBe(4000n);
    expect(world.refund(1n)).toEqual({ kind: 'refused', refusal: 'nothing_left' });
    expect(world.refund(null)).toEqual({ kind: 'refused', refusal: 'nothing_left' });
  });

  test('with a key, which keeps the refusal and moves nothing', () => {
    const world = captured();
    world.refund(10_001n, { id: 'key', fingerprint: 7n });
    expect(world.transfers.at(-1)).toMatchObject({
      id: 'key',
      kind: 'refused',
      amount: 0n,
      refund: { fingerprint: 7n, refusal: 'exceeds_refundable' },
    });
    expect(world.totals.debitsPosted + world.totals.debitsPending).toBe(0n);
  });
});

describe('a captured payment can be refunded', () => {
  test('by a second refund of what is left, and none after that', () => {
    const world = captured();
    for (const [amount, status] of [
      [4000n, 'partially_refunded'],
      [6000n, 'refunded'],
    ] as const) {
      expect(isCaptured(world.state)).toBe(true);
      world.settle(reserved(world.refund(amount)).id, DONE);
      expect(world.state.status).toBe(status);
    }
    expect(world.refund(1n)).toEqual({ kind: 'refused', refusal: 'nothing_left' });
  });

  test('but not where its charge failed', () => {
    const world = new PaymentWorld();
    world.charge({ kind: 'abandoned' });
    expect(isCaptured(world.state)).toBe(false);
    expect(world.refund(1n)).toEqual({ kind: 'refused', refusal: 'no_charge' });
  });
});

// prettier-ignore
test.each([
  // the charge  the refunds       next
  [null,         [],               null],
  [5,            [],               5],
  [null,         [null],           null],
  [null,         [7],              7],
  [null,         [7, 6, 8],        6],
  [5,            [7, null],        5],
  [5,            [4],              4],
] as const)('the processor is called when the first is due: charge %p, refunds %p', (askAt, refunds, next) => {
  const world = captured();
  const asked = refunds.map((at) => ({ ...reserved(world.refund(1n)), askAt: at }));
  const open = new Map(asked.map((refund) => [refund.id, refund]));
  expect(nextAsk({ ...world.state, askAt, refunds: open })).toBe(next);
});

describe('a refund', () => {
  test('is reserved before it is sent, and posted when it is done', () => {
    const world = captured();
    const { id, askAt } = reserved(world.refund(3000n));
    expect(askAt).toBe(T0 + 3000);
    expect(world.totals).toMatchObject({ debitsPending: 3000n, debitsPosted: 0n });
    expect(world.state.status).toBe('succeeded');
    expect(world.settle(id, DONE)).toMatchObject({ status: 'succeeded', askAt: null });
    expect(world.totals).toMatchObject({ debitsPending: 0n, debitsPosted: 3000n });
    expect(world.state.status).toBe('partially_refunded');
    expect(world.events.at(-1)).toMatchObject({
      type: 'payment.refunded',
      sequence: 2n,
      // Events have one order: it happened in the same millisecond.
      timestamp: T0 + 1,
      data: {
        refundId: id,
        amount: '30.00',
        amountRefundedTotal: '30.00',
        refundableAmount: '70.00',
        partial: true,
        status: 'succeeded',
      },
    });
  });

  test('that is slow is looked up, then posted once', () => {
    const world = captured();
    const { id } = reserved(world.refund(null));
    world.settle(id, { kind: 'unknown' });
    world.settle(id, PENDING);
    expect(world.refunds.get(id)).toMatchObject({ asks: 0, askAt: T0 + 3000, reference: 're_1' });
    expect(world.state.status).toBe('succeeded');
    expect(world.events.length).toBe(1);
    world.settle(id, { kind: 'unknown' });
    expect(world.settle(id, DONE)).toMatchObject({ asks: 0, settledAt: T0 });
    expect(world.state.status).toBe('refunded');
    expect(world.events.at(-1)?.data['partial']).toBe(false);
    expect(world.settle(id, DONE)).toBeNull();
    expect(world.events.map(({ type }) => type)).toEqual(['payment.succeeded', 'payment.refunded']);
  });

  test('that is declined frees its reserve', () => {
    const world = captured();
    const { id } = reserved(world.refund(null));
    expect(world.settle(id, DECLINED)).toMatchObject({
      status: 'failed',
      failureReason: 'expired_or_canceled_card',
    });
    expect(refundable(world.state.account)).toBe(10_000n);
    expect(world.state.status).toBe('succeeded');
    expect(world.events.at(-1)).toMatchObject({
      type: 'payment.refund_failed',
      data: { paymentStatus: 'succeeded', refundableAmount: '100.00' },
    });
    // The invoice never heard of it.
    expect(world.followups.map(({ kind }) => kind)).toEqual(['payment_settled']);
  });

  test('sent back by the bank after it succeeded can be refunded again', () => {
    const world = captured();
    const { id } = reserved(world.refund(4000n));
    world.settle(id, WATCHED);
    expect(world.state.status).toBe('partially_refunded');
    world.settle(id, DECLINED);
    expect(world.state.status).toBe('succeeded');
    expect(world.totals).toMatchObject({ debitsPosted: 0n, debitsPending: 0n });
    expect(world.followups.map(({ data }) => data.delta)).toEqual([undefined, '4000', '-4000']);
    // And it can be refunded again, in full.
    expect(reserved(world.refund(null)).amount).toBe(10_000n);
  });

  test('watched after it succeeded, and still good, writes no second event', () => {
    const world = captured();
    const { id } = reserved(world.refund(4000n));
    world.settle(id, WATCHED);
    expect(world.settle(id, DONE)).toMatchObject({ status: 'succeeded', askAt: null });
    expect(world.events.length).toBe(2);
    expect(world.settle(id, DECLINED)).toBeNull();
  });

  test.each([[{ kind: 'unknown' }], [{ kind: 'not_attempted' }]] as const)(
    'answered %p keeps its reserve, for as long as it takes',
    (outcome) => {
      const world = captured();
      const { id } = reserved(world.refund(null));
      for (let ask = 0; ask < 20; ask += 1) {
        const away = Math.min(Math.max(ask - 16, 0), 3);
        const askAt = T0 + 500 * 2 ** (Math.min(ask, 4) + away);
        expect(world.settle(id, outcome)).toMatchObject({
          status: 'pending',
          asks: ask + 1,
          askAt,
        });
      }
      expect(refundable(world.state.account)).toBe(0n);
      world.settle(id, DONE);
      expect(world.state.status).toBe('refunded');
    },
  );

  test("keeps its caller's first answer for a retry", () => {
    const world = captured();
    const { id } = reserved(world.refund(null));
    expect(world.refunds.get(id)?.answered).toBeNull();
    world.settle(id, { kind: 'unknown' });
    world.settle(id, DONE);
    expect(world.refunds.get(id)?.answered).toEqual({
      status: 'pending',
      failureReason: null,
      settledAt: null,
    });
  });
});

type Step =
  | { readonly kind: 'refund'; readonly amount: bigint | null }
  | { readonly kind: 'settle'; readonly which: number; readonly outcome: RefundOutcome }
  | { readonly kind: 'wait'; readonly ms: number };

const outcomes = fc.constantFrom<RefundOutcome>(
  DONE,
  WATCHED,
  PENDING,
  DECLINED,
  { kind: 'unknown' },
  { kind: 'not_attempted' },
);

const steps = (amount: bigint): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant('refund' as const),
        amount: fc.option(fc.bigInt({ min: 1n, max: amount + amount / 4n + 1n }), { freq: 6 }),
      }),
      fc.record({ kind: fc.constant('settle' as const), which: fc.nat(), outcome: outcomes }),
      // The clock may stand still, too.
      fc.record({ kind: fc.constant('wait' as const), ms: fc.nat({ max: 10_000 }) }),
    ),
    { maxLength: 60 },
  );

const runs = fc
  .record({
    currency: fc.constantFrom(...EXPONENTS.keys()),
    amount: fc.bigInt({ min: 1n, max: 10n ** 12n - 1n }),
  })
  .chain(({ currency, amount }) =>
    fc.record({
      currency: fc.constant(currency),
      amount: fc.constant(amount),
      steps: steps(amount),
    }),
  );

test(seeded('no unit is gained or lost, whatever is refunded, answered, or not'), () => {
  holds(
    fc.property(runs, ({ currency, amount, steps: walk }) => {
      const world = captured({ amount, currency });
      for (const step of walk) {
        take(world, step);
        checkBooks(world, amount);
      }
      // The events' amounts add up to the account's, as text and back.
      const sum = world.events.reduce((total, { type, data }) => {
        const units = parseMoney(String(data['amount']), currency);
        if (typeof units === 'string') throw new Error(units);
        return type === 'payment.refunded' ? total + units : total;
      }, 0n);
      const takenBack = world.followups.reduce(
        (total, { data }) => (data.delta?.startsWith('-') ? total - BigInt(data.delta) : total),
        0n,
      );
      expect(formatMoney(sum - takenBack, currency)).toBe(
        formatMoney(world.totals.debitsPosted, currency),
      );
    }),
    300,
  );
});

function take(world: PaymentWorld, step: Step): void {
  if (step.kind === 'wait') {
    world.now += step.ms;
  } else if (step.kind === 'refund') {
    world.refund(step.amount);
  } else {
    const open = [...world.state.refunds.keys()];
    const id = open[step.which % Math.max(open.length, 1)];
    if (id !== undefined) world.settle(id, step.outcome);
  }
}

function checkBooks({ state, totals, clearing, refunds, events }: PaymentWorld, amount: bigint) {
  const { account } = state;
  // I1, I2, I3: two sides of the same, and the actor's totals are what was written.
  expect(clearing.creditsPosted).toBe(totals.debitsPosted);
  expect(clearing.creditsPending).toBe(totals.debitsPending);
  expect(clearing.debitsPosted).toBe(totals.creditsPosted);
  expect(totals.creditsPosted).toBe(amount);
  expect(account).toEqual({
    opened: true,
    captured: totals.creditsPosted,
    refunded: totals.debitsPosted,
    reserved: totals.debitsPending,
    held: 0n,
    chargedBack: 0n,
  });
  // I4: the ceiling.
  expect(totals.debitsPosted + totals.debitsPending <= amount).toBe(true);
  const sums = { pending: 0n, succeeded: 0n, failed: 0n };
  for (const refund of refunds.values()) sums[refund.status] += refund.amount;
  expect(sums.pending).toBe(totals.debitsPending);
  expect(sums.succeeded).toBe(totals.debitsPosted);
  const status =
    account.refunded === 0n
      ? 'succeeded'
      : account.refunded < amount
        ? 'partially_refunded'
        : 'refunded';
  expect(state.status).toBe(status);
  // Numbered without a gap, and strictly later each time.
  for (const [index, event] of events.entries()) {
    expect(event.sequence).toBe(BigInt(index + 1));
    const before = events[index - 1];
    if (before !== undefined) expect(event.timestamp).toBeGreaterThan(before.timestamp);
  }
}
