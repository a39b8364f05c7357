import { assert } from '../kernel/assert.ts';
import type { LedgerEvent } from '../event.ts';
import type { Mode } from '../kernel/tenant.ts';
import type { Transfer } from '../kernel/transfers.ts';

/**
 * One payment: what was charged, and what of it is refunded.
 *
 *     requires_action ─▶ processing ─▶ succeeded ◀─▶ partially_refunded ◀─▶ refunded
 *            │               ├──▶ failed      the processor or the buyer's bank refused
 *            └─▶ canceled    └──▶ errored     the processor failed: nothing was charged
 *
 * How it works: a payment has one account. The capture credits it. A refund is a pending debit
 * until the processor has answered, and so is an open dispute until it is decided. So what can
 * still be refunded is what the account has left.
 * What holds: only `refundable` computes the refund ceiling, and a CHECK of the database enforces
 * it too. The status goes backwards only when a refund fails late. A missing answer is not a no:
 * the reserve stays, and the processor is asked again at `askAt`. A lost dispute is no refund: the
 * status stays, and `disputes` tell of it.
 * What it does not do: decide. `charge.ts`, `refund.ts` and `dispute.ts` do. Amounts are in the
 * smallest coin of the currency.
 */
export const PAYMENT_STATUSES = [
  'requires_action',
  'processing',
  'succeeded',
  'partially_refunded',
  'refunded',
  'failed',
  'errored',
  'canceled',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** What a charge is for. */
export const TRANSACTION_TYPES = ['PURCHASE', 'SUBSCRIPTION_START', 'RECURRING'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** What never changes. Its customer is known when it succeeds. */
export type Payment = {
  readonly id: string;
  readonly slot: number;
  readonly organisationId: string;
  readonly mode: Mode;
  readonly amount: bigint;
  readonly currency: string;
  readonly transactionType: TransactionType;
  readonly subscriptionId: string | null;
  /** The meter that it tops up by itself. */
  readonly meterId: string | null;
  readonly customerName: string | null;
  /**
   * Whether what the customer has left is charged, for an invoice: not an attempt at a checkout.
   */
  readonly isOffSession: boolean;
  /** 1 for the first try to be paid for the same thing. */
  readonly attempt: number;
  /** The name of the processor that is asked for the money. */
  readonly processor: string;
  readonly createdAt: number;
  /**
   * What the merchant sent with the checkout, and gets back on every event
   * (docs/spec/events.md#envelope).
   */
  readonly roundTrip: RoundTrip;
};

export type RoundTrip = {
  readonly paymentLinkId: string | null;
  readonly paymentLinkToken: string | null;
  readonly productId: string | null;
  readonly customerEmail: string | null;
  readonly externalCustomerId: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

/** How long after a refund is sent its alarm first asks what became of it. */
export const FIRST_ASK_MS = 3000;

/** What of the buyer's means may be shown and kept. */
export type PaymentMethod = {
  readonly type: 'card' | 'bank_debit';
  readonly brand: string | null;
  readonly last4: string;
};

/** The payment's account, as its actor believes it to be. */
export type PaymentAccount = {
  /** Whether its row exists, here or in a flush under way. */
  readonly opened: boolean;
  readonly captured: bigint;
  readonly refunded: bigint;
  /** Refunds under way. */
  readonly reserved: bigint;
  /** What open disputes hold. */
  readonly held: bigint;
  /** What lost disputes took. */
  readonly chargedBack: bigint;
};

export type PaymentState = {
  readonly payment: Payment;
  readonly status: PaymentStatus;
  readonly account: PaymentAccount;
  readonly customerId: string | null;
  readonly invoiceId: string | null;
  readonly method: PaymentMethod | null;
  /** The processor's own name for it. */
  readonly reference: string | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly paidAt: number | null;
  /**
   * How often the processor was asked in vain, and when to ask it again; null where nothing is
   * open.
   */
  readonly asks: number;
  readonly askAt: number | null;
  /** Refunds that may still change. */
  readonly refunds: ReadonlyMap<string, Refund>;
  /** All of them: also one that is decided may change. */
  readonly disputes: ReadonlyMap<string, Dispute>;
  readonly sequence: bigint;
  readonly eventAt: number;
};

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

export const REFUND_STATUSES = ['pending', 'succeeded', 'failed'] as const;

export type Refund = {
  /** Also the id of its hold: derived from the caller's idempotency key where there is one. */
  readonly id: string;
  readonly amount: bigint;
  readonly status: (typeof REFUND_STATUSES)[number];
  readonly reason: RefundReason;
  readonly failureReason: RefundFailure | null;
  readonly reference: string | null;
  readonly asks: number;
  readonly askAt: number | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
  /** The first answer to the caller: a retry gets the same. */
  readonly answered: RefundAnswer | null;
};

/** What of a refund changes, at one time. */
export type RefundAnswer = Pick<Refund, 'status' | 'failureReason' | 'settledAt'>;

/**
 * Why a refund is refused before anything is reserved. `disputed`: it is left, but held or lost.
 */
export type RefundRefusal = 'no_charge' | 'nothing_left' | 'exceeds_refundable' | 'disputed';

export const DISPUTE_STATUSES = ['opened', 'won', 'lost'] as const;
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

/** Why a buyer disputes a payment, as Stripe names it. */
export const DISPUTE_REASONS = [
  'bank_cannot_process',
  'check_returned',
  'credit_not_processed',
  'customer_initiated',
  'debit_not_authorized',
  'duplicate',
  'fraudulent',
  'general',
  'incorrect_account_details',
  'insufficient_funds',
  'noncompliant',
  'product_not_received',
  'product_unacceptable',
  'subscription_canceled',
  'unrecognized',
] as const;
export type DisputeReason = (typeof DISPUTE_REASONS)[number];

/**
 * The buyer's bank takes money back. An open one holds what it is about of the payment's account,
 * a lost one takes it, a won one lets it go. What the account does not have, since it was refunded
 * before, is not covered: `amount` less the hold or what was charged back.
 */
export type Dispute = {
  /** Derived from the payment and the reference. */
  readonly id: string;
  /** The processor's own name for it. */
  readonly reference: string;
  /** What is disputed; of a lost one, what was taken from the merchant. */
  readonly amount: bigint;
  readonly reason: DisputeReason;
  readonly status: DisputeStatus;
  readonly hold: { readonly id: string; readonly amount: bigint } | null;
  readonly chargedBack: bigint;
  /** How many transfers it has made: their ids count them. */
  readonly moves: number;
  readonly asks: number;
  readonly askAt: number | null;
  readonly openedAt: number;
  /** When it was won or lost. */
  readonly closedAt: number | null;
};

/** A task that follows from the decision. It is done once, after the flush. */
export type Followup = {
  readonly id: string;
  readonly kind: 'payment_settled' | 'refund_settled' | 'dispute_settled' | 'usage_given_back';
  readonly paymentId: string;
  /**
   * The refund or the dispute, and by how much it changed what was refunded or charged back, as a
   * decimal integer.
   */
  readonly data: {
    readonly refundId?: string;
    readonly disputeId?: string;
    readonly delta?: string;
  };
};

/** Everything that one decision on a payment wants written. */
export type PaymentEffects = {
  readonly kind: 'payment';
  /** When it was decided. */
  readonly at: number;
  readonly before: PaymentState;
  readonly state: PaymentState;
  readonly transfers: readonly Transfer[];
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
  readonly events: readonly LedgerEvent[];
  readonly followups: readonly Followup[];
};

/**
 * What can still be refunded: pending refunds count as refunded (docs/spec/contract.md#refunds),
 * and so does what is disputed or lost.
 */
export function refundable({
  captured,
  refunded,
  reserved,
  held,
  chargedBack,
}: Omit<PaymentAccount, 'opened'>): bigint {
  return captured - refunded - reserved - held - chargedBack;
}

/** Whether the processor's answer to the charge is final. */
export function isCharged({ status }: PaymentState): boolean {
  return status !== 'requires_action' && status !== 'processing';
}

/** Why a charge was not made, for programs. */
export const FAILURE_CODES = [
  'card_declined',
  'insufficient_funds',
  'lost_card',
  'stolen_card',
  'expired_card',
  'invalid_expiry',
  'incorrect_cvc',
  'incorrect_number',
  'incorrect_iban',
  'authentication_failed',
  'authentication_required',
  'authentication_abandoned',
  'mandate_lost',
  'discount_spent',
  'amount_refused',
  'processing_error',
  'not_found',
  'canceled',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Why a refund was not made. */
export const REFUND_FAILURES = [
  'declined',
  'expired_or_canceled_card',
  'lost_or_stolen_card',
  'insufficient_funds',
  'disputed',
  'processor_error',
  'unknown',
] as const;
export type RefundFailure = (typeof REFUND_FAILURES)[number];

/** Whether its subscription announces it. */
export function isBilled({ payment }: PaymentState): boolean {
  return payment.subscriptionId !== null && payment.isOffSession;
}

/** Whether there is money that can be refunded. */
export function isCaptured({ status }: PaymentState): boolean {
  return status === 'succeeded' || status === 'partially_refunded' || status === 'refunded';
}

/**
 * The status of a captured payment follows from what was refunded of it. What was charged back is
 * not a refund: a payment that was lost as a whole stays `succeeded`.
 */
export function capturedStatus({ captured, refunded }: PaymentAccount): PaymentStatus {
  assert(refunded >= 0n && refunded <= captured, 'I4: no more is refunded than was captured');
  if (refunded === 0n) return 'succeeded';
  return refunded < captured ? 'partially_refunded' : 'refunded';
}

/** When the processor is to be asked next about anything; null for never. */
export function nextAsk(state: PaymentState): number | null {
  let next = state.askAt;
  for (const { askAt } of [...state.refunds.values(), ...state.disputes.values()]) {
    if (askAt !== null && (next === null || askAt < next)) next = askAt;
  }
  return next;
}
