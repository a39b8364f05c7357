// The processor of test mode. It moves no money; the number of the card or account decides its
// answers (cards.ts).
//
// Holds: the promises of the port, on PostgreSQL. A key is one row, for any number of concurrent
// calls, before or after a crash.
// Does not: store card numbers, only what may be shown of a card.
// It reads the clock at each call, so a later settlement follows a test clock too. Calls of the
// same moment share statements (sandbox-books.ts).
import { must, unreachable } from '../../ledger/kernel/assert.ts';
import type { Clock, Timers } from '../../ledger/ports.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import {
  type Behaviour,
  behaviourOf,
  type ChargeCourse,
  isExpired,
  MESSAGES,
  offSessionOf,
  verificationOf,
} from './cards.ts';
import type {
  ChargeRequest,
  ChargeResult,
  Dispute,
  Method,
  Processor,
  RefundResult,
  SavedChargeRequest,
} from './processor.ts';
import { type Books, openBooks } from './sandbox-books.ts';
import { disputesOf } from './sandbox-disputes.ts';
import {
  cancelCharge,
  type ChargeRow,
  type ChargeStatus,
  confirmCharge,
  findCharge,
  findRefund,
  forgetMandate,
  makeRefund,
  type Mandate,
  type NewCharge,
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
  readonly timers: Timers;
  readonly settleMs: number;
  /** Where its bank's pages are, and the page of one challenge there. */
  readonly origin: string;
  readonly challengeUrl: (chargeKey: string) => string;
};

const TIMES = {
  /** How long a buyer has to answer the bank. */
  actionMs: 15 * 60_000,
  /** Its answer is a statement here: it comes at once, or not at all. */
  firstAskMs: 3000,
  // It has no least.
  refusalOf: () => null,
  retryLostMs: 0,
} as const;

/** What a charge comes down to, with its buyer or without. */
type Attempt = Pick<ChargeRequest, 'key' | 'amount' | 'currency'> &
  Behaviour & {
    readonly returnUrl: string | null;
    readonly mandate: string | null;
    readonly offSession: ChargeCourse | null;
  };

/** The sandbox in a merchant's time. Charges of different organisations take turns. */
export type SandboxFor = (clock: Pick<Clock, 'now'>, organisationId?: string) => Sandbox;

type Opening = {
  readonly status: ChargeStatus;
  readonly next: NextStatus | null;
};

