import { describe, expect, test } from 'bun:test';
import { type ChargeAnswer, isActionOverdue } from '../../ledger/payments/charge.ts';
import { declineOf, isTriedAgain } from '../../ledger/payments/declines.ts';
import { type FailureCode, type PaymentStatus, refundable } from '../../ledger/payments/payment.ts';
import { METHOD, PaymentWorld, SUCCEEDED, T0 } from './payment-world.ts';

const PENDING: ChargeAnswer = {
  kind: 'pending',
  reference: 'ch_1',
  method: METHOD,
  askAfterMs: 3000,
};
const ACTION: ChargeAnswer = { kind: 'requires_action', reference: 'ch_1', method: METHOD };
const DECLINED: ChargeAnswer = {
  kind: 'declined',
  code: 'insufficient_funds',
  message: 'No.',
  method: METHOD,
};
const NOT_ATTEMPTED: ChargeAnswer = {
  kind: 'not_attempted',
  code: 'processing_error',
  message: 'Sorry.',
};
const ABANDONED: ChargeAnswer = { kind: 'abandoned' };
const GIVEN_UP: ChargeAnswer = { kind: 'given_up' };
const UNKNOWN: ChargeAnswer = { kind: 'unknown' };

const ANSWERS = [
  [SUCCEEDED, 'succeeded', 'payment.succeeded'],
  [PENDING, 'processing', null],
  [ACTION, 'requires_action', null],
  [DECLINED, 'failed', 'payment.failed'],
  [NOT_ATTEMPTED, 'errored', 'payment.errored'],
  [ABANDONED, 'canceled', 'payment.failed'],
  [GIVEN_UP, 'canceled', 'payment.failed'],
  [UNKNOWN, 'processing', null],
] as const;

/** Of the same payment, for a subscription. */
const BILLED = { subscriptionId: 'subscription', isOffSession: true } as const;

const FINAL: readonly PaymentStatus[] = ['succeeded', 'failed', 'errored', 'canceled'];

describe("the processor's answer to a charge that is under way", () => {
  test.each(ANSWERS)('decides it: %p', (answer, status, event) => {
    const world = new PaymentWorld();
    world.charge(answer);
    const { state } = world;
    expect(state.status).toBe(status);
    expect<(string | null)[]>(world.events.map(({ type }) => type)).toEqual(
      event === null ? [] : [event],
    );
    const isFinal = FINAL.includes(status);
    expect(world.followups.map(({ kind }) => kind)).toEqual(isFinal ? ['payment_settled'] : []);
    // A pending one is asked about again; a final one never.
    expect(state.askAt === null).toBe(isFinal);
    expect(state.paidAt).toBe(status === 'succeeded' ? T0 : null);
    expect(world.totals.creditsPosted).toBe(status === 'succeeded' ? 10_000n : 0n);
    expect(state.account.captured).toBe(world.totals.creditsPosted);
  });
});

describe('a charge with a final answer keeps it', () => {
  for (const [first, status] of ANSWERS.filter(([, kind]) => FINAL.includes(kind))) {
    test.each(ANSWERS.map(([answer]) => [answer.kind, answer] as const))(
      `${status}, then %s`,
      (_kind, second) => {
        const world = new PaymentWorld();
        world.charge(first);
        const before = world.state;
        expect(world.charge(second)).toBeNull();
        expect(world.state).toBe(before);
      },
    );
  }
});

test.each(ANSWERS.filter(([, kind]) => FINAL.includes(kind)))(
  'a charge with a final answer is not looked up again, however often it was before: %p',
  (answer) => {
    const world = new PaymentWorld();
    world.charge(UNKNOWN);
    world.charge(answer);
    expect(world.state).toMatchObject({ asks: 0, askAt: null });
  },
);

test('a slow charge is looked up when the processor says', () => {
  const world = new PaymentWorld();
  world.charge(UNKNOWN);
  world.charge(PENDING);
  expect(world.state).toMatchObject({
    status: 'processing',
    reference: 'ch_1',
    method: METHOD,
    asks: 0,
    askAt: T0 + 3000,
  });
});

test('a decline names the method that was tried, or leaves what is known of it', () => {
  const world = new PaymentWorld();
  world.charge(DECLINED);
  expect(world.state).toMatchObject({
    method: METHOD,
    failure: { code: 'insufficient_funds', message: 'No.' },
  });
  const later = new PaymentWorld();
  later.charge(PENDING);
  later.charge({ ...DECLINED, method: null });
  expect(later.state.method).toEqual(METHOD);
});

// prettier-ignore
test.each([
  ['a success for a subscription',             BILLED,                                SUCCEEDED,     []],
  ['a success of its first payment',           { ...BILLED, isOffSession: false },    SUCCEEDED,     []],
  ['a decline for a subscription',             BILLED,                                DECLINED,      []],
  ['an error for a subscription',              BILLED,                                NOT_ATTEMPTED, []],
  ['a decline of its first payment',           { ...BILLED, isOffSession: false },    DECLINED,      ['payment.failed']],
  ['a decline of a stored card for a product', { ...BILLED, subscriptionId: null },   DECLINED,      ['payment.failed']],
] as const)('the events and follow-ups of an answer to a charge: %s', (_what, options, answer, told) => {
  const world = new PaymentWorld(options);
  world.charge(answer);
  expect<readonly string[]>(world.events.map(({ type }) => type)).toEqual(told);
  expect(world.followups.map(({ kind }) => kind)).toEqual(['payment_settled']);
});

