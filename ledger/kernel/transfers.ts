import { assert, unreachable } from './assert.ts';

/**
 * A transfer is one row: debit account, credit account, amount. It cannot be unbalanced, and it is
 * never changed.
 *
 * - `single`  moves the amount: debits of one account up, credits of the other up.
 * - `reverse` takes a movement back: both of those down again. A correction, an expiry, a void.
 * - `pending` reserves the amount on both sides until it is resolved, at most once, by
 * - `post`    (moves `amount`, at most what was held, and lets the rest go) or
 * - `void`    (lets all of it go).
 * - `refused` moves nothing: it is the record that a keyed request was answered with a no, so that
 *   its retry is too.
 */
export type TransferKind = 'single' | 'reverse' | 'pending' | 'post' | 'void' | 'refused';

export type Transfer = {
  /**
   * UUID: derived from the caller's idempotency key where there is one, so that the row is itself
   * the record of the key (I5).
   */
  readonly id: string;
  readonly kind: TransferKind;
  readonly slot: number;
  readonly debit: string;
  readonly credit: string;
  /** Scaled integer, never negative. */
  readonly amount: bigint;
  /** The pending transfer that a post or void resolves, and what that one held. */
  readonly hold: { readonly id: string; readonly amount: bigint } | null;
  /** When it was decided, milliseconds of the deciding node's clock. */
  readonly at: number;
  /** Present on usage and on refusals: what was reported, and what was answered. */
  readonly usage: UsageRecord | null;
  /** Present on the record of a keyed refund. */
  readonly refund?: RefundKey | null;
  /** Credits that a pool pays for a member: the account of the member's period. */
  readonly drawnFor?: string;
  /** A level that a period begins with: the event of an earlier period that set it. */
  readonly carried?: string;
  /** The dispute that moves it. */
  readonly dispute?: string | null;
};

/**
 * What a refund's key was used for: the hash of what was asked, and why it was refused, if it was.
 */
export type RefundKey = {
  readonly fingerprint: bigint | null;
  readonly refusal: string | null;
};

/** A JSON scalar, except null. A number is finite. */
export type Scalar = string | number | boolean;

/** The metadata of an event, as the caller sent it. */
export type UsageMetadata = Readonly<Record<string, Scalar>>;

/**
 * The part of a usage transfer that makes it the event's own record, and from which a retry gets
 * the first answer again.
 */
export type UsageRecord = {
  /**
   * What the caller reported, scaled; the transfer's amount is what it changed in the period's
   * consumption.
   */
  readonly value: bigint;
  /**
   * How many events it stands for, where that is not one: of what is committed on a meter that
   * counts. A correction takes one off: -1. Null: one.
   */
  readonly events: bigint | null;
  /** When the usage happened, milliseconds. */
  readonly eventAt: number;
  /** Hash of the request's meaning, to tell the same key with another body; null without a key. */
  readonly fingerprint: bigint | null;
  readonly reason: Reason;
  readonly consumedAfter: bigint;
  /** Null: unlimited. */
  readonly limitAfter: bigint | null;
  readonly metadata: UsageMetadata | null;
  /**
   * Whether it was admitted only because it fits under the limit: the database holds that too (I4).
   */
  readonly guarded: boolean;
  /** Whether usage of its period is sold: then the event is found by its period. */
  readonly sold: boolean;
  /**
   * The rest of the answer, where a retry must get it unchanged, byte for byte, or anything was
   * reserved.
   */
  readonly answer: AnswerRest | null;
};

/** The fields of an answer besides its numbers. Times are milliseconds. Stored as JSON. */
export type AnswerRest = {
  readonly periodStart: number | null;
  readonly periodEnd: number | null;
  readonly overageAllowed: boolean;
  readonly externalId: string | null;
  /** Scaled, as text; absent where nothing was. */
  readonly reserved?: string;
  /** What money had paid of the period; absent for nothing. */
  readonly billed?: string;
  /** Of a member of a pool: what paid, scaled, as text, and whether it is no debt. */
  readonly paidBy?: {
    readonly own: string;
    readonly credits: string;
    readonly pool: { readonly slug: string; readonly scale: number };
    readonly pooled: boolean;
  };
};

/** Why a check allows or denies (docs/spec/usage.md#check). */
export type Reason =
  | 'ok'
  | 'unlimited'
  | 'overage_allowed'
  | 'boolean'
  | 'insufficient_balance'
  | 'not_entitled'
  | 'subscription_paused'
  | 'blocked'
  | 'expired'
  | 'spend_cap';

/** Net totals of an account. `credits - debits` posted is what a meter account has left. */
export type Totals = {
  readonly debitsPosted: bigint;
  readonly debitsPending: bigint;
  readonly creditsPosted: bigint;
  readonly creditsPending: bigint;
};

export const NO_TOTALS: Totals = {
  debitsPosted: 0n,
  debitsPending: 0n,
  creditsPosted: 0n,
  creditsPending: 0n,
};

/**
 * The totals of an account after `transfer`, seen from one of its sides. Both sides get the same
 * numbers: that is I1.
 */
export function applyTransfer(
  totals: Totals,
  transfer: Transfer,
  side: 'debit' | 'credit',
): Totals {
  const { posted, pending } = movement(transfer);
  return side === 'debit'
    ? {
        ...totals,
        debitsPosted: totals.debitsPosted + posted,
        debitsPending: totals.debitsPending + pending,
      }
    : {
        ...totals,
        creditsPosted: totals.creditsPosted + posted,
        creditsPending: totals.creditsPending + pending,
      };
}

/** What a transfer changes on each of its two sides. */
export function movement(transfer: Transfer): { posted: bigint; pending: bigint } {
  assert(transfer.amount >= 0n, 'a transfer is never negative');
  switch (transfer.kind) {
    case 'single':
      return { posted: transfer.amount, pending: 0n };
    case 'reverse':
      return { posted: -transfer.amount, pending: 0n };
    case 'pending':
      return { posted: 0n, pending: transfer.amount };
    case 'post': {
      assert(transfer.hold !== null, 'a post resolves a hold');
      assert(transfer.amount <= transfer.hold.amount, 'a post moves at most what was held');
      return { posted: transfer.amount, pending: -transfer.hold.amount };
    }
    case 'void': {
      assert(transfer.hold !== null, 'a void resolves a hold');
      assert(transfer.amount === 0n, 'a void moves nothing');
      return { posted: 0n, pending: -transfer.hold.amount };
    }
    case 'refused':
      assert(transfer.amount === 0n, 'a refusal moves nothing');
      return { posted: 0n, pending: 0n };
    default:
      return unreachable(transfer.kind);
  }
}
