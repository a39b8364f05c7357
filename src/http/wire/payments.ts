import { type Static, Type } from '@sinclair/typebox';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import {
  DISPUTE_REASONS,
  DISPUTE_STATUSES,
  FAILURE_CODES,
  PAYMENT_STATUSES,
  REFUND_FAILURES,
  REFUND_REASONS,
  REFUND_STATUSES,
  refundable,
  TRANSACTION_TYPES,
} from '../../../ledger/payments/payment.ts';
import type { DisputeRecord } from '../../records/disputes.ts';
import type { PaymentRecord, RefundRecord } from '../../records/payments.ts';
import { AskedFor } from '../edge/lenient.ts';
import { Amount, Currency, Total } from './money.ts';
import { Metadata } from './metadata.ts';
import { Body, Email, ExternalCustomerId, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

export const FailureCode = oneOf(FAILURE_CODES);
export const RefundFailure = oneOf(REFUND_FAILURES);
export const RefundReason = oneOf(REFUND_REASONS);
export const RefundStatus = oneOf(REFUND_STATUSES);
export const TransactionType = oneOf(TRANSACTION_TYPES);

export const RefundCreate = Body(
  {
    amount: Type.Optional(AskedFor(Amount)),
    reason: Type.Optional({ ...RefundReason, default: 'requested_by_customer' }),
  },
  { amount: '4.50', reason: 'requested_by_customer' },
);

export const Refund = Type.Object({
  id: Uuid,
  payment_id: Uuid,
  amount: Total,
  currency: Currency,
  status: RefundStatus,
  reason: RefundReason,
  failure_reason: Nullable(RefundFailure),
  created_at: Timestamp,
  settled_at: Nullable(Timestamp),
});

export const PaymentStatus = oneOf(PAYMENT_STATUSES);

export const PaymentMethodType = oneOf(['card', 'bank_debit']);

export const PaymentMethod = Type.Object({
  type: PaymentMethodType,
  brand: Nullable(Type.String()),
  last4: Type.String(),
});

export const DisputeReason = oneOf(DISPUTE_REASONS);
export const DisputeStatus = oneOf(DISPUTE_STATUSES);

export const Dispute = Type.Object({
  id: Uuid,
  status: DisputeStatus,
  amount: Total,
  amount_held: Type.String({
    ...Total,
    description: 'Held while the dispute is open: it cannot be refunded.',
  }),
  amount_charged_back: Type.String({
    ...Total,
    description:
      'What a lost dispute took: less than `amount` if the rest had been refunded before.',
  }),
  reason: DisputeReason,
  reference: Type.String({ description: "The processor's id of the dispute." }),
  opened_at: Timestamp,
  closed_at: Nullable(Timestamp),
});

export const Payment = Type.Object({
  id: Uuid,
  status: PaymentStatus,
  amount: Type.String({
    ...Total,
    description:
      'The requested amount. If you captured only a part at Stripe by hand, the invoice, the ' +
      'event and `refundable_amount` have that part.',
  }),
  currency: Currency,
  amount_refunded: Total,
  amount_refund_pending: Total,
  refundable_amount: Total,
  transaction_type: TransactionType,
  payment_method: Nullable(PaymentMethod),
  checkout_id: Nullable(Uuid),
  subscription_id: Nullable(Uuid),
  invoice_id: Nullable(Uuid),
  customer_id: Type.Union([Uuid, Type.Null()], {
    description: 'Also for a payment that failed, if the customer was known at the attempt.',
  }),
  customer_email: Nullable(Email),
  external_customer_id: Nullable(ExternalCustomerId),
  client_reference_id: Nullable(Type.String()),
  metadata: Metadata,
  product_id: Nullable(Uuid),
  failure_code: Nullable(FailureCode),
  failure_message: Nullable(Type.String()),
  created_at: Timestamp,
  paid_at: Nullable(Timestamp),
  disputes: Type.Optional(
    Type.Array(Dispute, { description: 'Oldest first. Absent without a dispute.' }),
  ),
});

export function fromPayment(payment: PaymentRecord): Static<typeof Payment> {
  const { currency } = payment;
  return {
    id: payment.id,
    status: payment.status,
    amount: formatMoney(payment.amount, currency),
    currency,
    amount_refunded: formatMoney(payment.refunded, currency),
    amount_refund_pending: formatMoney(payment.reserved, currency),
    refundable_amount: formatMoney(refundable(payment), currency),
    transaction_type: payment.transactionType,
    payment_method: payment.method,
    checkout_id: payment.checkoutId,
    subscription_id: payment.subscriptionId,
    invoice_id: payment.invoiceId,
    customer_id: payment.customerId,
    customer_email: payment.customerEmail,
    external_customer_id: payment.externalCustomerId,
    client_reference_id: payment.clientReferenceId,
    metadata: payment.metadata,
    product_id: payment.productId,
    failure_code: payment.failureCode,
    failure_message: payment.failureMessage,
    created_at: payment.createdAt.toISOString(),
    paid_at: payment.paidAt?.toISOString() ?? null,
    ...(payment.disputes.length === 0
      ? {}
      : { disputes: payment.disputes.map(fromDispute(currency)) }),
  };
}

const fromDispute =
  (currency: string) =>
  (dispute: DisputeRecord): Static<typeof Dispute> => ({
    id: dispute.id,
    status: dispute.status,
    amount: formatMoney(dispute.amount, currency),
    amount_held: formatMoney(dispute.held, currency),
    amount_charged_back: formatMoney(dispute.chargedBack, currency),
    reason: dispute.reason,
    reference: dispute.reference,
    opened_at: dispute.openedAt.toISOString(),
    closed_at: dispute.closedAt?.toISOString() ?? null,
  });

export function fromRefund(refund: RefundRecord): Static<typeof Refund> {
  return {
    id: refund.id,
    payment_id: refund.paymentId,
    amount: formatMoney(refund.amount, refund.currency),
    currency: refund.currency,
    status: refund.status,
    reason: refund.reason,
    failure_reason: refund.failureReason,
    created_at: refund.createdAt.toISOString(),
    settled_at: refund.settledAt?.toISOString() ?? null,
  };
}
