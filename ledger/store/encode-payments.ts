import { type PaymentState, nextAsk } from '../payments/payment.ts';
import type { FlushRows, FollowupRow, RefundRow } from '../storage.ts';
import { iso } from './dates.ts';
import { subscriptionFollowupRow } from './encode-subscriptions.ts';

/** The rare rows of payments, as parts of the flush's JSON document. */
export function paymentRows(rows: FlushRows) {
  const { payments, refunds, followups, subscriptionFollowups } = rows;
  return {
    payments: payments.map(paymentRow),
    refunds: refunds.map(refundRow),
    followups: [
      ...followups.map(followupRow),
      ...subscriptionFollowups.map(subscriptionFollowupRow),
    ],
  };
}

export function paymentAlarmRow(state: PaymentState): Record<string, unknown> {
  const { slot, id, organisationId, mode } = state.payment;
  return {
    slot,
    actor_id: id,
    subject_id: id,
    due_at: iso(nextAsk(state)),
    kind: 'payment',
    organisation_id: organisationId,
    mode,
  };
}

/** What changes of it; the rest was written with the attempt. */
function paymentRow(state: PaymentState): Record<string, unknown> {
  const { payment, failure } = state;
  return {
    slot: payment.slot,
    id: payment.id,
    status: state.status,
    invoice_id: state.invoiceId,
    customer_id: state.customerId,
    processor_reference: state.reference,
    method: state.method,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    asks: state.asks,
    ask_at: iso(state.askAt),
    sequence: String(state.sequence),
    event_at: iso(state.eventAt),
    paid_at: iso(state.paidAt),
  };
}

function refundRow({ payment, refund }: RefundRow): Record<string, unknown> {
  return {
    slot: payment.slot,
    id: refund.id,
    payment_id: payment.id,
    organisation_id: payment.organisationId,
    mode: payment.mode,
    amount: String(refund.amount),
    currency: payment.currency,
    status: refund.status,
    reason: refund.reason,
    failure_reason: refund.failureReason,
    processor_reference: refund.reference,
    asks: refund.asks,
    ask_at: iso(refund.askAt),
    created_at: iso(refund.createdAt),
    settled_at: iso(refund.settledAt),
    answered: refund.answered,
  };
}

function followupRow({ slot, at, followup }: FollowupRow): Record<string, unknown> {
  return {
    slot,
    id: followup.id,
    kind: followup.kind,
    payment_id: followup.paymentId,
    data: followup.data,
    at: iso(at),
  };
}
