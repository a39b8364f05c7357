import { type TProperties, Type } from '@sinclair/typebox';
import {
  DISPUTE_REASONS,
  DISPUTE_STATUSES,
  FAILURE_CODES,
  REFUND_FAILURES,
  REFUND_REASONS,
  TRANSACTION_TYPES,
} from '../../../../ledger/payments/payment.ts';
import { Currency, Total } from '../money.ts';
import { Metadata } from '../metadata.ts';
import { Nullable, Timestamp, Uuid, oneOf } from '../values.ts';
import { type Payload, type Payloads } from './payload.ts';
import { ROUND_TRIP, SAMPLE } from './samples.ts';

const CAPTURED = ['succeeded', 'partially_refunded', 'refunded'];
const OF_CHARGE = ['PAYMENT', 'SUBSCRIPTION'] satisfies Payload['about'];

/** What came with the checkout, and is sent back on all that follows from it. */
const CHECKOUT = {
  paymentLinkId: Nullable(
    Type.String({
      ...Uuid,
      description:
        'The id of the checkout; for a renewal, of the one that started the subscription.',
    }),
  ),
  paymentLinkToken: Nullable(
    Type.String({ description: "The token at the end of the checkout's URL." }),
  ),
  productId: Nullable(Uuid),
  customerEmail: Nullable(Type.String({ format: 'email' })),
  externalCustomerId: Nullable(Type.String({ description: 'As sent with the checkout.' })),
  clientReferenceId: Nullable(Type.String({ description: 'As sent with the checkout.' })),
  metadata: Metadata,
};

const MOVED = {
  paymentId: Nullable(Uuid),
  transactionId: Nullable(Type.String({ ...Uuid, description: 'The movement in the ledger.' })),
  subscriptionId: Nullable(Uuid),
  invoiceId: Nullable(Uuid),
  amount: Total,
  currency: Currency,
};

const FAILED = {
  ...MOVED,
  transactionType: oneOf(TRANSACTION_TYPES),
  failureCode: oneOf(FAILURE_CODES),
  failureMessage: Type.String({ description: 'For people.' }),
  attempt: Type.Integer({ description: '1 for the first attempt to charge for the same thing.' }),
  nextAttemptAt: Nullable(
    Type.String({ ...Timestamp, description: 'null: it is not retried automatically.' }),
  ),
  ...CHECKOUT,
};

const refund = <F extends TProperties, const S extends 'succeeded' | 'failed'>(
  status: S,
  own: F,
) => ({
  ...MOVED,
  transactionType: Type.Literal('REFUND'),
  refundId: Uuid,
  reason: oneOf(REFUND_REASONS),
  status: Type.Literal(status),
  partial: Type.Boolean({ description: 'Whether this refund is of less than was captured.' }),
  amountRefundedTotal: Type.String({ ...Total, description: 'The sum of all succeeded refunds.' }),
  refundableAmount: Type.String({ ...Total, description: 'What can still be refunded.' }),
  ...own,
  ...CHECKOUT,
});

const moved = (paymentId: string) => ({
  paymentId,
  transactionId: SAMPLE.transactionId,
  subscriptionId: null,
  invoiceId: SAMPLE.invoiceId,
  amount: '49.00',
  currency: 'USD',
});

const failed = (paymentId: string) => ({
  ...moved(paymentId),
  transactionId: null,
  invoiceId: null,
  transactionType: 'PURCHASE',
  attempt: 1,
  nextAttemptAt: null,
  ...ROUND_TRIP,
});

const refunded = (paymentId: string) => ({
  ...moved(paymentId),
  amount: '19.00',
  transactionType: 'REFUND',
  refundId: SAMPLE.refundId,
  reason: 'requested_by_customer',
  partial: true,
  ...ROUND_TRIP,
});

export const PAYMENT_PAYLOADS = {
  'payment.succeeded': {
    meaning:
      'A one-time checkout or a subscription charge succeeded: the canonical signal that it was paid. With `transactionType` ' +
      '`SUBSCRIPTION_START` the subscription is the object, and `paymentId` and `transactionId` are null.',
    about: OF_CHARGE,
    fields: { ...MOVED, transactionType: oneOf(TRANSACTION_TYPES), ...CHECKOUT },
    sample: (id) => ({ ...moved(id), transactionType: 'PURCHASE', ...ROUND_TRIP }),
  },
  'payment.failed': {
    meaning: 'An attempt to pay failed. Nothing was charged.',
    about: OF_CHARGE,
    fields: FAILED,
    sample: (id) => ({
      ...failed(id),
      failureCode: 'card_declined',
      failureMessage: 'The card was declined.',
    }),
  },
  'payment.errored': {
    meaning:
      'The payment processor raised an unexpected error; usually transient. Nothing was charged.',
    about: OF_CHARGE,
    fields: { ...FAILED, retryable: Type.Boolean() },
    sample: (id) => ({
      ...failed(id),
      failureCode: 'processing_error',
      failureMessage: 'The payment could not be processed. Try again in a moment.',
      retryable: true,
    }),
  },
  'payment.refunded': {
    meaning: 'A refund completed, in full or in part; for a pending refund when it settles.',
    about: ['PAYMENT'],
    fields: refund('succeeded', {}),
    sample: (id) => ({
      ...refunded(id),
      status: 'succeeded',
      amountRefundedTotal: '19.00',
      refundableAmount: '30.00',
    }),
  },
  'payment.refund_failed': {
    meaning:
      'An accepted refund failed, perhaps after it had succeeded: you still have the money, ' +
      'and the amount can be refunded again.',
    about: ['PAYMENT'],
    fields: refund('failed', {
      failureReason: oneOf(REFUND_FAILURES),
      paymentStatus: oneOf(CAPTURED),
    }),
    sample: (id) => ({
      ...refunded(id),
      status: 'failed',
      amountRefundedTotal: '0.00',
      refundableAmount: '49.00',
      failureReason: 'expired_or_canceled_card',
      paymentStatus: 'succeeded',
    }),
  },
  'payment.disputed': {
    meaning:
      "The buyer's bank disputes a payment, or has decided a dispute. While it is `opened` " +
      'the amount is held and cannot be refunded. `won`: it can be refunded again. `lost`: ' +
      'the money is gone and counts as given back. What was refunded before is not taken ' +
      'twice: then `amountChargedBack` is less than `amount`.',
    about: ['PAYMENT'],
    fields: {
      ...MOVED,
      transactionType: Type.Literal('DISPUTE'),
      disputeId: Uuid,
      reason: oneOf(DISPUTE_REASONS),
      status: oneOf(DISPUTE_STATUSES),
      amountChargedBack: Type.String({
        ...Total,
        description: 'The amount by which a lost dispute lowers what can be refunded.',
      }),
      refundableAmount: Type.String({ ...Total, description: 'What can still be refunded.' }),
      ...CHECKOUT,
    },
    sample: (id) => ({
      ...moved(id),
      transactionType: 'DISPUTE',
      disputeId: SAMPLE.disputeId,
      reason: 'fraudulent',
      status: 'opened',
      amountChargedBack: '0.00',
      refundableAmount: '0.00',
      ...ROUND_TRIP,
    }),
  },
} satisfies Payloads;
