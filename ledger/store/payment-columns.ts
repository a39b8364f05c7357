// The columns of what actors of payments write. They come as JSON (`columns.ts`).
import { nextAsk, type PaymentState } from '../payments/payment.ts';
import type { RefundRow } from '../storage.ts';
import { int8, type JsonColumns, kept, replaced, time } from './columns.ts';
import type { AlarmRow } from './meter-columns.ts';

/** Of a payment only what changes is written: its row was made with the attempt. */
export const PAYMENT_COLUMNS = {
  slot: kept(({ payment }) => payment.slot),
  id: kept(({ payment }) => payment.id),
  status: replaced(({ status }) => status),
  invoice_id: replaced(({ invoiceId }) => invoiceId),
  customer_id: replaced(({ customerId }) => customerId),
  processor_reference: replaced(({ reference }) => reference),
  method: replaced(({ method }) => method),
  failure_code: replaced(({ failure }) => failure?.code ?? null),
  failure_message: replaced(({ failure }) => failure?.message ?? null),
  asks: replaced(({ asks }) => asks),
  ask_at: replaced(({ askAt }) => time(askAt)),
  sequence: replaced(({ sequence }) => int8(sequence)),
  event_at: replaced(({ eventAt }) => time(eventAt)),
  paid_at: replaced(({ paidAt }) => time(paidAt)),
} as const satisfies JsonColumns<PaymentState>;

export const REFUND_COLUMNS = {
  slot: kept(({ payment }) => payment.slot),
  id: kept(({ refund }) => refund.id),
  payment_id: kept(({ payment }) => payment.id),
  organisation_id: kept(({ payment }) => payment.organisationId),
  mode: kept(({ payment }) => payment.mode),
  amount: kept(({ refund }) => int8(refund.amount)),
  currency: kept(({ payment }) => payment.currency),
  status: replaced(({ refund }) => refund.status),
  reason: kept(({ refund }) => refund.reason),
  failure_reason: replaced(({ refund }) => refund.failureReason),
  processor_reference: replaced(({ refund }) => refund.reference),
  asks: replaced(({ refund }) => refund.asks),
  ask_at: replaced(({ refund }) => time(refund.askAt)),
  created_at: kept(({ refund }) => time(refund.createdAt)),
  settled_at: replaced(({ refund }) => time(refund.settledAt)),
  answered: replaced(({ refund }) => refund.answered),
} as const satisfies JsonColumns<RefundRow>;

export function paymentAlarm(state: PaymentState): AlarmRow {
  const { slot, id } = state.payment;
  return {
    slot,
    actorId: id,
    subjectId: id,
    dueAt: nextAsk(state),
    kind: 'payment',
    tenant: state.payment,
  };
}
