// The columns of what actors of payments write. They come as rows (`columns.ts`).
import { nextAsk, type PaymentState } from '../payments/payment.ts';
import type { DisputeRow, RefundRow } from '../storage.ts';
import { kept, replaced, type RowColumns } from './columns.ts';
import type { AlarmRow } from './meter-columns.ts';

/** Of a payment only what changes is written: its row was made with the attempt. */
export const PAYMENT_COLUMNS = {
  slot: kept('smallint', ({ payment }) => payment.slot),
  id: kept('uuid', ({ payment }) => payment.id),
  status: replaced('text', ({ status }) => status),
  invoice_id: replaced('uuid', ({ invoiceId }) => invoiceId),
  customer_id: replaced('uuid', ({ customerId }) => customerId),
  processor_reference: replaced('text', ({ reference }) => reference),
  method: replaced('jsonb', ({ method }) => method),
  failure_code: replaced('text', ({ failure }) => failure?.code ?? null),
  failure_message: replaced('text', ({ failure }) => failure?.message ?? null),
  asks: replaced('integer', ({ asks }) => asks),
  ask_at: replaced('time', ({ askAt }) => askAt),
  sequence: replaced('bigint', ({ sequence }) => sequence),
  event_at: replaced('time', ({ eventAt }) => eventAt),
  paid_at: replaced('time', ({ paidAt }) => paidAt),
} as const satisfies RowColumns<PaymentState>;

export const REFUND_COLUMNS = {
  slot: kept('smallint', ({ payment }) => payment.slot),
  id: kept('uuid', ({ refund }) => refund.id),
  payment_id: kept('uuid', ({ payment }) => payment.id),
  organisation_id: kept('uuid', ({ payment }) => payment.organisationId),
  mode: kept('enum', ({ payment }) => payment.mode),
  amount: kept('bigint', ({ refund }) => refund.amount),
  currency: kept('text', ({ payment }) => payment.currency),
  status: replaced('text', ({ refund }) => refund.status),
  reason: kept('text', ({ refund }) => refund.reason),
  failure_reason: replaced('text', ({ refund }) => refund.failureReason),
  processor_reference: replaced('text', ({ refund }) => refund.reference),
  asks: replaced('integer', ({ refund }) => refund.asks),
  ask_at: replaced('time', ({ refund }) => refund.askAt),
  created_at: kept('time', ({ refund }) => refund.createdAt),
  settled_at: replaced('time', ({ refund }) => refund.settledAt),
  answered: replaced('jsonb', ({ refund }) => refund.answered),
} as const satisfies RowColumns<RefundRow>;

export const DISPUTE_COLUMNS = {
  slot: kept('smallint', ({ payment }) => payment.slot),
  id: kept('uuid', ({ dispute }) => dispute.id),
  payment_id: kept('uuid', ({ payment }) => payment.id),
  organisation_id: kept('uuid', ({ payment }) => payment.organisationId),
  mode: kept('enum', ({ payment }) => payment.mode),
  reference: kept('text', ({ dispute }) => dispute.reference),
  amount: replaced('bigint', ({ dispute }) => dispute.amount),
  currency: kept('text', ({ payment }) => payment.currency),
  reason: replaced('text', ({ dispute }) => dispute.reason),
  status: replaced('text', ({ dispute }) => dispute.status),
  hold: replaced('uuid', ({ dispute }) => dispute.hold?.id ?? null),
  held: replaced('bigint', ({ dispute }) => dispute.hold?.amount ?? 0n),
  charged_back: replaced('bigint', ({ dispute }) => dispute.chargedBack),
  moves: replaced('integer', ({ dispute }) => dispute.moves),
  asks: replaced('integer', ({ dispute }) => dispute.asks),
  ask_at: replaced('time', ({ dispute }) => dispute.askAt),
  opened_at: kept('time', ({ dispute }) => dispute.openedAt),
  closed_at: replaced('time', ({ dispute }) => dispute.closedAt),
} as const satisfies RowColumns<DisputeRow>;

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
