import { assert, must, unreachable } from '../kernel/assert.ts';
import { formatMoney } from '../kernel/money.ts';
import {
  FIRST_ASK_MS,
  type PaymentEffects,
  type PaymentState,
  type Refund,
  type RefundFailure,
  type RefundReason,
  type RefundRefusal,
  capturedStatus,
  isCaptured,
  refundable,
} from './payment.ts';
import { coverDisputes } from './dispute.ts';
import { PaymentDraft, backoff, type PaymentContext } from './payment-draft.ts';

export type RefundRequest = {
  /** Derived from the caller's key, or new. */
  readonly id: string;
  /** null: all that is left. */
  readonly amount: bigint | null;
  readonly reason: RefundReason;
  /** Hash of the request's meaning, to tell the same key with another body; null without a key. */
  readonly fingerprint: bigint | null;
};

export type RefundDecision =
  | { readonly kind: 'reserved'; readonly refund: Refund }
  | { readonly kind: 'refused'; readonly refusal: RefundRefusal };

/** The processor's answer to a refund. */
export type RefundOutcome =
  | { readonly kind: 'succeeded'; readonly reference: string; readonly askAfterMs: number | null }
  | { readonly kind: 'pending'; readonly reference: string; readonly askAfterMs: number }
  | { readonly kind: 'declined'; readonly reason: RefundFailure }
  | { readonly kind: 'not_attempted' }
  | { readonly kind: 'unknown' };

/**
 * Reserves a refund: a pending debit that is durable before the processor is asked. A refusal of a
 * request with a key is stored as a transfer that moves nothing, so a retry is refused too
 * (docs/spec/conventions.md#idempotency-key).
 */
export function decideRefund(
  context: PaymentContext,
  state: PaymentState,
  request: RefundRequest,
): { readonly decision: RefundDecision; readonly effects: PaymentEffects | null } {
  const { id, reason, fingerprint } = request;
  const { now } = context;
  const left = refundable(state.account);
  const amount = request.amount ?? left;
  assert(request.amount === null || amount > 0n, 'the wire refuses an amount of nothing');
  const refusal = refusalOf(state, amount, left);
  const draft = new PaymentDraft(context, state);
  if (refusal !== null) {
    const decision = { kind: 'refused', refusal } as const;
    if (fingerprint === null) return { decision, effects: null };
    draft.move('debit', {
      id,
      kind: 'refused',
      amount: 0n,
      hold: null,
      refund: { fingerprint, refusal },
    });
    return { decision, effects: draft.effects() };
  }
  const refund: Refund = {
    id,
    amount,
    status: 'pending',
    reason,
    failureReason: null,
    reference: null,
    asks: 0,
    askAt: now + FIRST_ASK_MS,
    createdAt: now,
    settledAt: null,
    answered: null,
  };
  draft.move('debit', {
    id,
    kind: 'pending',
    amount,
    hold: null,
    refund: { fingerprint, refusal: null },
  });
  draft.account({ reserved: state.account.reserved + amount });
  draft.putRefund(refund);
  return { decision: { kind: 'reserved', refund }, effects: draft.effects() };
}

function refusalOf(state: PaymentState, amount: bigint, left: bigint): RefundRefusal | null {
  if (!isCaptured(state) || state.account.captured === 0n) return 'no_charge';
  const { held, chargedBack } = state.account;
  const disputed = held + chargedBack;
  if (left === 0n) return disputed > 0n ? 'disputed' : 'nothing_left';
  if (amount <= left) return null;
  return amount <= left + disputed ? 'disputed' : 'exceeds_refundable';
}

/**
 * Applies the processor's answer to a refund that may still change. null if it was settled before:
 * the caller then reads the result.
 */
