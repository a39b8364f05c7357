// The API of everything that moves money: what routes, pages and alarms may ask, and each answer
// they may get.
import type { DisputesOutcome } from '../../ledger/payments/dispute.ts';
import type { RefundReason, RefundRefusal } from '../../ledger/payments/payment.ts';
import type { Taken } from '../platform/redis/rate-limit.ts';
import type { Instrument } from '../processors/processor.ts';
import type { RefundRecord } from '../records/payments.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/** What a buyer sends from the hosted page. */
export type Order = {
  /** null where the checkout came with one. */
  readonly email: string | null;
  readonly name: string | null;
  readonly currency: string;
  readonly discountCode: string | null;
  /** The total that the page showed, in the smallest coin. Another total is never charged. */
  readonly total: bigint;
  /** null for a processor that asks on a page of its own, and where nothing is due. */
  readonly instrument: Instrument | null;
  /** Whether the page is in a frame: a bank that is shown there leads back to it. */
  readonly isEmbedded?: boolean;
};

export type PayOutcome =
  /**
   * Look at the checkout: it is paid, in progress, or open again with its last payment declined.
   */
  | { readonly kind: 'attempted' }
  /** The buyer has to go there first. */
  | { readonly kind: 'requires_action'; readonly url: string }
  /** Paid, expired, canceled, or being paid in another tab. Nothing was done. */
  | { readonly kind: 'not_open' }
  /** Too many attempts. Nothing was done. */
  | { readonly kind: 'locked' }
  /** The price or the discount is not what the page said any more. Nothing was done. */
  | { readonly kind: 'total_changed' }
  | { readonly kind: 'discount_refused' }
  | { readonly kind: 'email_required' };

export type RefundCall = {
  readonly paymentId: string;
  /** A decimal string as it came; null for all that is left. */
  readonly amount: string | null;
  readonly reason: RefundReason;
  readonly idempotencyKey: string | null;
};

export type RefundReply =
  | { readonly kind: 'refund'; readonly refund: RefundRecord; readonly replayed: boolean }
  /** A business refusal. A retry with the same key gets it again. */
  | { readonly kind: 'refused'; readonly refusal: RefundRefusal; readonly replayed: boolean }
  | { readonly kind: 'not_found' }
  /** Nothing, or not an amount of the payment's currency. */
  | { readonly kind: 'invalid_amount'; readonly currency: string }
  | { readonly kind: 'key_reused' }
  /** The same key is being executed, or its first execution is not decided yet. */
  | { readonly kind: 'in_progress' }
  | { readonly kind: 'rate_limited'; readonly taken: Taken };

export type DisputesReply =
  /** What has changed is durable. `refused`: what is not recorded, and why. */
  | ({ readonly kind: 'asked' } & DisputesOutcome)
  | { readonly kind: 'not_found' }
  /** The processor has not answered. What is open is asked about again by itself. */
  | { readonly kind: 'unknown' };

export type Payments = {
  /** Tries to pay the checkout with this token. */
  pay(token: string, order: Order): Promise<PayOutcome>;
  /**
   * Asks the processor about a payment that is not decided: the buyer came back, or waits. Returns
   * the address that the buyer must visit, if any.
   */
  refresh(paymentId: string): Promise<{ readonly actionUrl: string | null }>;
  /**
   * The buyer does not want to go on elsewhere: a payment that waits for that is canceled, and the
   * checkout is open again. One that the buyer has agreed to is charged.
   */
  giveUp(paymentId: string): Promise<void>;
  refund(scope: Tenant, call: RefundCall): Promise<RefundReply>;
  /**
   * Cancels a charge without its buyer that nobody wants any more, if the processor lets go of it.
   */
  release(paymentId: string): Promise<void>;
  /** Refunds all that is left of a payment that nobody wanted, once. */
  giveBack(scope: Tenant, paymentId: string): Promise<void>;
  /**
   * Asks the processor what has become of a charge, or of a refund, due or not: there is a hint
   * that it has changed. An id of another tenant, or of nothing, is ignored. Returns whether there
   * is such a charge.
   */
  pollCharge(scope: Tenant, paymentId: string): Promise<boolean>;
  pollRefund(scope: Tenant, refundId: string): Promise<void>;
  /**
   * Asks the processor what is disputed of the payment, and records it: there is a hint that
   * something is. It may be called as often as there are hints.
   */
  pollDisputes(scope: Tenant, paymentId: string): Promise<DisputesReply>;
  /** Runs the alarm of a payment. */
  due(paymentId: string): Promise<void>;
  /**
   * Charges the saved payment method for a payment on disk. Resolves when there is an answer, or
   * none came.
   */
  collect(paymentId: string): Promise<void>;
  /** Executes follow-ups that are due. Returns whether there were any. */
  carryOut(scope: Tenant): Promise<boolean>;
  /** Stops background work, and waits for calls under way. */
  close(): Promise<void>;
};
