import { type Static, Type } from '@sinclair/typebox';
import { iso } from '../../../ledger/kernel/iso.ts';
import { nextRetryAt } from '../../../ledger/subscriptions/dunning.ts';
import { phaseName } from '../../../ledger/subscriptions/subscription.ts';
import type { SubscriptionRecord } from '../../records/subscriptions.ts';
import type { SubscriptionAction } from '../../subscriptions/subscriptions.ts';
import type { Issue } from '../edge/errors.ts';
import { timeOf } from './usage.ts';
import { SAMPLE } from './payloads/samples.ts';
import { Metadata } from './metadata.ts';
import {
  Body,
  Email,
  ExternalCustomerId,
  Nullable,
  Timestamp,
  Uuid,
  namedOneOf,
  oneOf,
} from './values.ts';

export const SubscriptionStatus = namedOneOf(['active', 'paused', 'canceled']);

const Quantity = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'Multiplies the price and the limits of the product.',
  error: 'must be a whole number from 1 to 1000000',
});

export const SubscriptionCreate = Body(
  {
    customer_id: Type.Optional(Uuid),
    external_customer_id: Type.Optional(ExternalCustomerId),
    product_id: Uuid,
    price_id: Type.Optional(
      Type.String({ ...Uuid, description: 'Omitted: the oldest recurring price.' }),
    ),
    quantity: Type.Optional(Type.Integer({ ...Quantity, default: 1 })),
    trial_days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 730,
        description: 'Omitted: the trial days of the price.',
        error: 'must be a whole number from 0 to 730',
      }),
    ),
    metadata: Type.Optional(Metadata),
  },
  { external_customer_id: 'user-1', product_id: SAMPLE.productId, quantity: 2, trial_days: 14 },
);

export const SubscriptionChange = Type.Object(
  { price_id: Type.Optional(Uuid), quantity: Type.Optional(Quantity) },
  { additionalProperties: false, minProperties: 1, examples: [{ quantity: 5 }] },
);

export const CancelMode = oneOf(['at_period_end', 'immediate'], {
  default: 'at_period_end',
  error: 'must be one of at_period_end, immediate',
});

export const SubscriptionCancel = Body(
  {
    mode: Type.Optional(CancelMode),
  },
  { mode: 'immediate' },
);

export const SubscriptionPause = Body(
  {
    resumes_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'ISO 8601, with Z or an offset. In the future, at most a year ahead.',
      }),
    ),
    keep_invoices: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether periods continue and leave draft invoices, which are not charged.',
      }),
    ),
  },
  { resumes_at: '2026-12-01T00:00:00.000Z', keep_invoices: true },
);

export const OverdueState = oneOf(['clear', 'warning', 'blocked']);

export const PendingChange = Type.Object(
  {
    price_id: Uuid,
    quantity: Type.Integer(),
    invoice_id: Uuid,
    payment_id: Uuid,
    since: Timestamp,
  },
  {
    description:
      'A change or resume that waits for its payment, which takes days for a bank debit. It ' +
      'takes effect when the payment succeeds. Until then nothing changes; a cancellation or ' +
      '`unschedule` undoes it.',
  },
);

export const Subscription = Type.Object({
  id: Uuid,
  bundle_id: Uuid,
  customer_id: Uuid,
  external_customer_id: Nullable(ExternalCustomerId),
  customer_email: Nullable(Email),
  product_id: Uuid,
  price_id: Uuid,
  plan_name: Type.String(),
  phase_name: Type.String({ description: 'Ends in `-trial` during a trial.' }),
  price_list_name: Type.String(),
  status: SubscriptionStatus,
  overdue_state: OverdueState,
  next_retry_at: Nullable(
    Type.String({
      ...Timestamp,
      description:
        'When dunning makes the next charge; null if it makes none or a charge is under way.',
    }),
  ),
  quantity: Type.Integer(),
  current_period_start: Timestamp,
  current_period_end: Timestamp,
  anchor_at: Type.String({ ...Timestamp, description: 'The time from which periods are counted.' }),
  trial_end: Nullable(Timestamp),
  cancel_at_period_end: Type.Boolean(),
  cancellation_effective_at: Nullable(Timestamp),
  canceled_at: Nullable(
    Type.String({ ...Timestamp, description: 'When the cancellation was requested.' }),
  ),
  ended_at: Nullable(Timestamp),
  paused_at: Nullable(Timestamp),
  resumes_at: Nullable(Timestamp),
  keep_invoices: Type.Boolean(),
  pending_change: Nullable(PendingChange),
  metadata: Metadata,
  created_at: Timestamp,
});