test('a charge says that a retry is worth it only where it was not attempted', () => {
  const told = (answer: ChargeAnswer) => {
    const world = new PaymentWorld();
    world.charge(answer);
    return world.events.map(({ data }) => [data['failureCode'], data['retryable']]);
  };
  expect(told(NOT_ATTEMPTED)).toEqual([['processing_error', true]]);
  expect(told(DECLINED)).toEqual([['insufficient_funds', undefined]]);
  expect(told(ABANDONED)).toEqual([['authentication_abandoned', undefined]]);
  expect(told(GIVEN_UP)).toEqual([['canceled', undefined]]);
});

/** Whether the same instrument is charged again: by dunning, and by an automatic top-up. */
// prettier-ignore
const AGAIN: Readonly<Record<FailureCode, readonly [dunning: boolean, topUp: boolean]>> = {
  insufficient_funds:       [true,  true],
  processing_error:         [true,  true],
  card_declined:            [true,  false],
  expired_card:             [true,  false],
  invalid_expiry:           [true,  false],
  incorrect_cvc:            [true,  false],
  authentication_failed:    [true,  false],
  authentication_abandoned: [true,  false],
  discount_spent:           [true,  false],
  not_found:                [true,  false],
  canceled:                 [true,  false],
  lost_card:                [false, false],
  stolen_card:              [false, false],
  incorrect_number:         [false, false],
  incorrect_iban:           [false, false],
  mandate_lost:             [false, false],
  authentication_required:  [false, false],
  amount_refused:           [false, false],
};

const again = (status: 'failed' | 'errored', code: string): readonly boolean[] => {
  const decline = declineOf({ status, failure: { code, message: 'no' } });
  return [isTriedAgain(decline, 'days'), isTriedAgain(decline, 'hours')];
};

test.each(Object.entries(AGAIN))(
  'after a decline with %s, dunning and a top-up try again: %p',
  (code, expected) => {
    expect(again('failed', code)).toEqual(expected);
    const isFinal = !expected.includes(true);
    expect(again('errored', code)).toEqual([!isFinal, !isFinal]);
  },
);

test('after a decline with a code that nobody knows, dunning tries again, and a top-up does not', () => {
  for (const code of ['of an earlier version', 'constructor', '']) {
    expect(again('failed', code)).toEqual([true, false]);
  }
});

test('a charge without an answer is looked up ever more slowly, and nothing is released', () => {
  const world = new PaymentWorld();
  const waits: number[] = [];
  for (let ask = 0; ask < 30; ask += 1) {
    world.charge(UNKNOWN);
    waits.push((world.state.askAt ?? 0) - world.now);
  }
  expect(world.state.status).toBe('processing');
  expect(waits.slice(0, 4)).toEqual([500, 1000, 2000, 4000]);
  // A restart in the first two minutes finds it decided within ten seconds.
  expect(Math.max(...waits.slice(0, 17))).toBe(8000);
  expect(waits.slice(17, 20)).toEqual([16_000, 32_000, 64_000]);
  expect(waits.at(-1)).toBe(64_000);
  world.charge(SUCCEEDED);
  expect(world.state.status).toBe('succeeded');
});

const ACTION_MS = 15 * 60_000;

test("a charge that needs its buyer has the processor's time for it, and is looked up meanwhile", () => {
  const world = new PaymentWorld();
  world.charge(ACTION);
  expect(world.state.askAt).toBe(T0 + 2500);
  world.now = T0 + ACTION_MS - 1;
  world.charge(ACTION);
  expect(world.state.askAt).toBe(world.now + 3000);
  expect(isActionOverdue(world.state, { now: world.now, actionMs: ACTION_MS })).toBe(false);
  expect(isActionOverdue(world.state, { now: world.now + 1, actionMs: ACTION_MS })).toBe(true);
});

test('a charge whose buyer stays away is looked up ever more rarely, but each minute', () => {
  const world = new PaymentWorld();
  let asks = 0;
  for (; world.now < T0 + 2 * ACTION_MS; asks += 1) {
    world.charge(ACTION);
    const wait = (world.state.askAt ?? 0) - world.now;
    expect(wait).toBeLessThanOrEqual(66_000);
    world.now += wait;
  }
  expect(asks).toBeLessThan(60);
});

test('payment.succeeded has the fields of the contract', () => {
  const world = new PaymentWorld({ amount: 1250n, currency: 'KWD' });
  world.charge(SUCCEEDED);
  const [event] = world.events;
  expect(event).toMatchObject({
    type: 'payment.succeeded',
    objectType: 'PAYMENT',
    objectId: 'payment',
    accountId: 'customer',
    sequence: 1n,
    timestamp: T0,
    data: {
      paymentId: 'payment',
      transactionId: 'capture/payment',
      subscriptionId: null,
      amount: '1.250',
      currency: 'KWD',
      transactionType: 'PURCHASE',
      paymentLinkId: 'checkout',
      paymentLinkToken: 'token',
      productId: 'product',
      customerEmail: 'ada@example.com',
      externalCustomerId: 'u_1',
      clientReferenceId: 'order 7',
      metadata: { a: 'b' },
    },
  });
});

test('a charge of nothing is captured as nothing, and cannot be refunded', () => {
  const world = new PaymentWorld({ amount: 0n });
  world.charge(SUCCEEDED);
  expect(world.state.status).toBe('succeeded');
  expect(world.refund(null)).toEqual({ kind: 'refused', refusal: 'no_charge' });
});

test('of a charge that was captured in part, the part is paid, told and all that can be refunded', () => {
  const world = new PaymentWorld();
  world.charge({ ...SUCCEEDED, captured: 6000n });
  expect(world.state.account).toMatchObject({ captured: 6000n, refunded: 0n });
  expect(world.totals.creditsPosted).toBe(6000n);
  expect(world.events.map(({ data }) => data['amount'])).toEqual(['60.00']);
  expect(refundable(world.state.account)).toBe(6000n);
});
