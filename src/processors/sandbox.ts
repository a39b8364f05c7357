// The processor of test mode: it moves no money and answers like one that does, by the number of the card or account (cards.ts).
//
// Holds what the port asks, on PostgreSQL: a key is one row, whoever calls it how often at once, before or after a crash of ours.
// Not kept: card numbers. What reaches the tables is what may be shown of a card.
// The clock is asked at each call, so that what settles later follows whichever clock it was given.
import { must, unreachable } from '../../ledger/assert.ts';
import type { Clock } from '../../ledger/ports.ts';
import type { Sql } from '../platform/postgres.ts';
import { behaviourOf, type ChargeCourse, MESSAGES } from './cards.ts';
import type { ChargeRequest, ChargeResult, Method, Processor, RefundResult } from './processor.ts';
import {
  cancelCharge,
  type ChargeRow,
  type ChargeStatus,
  findCharge,
  findRefund,
  insertCharge,
  makeRefund,
  type NextStatus,
  type RefundRow,
  resolveAction,
} from './sandbox-store.ts';

/** What the bank asks the buyer to confirm. */
export type Challenge = {
  readonly amount: bigint;
  readonly currency: string;
  readonly method: Method;
  readonly returnUrl: string;
  /** Whether it still waits for an answer. */
  readonly isOpen: boolean;
};

export type Sandbox = Processor & {
  findChallenge(key: string): Promise<Challenge | null>;
  /** The buyer's answer, the first of which counts. null where none is waited for. */
  answerChallenge(key: string, passed: boolean): Promise<{ readonly returnUrl: string } | null>;
};

export type SandboxOptions = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly settleMs: number;
  readonly challengeUrl: (chargeKey: string) => string;
};

type Opening = {
  readonly status: ChargeStatus;
  readonly next: NextStatus | null;
};

/** null: nothing reaches the books. */
const OPENINGS: Readonly<Record<ChargeCourse, Opening | null>> = {
  succeeds: { status: 'succeeded', next: null },
  declines: { status: 'declined', next: null },
  settles: { status: 'pending', next: 'succeeded' },
  bounces: { status: 'pending', next: 'declined' },
  challenges: { status: 'requires_action', next: 'succeeded' },
  challenges_then_declines: { status: 'requires_action', next: 'declined' },
  loses_the_answer: { status: 'succeeded', next: null },
  loses_the_request: null,
  errors: null,
};

const UNKNOWN: ChargeResult = { kind: 'unknown' };
const NOT_FOUND: ChargeResult = {
  kind: 'not_attempted',
  code: 'not_found',
  message: 'The payment was not made.',
};
const CANCELED: ChargeResult = {
  kind: 'not_attempted',
  code: 'canceled',
  message: 'The payment was given up.',
};
const ERROR: ChargeResult = {
  kind: 'not_attempted',
  code: 'processing_error',
  message: 'The payment could not be processed. Try again in a moment.',
};

export function sandbox(options: SandboxOptions): Sandbox {
  const { sql, clock } = options;

  async function chargeNow(key: string): Promise<ChargeResult> {
    const now = clock.now();
    const found = await findCharge(sql, key, now);
    return found === null ? NOT_FOUND : chargeResult(found, now, options);
  }

  return {
    name: 'sandbox',
    page: 'fields',
    async charge(request) {
      const now = clock.now();
      const { made, course } = await openCharge(options, request, now);
      if (made !== null) {
        return course === 'loses_the_answer' ? UNKNOWN : chargeResult(made, now, options);
      }
      const found = await chargeNow(request.key);
      if (found !== NOT_FOUND) return found;
      return course === 'loses_the_request' ? UNKNOWN : ERROR;
    },
    findCharge: chargeNow,
    async cancelCharge(key) {
      await cancelCharge(sql, key, clock.now());
      return chargeNow(key);
    },
    async refund(request) {
      if (request.amount <= 0n) return { kind: 'not_attempted' };
      const now = clock.now();
      const settlesAt = new Date(now + options.settleMs);
      const made = await makeRefund(sql, request, { now, settlesAt });
      return made === null ? { kind: 'not_attempted' } : refundResult(made, now);
    },
    async findRefund(key) {
      const now = clock.now();
      const found = await findRefund(sql, key, now);
      return found === null ? { kind: 'not_attempted' } : refundResult(found, now);
    },
    async findChallenge(key) {
      const found = await findCharge(sql, key, clock.now());
      return found === null ? null : challengeOf(found);
    },
    async answerChallenge(key, passed) {
      const failureCode = 'authentication_failed';
      const refusal = { failureCode, failureMessage: MESSAGES[failureCode] };
      const returnUrl = await resolveAction(sql, key, passed ? null : refusal);
      return returnUrl === null ? null : { returnUrl };
    },
  };
}

/** Writes the charge down where this call is its first and there is anything to write. */
async function openCharge(
  { sql, settleMs }: SandboxOptions,
  { key, amount, currency, instrument, returnUrl }: ChargeRequest,
  now: number,
): Promise<{ readonly made: ChargeRow | null; readonly course: ChargeCourse }> {
  // Without an amount or a card there is nothing to try.
  if (amount <= 0n || instrument === null) return { made: null, course: 'errors' };
  const { method, charge: course, failure, refunds } = behaviourOf(instrument, now);
  const opening = OPENINGS[course];
  if (opening === null) return { made: null, course };
  const { status, next } = opening;
  const made = await insertCharge(
    sql,
    {
      key,
      status,
      nextStatus: next,
      nextAt: status === 'pending' ? new Date(now + settleMs) : null,
      amount,
      currency,
      method,
      refunds,
      failureCode: failure,
      failureMessage: failure === null ? null : MESSAGES[failure],
      returnUrl: status === 'requires_action' ? returnUrl : null,
    },
    now,
  );
  return { made, course };
}

function chargeResult(row: ChargeRow, now: number, { challengeUrl }: SandboxOptions): ChargeResult {
  const { key, status, method } = row;
  const taken = () => ({ reference: `sandbox_charge_${key}`, method: must(method, 'its method') });
  switch (status) {
    case 'succeeded':
      return { kind: 'succeeded', ...taken() };
    case 'pending': {
      const askAfterMs = must(row.nextAt, 'when it settles').getTime() - now;
      return { kind: 'pending', ...taken(), askAfterMs };
    }
    case 'requires_action':
      return { kind: 'requires_action', ...taken(), url: challengeUrl(key) };
    case 'declined': {
      const code = must(row.failureCode, 'why it was declined');
      return { kind: 'declined', code, message: row.failureMessage ?? '', method };
    }
    case 'canceled':
      return CANCELED;
    default:
      return unreachable(status);
  }
}

function refundResult({ key, status, nextAt, failure }: RefundRow, now: number): RefundResult {
  const reference = `sandbox_refund_${key}`;
  const left = nextAt === null || nextAt.getTime() <= now ? null : nextAt.getTime() - now;
  switch (status) {
    case 'succeeded':
      return { kind: 'succeeded', reference, askAfterMs: left };
    case 'pending':
      return { kind: 'pending', reference, askAfterMs: must(left, 'when it settles') };
    case 'declined':
      return { kind: 'declined', reason: must(failure, 'why it was declined') };
    default:
      return unreachable(status);
  }
}

function challengeOf({ status, amount, currency, method, returnUrl }: ChargeRow): Challenge | null {
  if (amount === null || currency === null || method === null || returnUrl === null) return null;
  return { amount, currency, method, returnUrl, isOpen: status === 'requires_action' };
}