export function decideRefundOutcome(
  context: PaymentContext,
  state: PaymentState,
  answer: { readonly refundId: string; readonly outcome: RefundOutcome },
): { readonly refund: Refund; readonly effects: PaymentEffects } | null {
  const known = state.refunds.get(answer.refundId);
  if (known === undefined) return null;
  const draft = new PaymentDraft(context, state);
  const settled = { asks: 0, settledAt: context.now };
  switch (answer.outcome.kind) {
    case 'succeeded':
      succeed(draft, known, { ...settled, ...later(context, answer.outcome) });
      break;
    case 'declined':
      fail(draft, known, { ...settled, failureReason: answer.outcome.reason });
      break;
    case 'pending':
      put(draft, known, { asks: 0, ...later(context, answer.outcome) });
      break;
    case 'not_attempted':
    case 'unknown':
      put(draft, known, { asks: known.asks + 1, askAt: context.now + backoff(known.asks) });
      break;
    default:
      return unreachable(answer.outcome);
  }
  const effects = draft.effects();
  return { refund: must(effects.refunds[0], 'the refund that was decided'), effects };
}

function later(
  { now }: PaymentContext,
  { reference, askAfterMs }: { readonly reference: string; readonly askAfterMs: number | null },
) {
  return { reference, askAt: askAfterMs === null ? null : now + askAfterMs };
}

/** Writes the refund. The first answer is stored with it, and a retry gets the same. */
function put(draft: PaymentDraft, before: Refund, change: Partial<Refund>): Refund {
  const { status, failureReason, settledAt, answered, ...rest } = { ...before, ...change };
  const now = { status, failureReason, settledAt };
  const refund: Refund = { ...rest, ...now, answered: answered ?? now };
  draft.putRefund(refund);
  return refund;
}

function succeed(draft: PaymentDraft, before: Refund, change: Partial<Refund>): void {
  if (before.status === 'succeeded') {
    // It was checked again and has still succeeded.
    put(draft, before, { askAt: change.askAt ?? null });
    return;
  }
  const { id, amount } = before;
  const { ids } = draft.context;
  const { account } = draft.state;
  const transactionId = ids.derive('refund', id);
  draft.move('debit', { id: transactionId, kind: 'post', amount, hold: { id, amount } });
  draft.account({ refunded: account.refunded + amount, reserved: account.reserved - amount });
  const refund = put(draft, before, { ...change, status: 'succeeded' });
  draft.change({ status: capturedStatus(draft.state.account) });
  announce(draft, 'payment.refunded', refund, { transactionId });
  draft.follow('refund_settled', `${id} succeeded`, { refundId: id, delta: String(amount) });
}

function fail(
  draft: PaymentDraft,
  before: Refund,
  change: { readonly failureReason: RefundFailure } & Partial<Refund>,
): void {
  const { id, amount } = before;
  const { ids } = draft.context;
  const { account } = draft.state;
  const transactionId = ids.derive('refund failed', id);
  if (before.status === 'pending') {
    draft.move('debit', { id: transactionId, kind: 'void', amount: 0n, hold: { id, amount } });
    draft.account({ reserved: account.reserved - amount });
  } else {
    draft.move('debit', { id: transactionId, kind: 'reverse', amount, hold: null });
    draft.account({ refunded: account.refunded - amount });
    const delta = String(-amount);
    draft.follow('refund_settled', `${id} failed`, { refundId: id, delta });
  }
  const refund = put(draft, before, { ...change, status: 'failed', askAt: null });
  draft.change({ status: capturedStatus(draft.state.account) });
  coverDisputes(draft);
  announce(draft, 'payment.refund_failed', refund, {
    transactionId,
    failureReason: change.failureReason,
    paymentStatus: draft.state.status,
  });
}

function announce(
  draft: PaymentDraft,
  type: 'payment.refunded' | 'payment.refund_failed',
  refund: Refund,
  data: Record<string, unknown>,
): void {
  const { payment, account } = draft.state;
  draft.announce(type, refund.amount, {
    transactionType: 'REFUND',
    refundId: refund.id,
    reason: refund.reason,
    status: refund.status,
    partial: refund.amount < account.captured,
    amountRefundedTotal: formatMoney(account.refunded, payment.currency),
    refundableAmount: formatMoney(refundable(account), payment.currency),
    ...data,
  });
}