export function toChange({
  price_id: priceId,
  quantity,
}: Static<typeof SubscriptionChange>): Extract<SubscriptionAction, { kind: 'change' }> {
  return { kind: 'change', priceId: priceId?.toLowerCase() ?? null, quantity: quantity ?? null };
}

export function toCancel(
  body: Static<typeof SubscriptionCancel> = {},
): Extract<SubscriptionAction, { kind: 'cancel' }> {
  return { kind: 'cancel', mode: body.mode ?? 'at_period_end' };
}

/** The pause that a body asks for. */
export function toPause(
  body: Static<typeof SubscriptionPause> = {},
): Extract<SubscriptionAction, { kind: 'pause' }> | Issue {
  const { resumes_at: text, keep_invoices: keepInvoices = false } = body;
  const resumesAt = text === undefined ? null : timeOf(text);
  return text !== undefined && resumesAt === null
    ? { path: ['resumes_at'], message: 'must be an ISO 8601 time with a zone' }
    : { kind: 'pause', resumesAt, keepInvoices };
}

/** What has ended by then is not charged, and a payment that is pending comes first. */
function retryOf(subscription: SubscriptionRecord['subscription']): number | null {
  const { status, cancelAt, waiting } = subscription;
  const at = nextRetryAt(subscription);
  const isOver =
    status === 'canceled' ||
    waiting !== null ||
    (at !== null && cancelAt !== null && cancelAt <= at);
  return isOver ? null : at;
}

function pendingOf({
  plan,
  waiting,
}: SubscriptionRecord['subscription']): Static<typeof PendingChange> | null {
  if (waiting === null) return null;
  const { priceId, quantity } = waiting.kind === 'change' ? waiting.plan : plan;
  const { invoiceId, paymentId, since } = waiting;
  return {
    price_id: priceId,
    quantity,
    invoice_id: invoiceId,
    payment_id: paymentId,
    since: iso(since),
  };
}

export function fromSubscription(record: SubscriptionRecord): Static<typeof Subscription> {
  const { subscription, customerId, externalCustomerId, customerEmail } = record;
  const { plan, status, cancelAt } = subscription;
  return {
    id: subscription.id,
    bundle_id: subscription.bundleId,
    customer_id: customerId,
    external_customer_id: externalCustomerId,
    customer_email: customerEmail,
    product_id: plan.productId,
    price_id: plan.priceId,
    plan_name: plan.planName,
    phase_name: phaseName(subscription),
    price_list_name: plan.priceListName,
    status,
    overdue_state: subscription.overdue,
    next_retry_at: iso(retryOf(subscription)),
    quantity: plan.quantity,
    current_period_start: iso(subscription.periodStart),
    current_period_end: iso(subscription.periodEnd),
    anchor_at: iso(subscription.cycle.anchor),
    trial_end: iso(subscription.trialEnd),
    cancel_at_period_end: status !== 'canceled' && cancelAt !== null,
    cancellation_effective_at: iso(cancelAt),
    canceled_at: iso(subscription.canceledAt),
    ended_at: iso(subscription.endedAt),
    paused_at: iso(subscription.pausedAt),
    resumes_at: iso(subscription.resumesAt),
    keep_invoices: subscription.keepInvoices,
    pending_change: pendingOf(subscription),
    metadata: subscription.signup.metadata,
    created_at: iso(subscription.createdAt),
  };
}