/** null: nothing reaches the books. */
const OPENINGS: Readonly<Record<ChargeCourse, Opening | null>> = {
  succeeds: { status: 'succeeded', next: null },
  succeeds_at_first: { status: 'succeeded', next: null },
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

export function openSandbox(options: SandboxOptions): SandboxFor {
  const books = openBooks(options);
  return (clock, organisationId) => sandbox(options, { books, clock, organisationId });
}

/** One merchant's calls. */
type OnBooks = {
  readonly books: Books;
  readonly clock: Pick<Clock, 'now'>;
  readonly organisationId: string | undefined;
};

function sandbox(options: SandboxOptions, of: OnBooks): Sandbox {
  const { sql } = options;
  const { books, clock, organisationId } = of;

  async function chargeNow(key: string): Promise<ChargeResult> {
    const now = clock.now();
    const found = await findCharge(sql, key, now);
    return found === null ? NOT_FOUND : chargeResult(found, now, options);
  }

  /** The first call with a key makes the charge. null: there is nothing to try. */
  async function attempt(key: string, made: Attempt | null, now: number): Promise<ChargeResult> {
    const course = made?.charge ?? 'errors';
    const opened = made === null ? null : openingOf(options, made, now);
    const written = opened === null ? null : await books.charges.get(opened, organisationId);
    if (written !== null && 'failed' in written) throw written.failed;
    const row = written?.row ?? null;
    if (row !== null) {
      return course === 'loses_the_answer' ? UNKNOWN : chargeResult(row, now, options);
    }
    const found = await chargeNow(key);
    if (found !== NOT_FOUND) return found;
    return course === 'loses_the_request' ? UNKNOWN : ERROR;
  }

  return {
    name: 'sandbox',
    page: 'fields',
    pageOrigin: options.origin,
    ...TIMES,
    charge(request) {
      const now = clock.now();
      return attempt(request.key, onSession(request, now), now);
    },
    async chargeSaved(request) {
      const now = clock.now();
      const savedBy = savingCharge(request.saved);
      const { key } = request;
      const mandate =
        savedBy === null ? null : await books.mandates.get({ key, savedBy }, organisationId);
      return attempt(key, offSession(request, mandate, now), now);
    },
    async forget(saved) {
      const savedBy = savingCharge(saved);
      if (savedBy !== null) await forgetMandate(sql, savedBy, clock.now());
      return { kind: 'forgotten' };
    },
    findCharge: chargeNow,
    async confirmCharge(key) {
      await confirmCharge(sql, key);
      return chargeNow(key);
    },
    async cancelCharge(key) {
      await cancelCharge(sql, key, clock.now());
      return chargeNow(key);
    },
    ...refunding(options, of),
    async findChallenge(key) {
      const found = await findCharge(sql, key, clock.now());
      return found === null ? null : challengeOf(found);
    },
    async answerChallenge(key, passed) {
      const failureCode = 'authentication_failed' as const;
      const refusal = { failureCode, failureMessage: MESSAGES[failureCode] };
      const returnUrl = await resolveAction(sql, key, passed ? null : refusal);
      return returnUrl === null ? null : { returnUrl };
    },
  };
}

/** The part of the port that gives back, or has it taken back. */
function refunding(
  { sql, settleMs }: SandboxOptions,
  { books, clock, organisationId }: OnBooks,
): Pick<Processor, 'refund' | 'findRefund' | 'findDisputes'> {
  return {
    async refund(request) {
      if (request.amount <= 0n) return { kind: 'not_attempted' };
      const now = clock.now();
      const refund = { ...request, at: new Date(now), settlesAt: new Date(now + settleMs) };
      const taken = await books.refunds.get(refund, organisationId);
      const made = taken ?? (await makeRefund(sql, refund));
      return made === null ? { kind: 'not_attempted' } : refundResult(made, now);
    },
    async findRefund(key) {
      const now = clock.now();
      const found = await findRefund(sql, key, now);
      return found === null ? { kind: 'not_attempted' } : refundResult(found, now);
    },
    async findDisputes(chargeKey) {
      const now = clock.now();
      const charge = await findCharge(sql, chargeKey, now);
      return { kind: 'found', disputes: charge === null ? [] : disputesOf(charge, now) };
    },
  };
}

/** null without an amount or a card. */
function onSession(
  { key, amount, currency, instrument, save, returnUrl }: ChargeRequest,
  now: number,
): Attempt | null {
  const isVerification = amount === 0n && save;
  if (instrument === null || (amount <= 0n && !isVerification)) return null;
  const behaviour = behaviourOf(instrument, now);
  const { charge } = behaviour;
  return {
    ...behaviour,
    key,
    amount,
    currency,
    returnUrl,
    charge: isVerification ? verificationOf(charge) : charge,
    mandate: save ? key : null,
    offSession: save ? offSessionOf(charge) : null,
  };
}

function offSession(
  { key, amount, currency }: SavedChargeRequest,
  mandate: Mandate | null,
  now: number,
): Attempt | null {
  if (amount <= 0n) return null;
  const attempted = { key, amount, currency, returnUrl: null, offSession: null };
  if (mandate === null || mandate.isForgotten) {
    const { method = null, expiry = null, key: savedBy = null } = mandate ?? {};
    const lost = { charge: 'declines', failure: 'mandate_lost', refunds: 'succeed' } as const;
    return { ...attempted, ...lost, dispute: null, method, expiry, mandate: savedBy };
  }
  const { method, expiry, refunds, dispute, failure, offSession: course } = mandate;
  const kept = { ...attempted, method, expiry, refunds, dispute, mandate: mandate.key };
  return expiry !== null && isExpired(expiry, now)
    ? { ...kept, charge: 'declines', failure: 'expired_card' }
    : { ...kept, charge: course, failure };
}

/** The charge as it is written down; null where there is nothing to write. */
function openingOf(
  { settleMs }: SandboxOptions,
  { charge, failure, ...attempt }: Attempt,
  now: number,
): NewCharge | null {
  const opening = OPENINGS[charge];
  if (opening === null) return null;
  const { status, next } = opening;
  return {
    ...attempt,
    status,
    nextStatus: next,
    nextAt: status === 'pending' ? new Date(now + settleMs) : null,
    disputeEndsAt: attempt.dispute === null ? null : new Date(now + settleMs),
    failureCode: failure,
    failureMessage: failure === null ? null : MESSAGES[failure],
    returnUrl: status === 'requires_action' ? attempt.returnUrl : null,
    createdAt: new Date(now),
  };
}

const SAVED = 'sandbox_method_';

/** The charge that saved it, if it is a name of ours. */
function savingCharge(saved: string): string | null {
  return saved.startsWith(SAVED) ? saved.slice(SAVED.length) : null;
}

function chargeResult(row: ChargeRow, now: number, { challengeUrl }: SandboxOptions): ChargeResult {
  const { key, status, method, expiry, mandate } = row;
  const kept = { saved: mandate === null ? null : `${SAVED}${mandate}`, expiry };
  const taken = () => ({ reference: `sandbox_charge_${key}`, method: must(method, 'its method') });
  switch (status) {
    case 'succeeded':
      return { kind: 'succeeded', ...taken(), ...kept, ...disputed(row, now) };
    case 'pending': {
      const askAfterMs = must(row.nextAt, 'when it settles').getTime() - now;
      return { kind: 'pending', ...taken(), ...kept, askAfterMs };
    }
    case 'requires_action':
      return { kind: 'requires_action', ...taken(), url: challengeUrl(key) };
    case 'requires_confirmation':
      return { kind: 'requires_confirmation', ...taken() };
    case 'declined': {
      const code = must(row.failureCode, 'why it was declined');
      const message = row.failureMessage ?? '';
      return { kind: 'declined', code, message, method };
    }
    case 'canceled':
      return CANCELED;
    default:
      return unreachable(status);
  }
}

function disputed(row: ChargeRow, now: number): { readonly disputes?: readonly Dispute[] } {
  const disputes = disputesOf(row, now);
  return disputes.length === 0 ? {} : { disputes };
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
