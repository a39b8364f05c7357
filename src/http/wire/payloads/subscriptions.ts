import { Type } from '@sinclair/typebox';
import { Currency, Total } from '../money.ts';
import { Metadata } from '../metadata.ts';
import { Nullable, Timestamp, Uuid, oneOf } from '../values.ts';
import { ECHO, type Payload, type Payloads } from './payload.ts';
import { ROUND_TRIP, SAMPLE, SAMPLE_ECHO } from './samples.ts';

const STATUSES = ['active', 'paused', 'canceled'];
const OVERDUE_STATES = ['clear', 'warning', 'blocked'];
const END_REASONS = [
  'cancellation_effective',
  'immediate',
  'dunning_exhausted',
  'mandate_lost',
  'trial_expired',
];

export const PendingChangeData = Type.Object(
  {
    priceId: Uuid,
    quantity: Type.Integer(),
    invoiceId: Uuid,
    paymentId: Uuid,
    since: Timestamp,
  },
  { description: 'A change, or a resume, that waits for its payment.' },
);

const SUBSCRIPTION = {
  subscriptionId: Uuid,
  bundleId: Uuid,
  planName: Type.String(),
  phaseName: Nullable(Type.String({ description: 'Ends in `-trial` during a trial.' })),
  priceListName: Type.String(),
  productId: Uuid,
  priceId: Uuid,
  amount: Type.String({
    ...Total,
    description: 'For a whole period: the price times the quantity.',
  }),
  currency: Currency,
  quantity: Type.Integer(),
  status: oneOf(STATUSES),
  cancelAtPeriodEnd: Type.Boolean(),
  cancellationEffectiveAt: Nullable(Timestamp),
  currentPeriodEnd: Timestamp,
  resumesAt: Nullable(
    Type.String({ ...Timestamp, description: 'When a pause ends automatically.' }),
  ),
  keepInvoices: Type.Boolean({ description: 'Whether its periods continue while it is paused.' }),
  pendingChange: Nullable(PendingChangeData),
  externalCustomerId: ECHO.externalCustomerId,
  customerEmail: Nullable(Type.String({ format: 'email' })),
  clientReferenceId: Nullable(Type.String()),
  metadata: Metadata,
};

export const PreviousSubscription = Type.Partial(Type.Object(SUBSCRIPTION), {
  description: 'The previous value of each changed field.',
});

const { customerEmail, externalCustomerId, clientReferenceId, metadata } = ROUND_TRIP;

const subscription = (subscriptionId: string) => ({
  subscriptionId,
  bundleId: SAMPLE.bundleId,
  planName: 'pro-monthly',
  phaseName: 'pro-monthly-evergreen',
  priceListName: 'DEFAULT',
  productId: SAMPLE.productId,
  priceId: SAMPLE.priceId,
  amount: '49.00',
  currency: 'USD',
  quantity: 1,
  status: 'active',
  cancelAtPeriodEnd: false,
  cancellationEffectiveAt: null,
  currentPeriodEnd: SAMPLE.periodEnd,
  resumesAt: null,
  keepInvoices: false,
  pendingChange: null,
  customerEmail,
  externalCustomerId,
  clientReferenceId,
  metadata,
});

const about = ['SUBSCRIPTION'] satisfies Payload['about'];

export const SUBSCRIPTION_PAYLOADS = {
  'subscription.created': {
    meaning: 'A subscription started: by a checkout, by hand, or with a trial.',
    about,
    fields: SUBSCRIPTION,
    sample: subscription,
  },
  'subscription.updated': {
    meaning:
      'Its plan, price or schedule changed: pause, resume, plan change, undo of a scheduled ' +
      'cancellation.',
    about,
    fields: {
      ...SUBSCRIPTION,
      changes: Type.Array(oneOf(['plan', ...Object.keys(SUBSCRIPTION)]), {
        description:
          'The fields that changed; `plan` first if the product, the price or the quantity ' +
          'changed.',
      }),
      previous: PreviousSubscription,
    },
    sample: (id) => ({
      ...subscription(id),
      changes: ['plan', 'priceId', 'amount'],
      previous: { priceId: SAMPLE.formerPriceId, amount: '29.00' },
    }),
  },
  'subscription.canceled': {
    meaning:
      'A cancellation was requested. At the period end: `status` stays `active` until `cancellationEffectiveAt`. At once: it is ' +
      '`canceled`, and `subscription.expired` follows.',
    about,
    fields: SUBSCRIPTION,
    sample: (id) => ({
      ...subscription(id),
      cancelAtPeriodEnd: true,
      cancellationEffectiveAt: SAMPLE.periodEnd,
    }),
  },
  'subscription.expired': {
    meaning: 'The subscription ended: the signal to revoke access.',
    about,
    fields: { ...SUBSCRIPTION, reason: oneOf(END_REASONS) },
    sample: (id) => ({
      ...subscription(id),
      status: 'canceled',
      cancellationEffectiveAt: SAMPLE.periodEnd,
      reason: 'cancellation_effective',
    }),
  },
  'subscription.trial_ended': {
    meaning: 'A trial ended, converted or expired.',
    about,
    fields: {
      ...SUBSCRIPTION,
      outcome: oneOf(['converted', 'expired']),
      trialEndedAt: Timestamp,
    },
    sample: (id) => ({
      ...subscription(id),
      outcome: 'converted',
      trialEndedAt: SAMPLE.periodStart,
    }),
  },
  'subscription.overdue_changed': {
    meaning: "A customer's overdue state changed, for example into dunning or out of it.",
    about: ['CUSTOMER'],
    fields: {
      previousState: oneOf(OVERDUE_STATES),
      overdueState: oneOf(OVERDUE_STATES),
      isClearState: Type.Boolean(),
      blockChanges: Type.Boolean(),
      disableEntitlement: Type.Boolean(),
      balance: Nullable(
        Type.String({
          ...Total,
          description:
            'The unpaid sum, in the currency of the oldest unpaid invoice. null: nothing is ' +
            'unpaid.',
        }),
      ),
      currency: Nullable(Currency),
      unpaidInvoiceIds: Type.Array(Uuid),
      earliestUnpaidAt: Nullable(Timestamp),
      nextEvaluationAt: Nullable(
        Type.String({
          ...Timestamp,
          description: 'When the next step of dunning comes if nothing is paid.',
        }),
      ),
      ...ECHO,
      email: Nullable(Type.String({ format: 'email' })),
    },
    sample: () => ({
      previousState: 'clear',
      overdueState: 'warning',
      isClearState: false,
      blockChanges: true,
      disableEntitlement: false,
      balance: '49.00',
      currency: 'USD',
      unpaidInvoiceIds: [SAMPLE.invoiceId],
      earliestUnpaidAt: SAMPLE.periodStart,
      nextEvaluationAt: '2026-11-15T00:00:00.000Z',
      ...SAMPLE_ECHO,
      email: customerEmail,
    }),
  },
  'subscription.blocked': {
    meaning: 'Access of a subscription was blocked, or restored.',
    about,
    fields: {
      subscriptionId: Uuid,
      stateName: oneOf(['blocked', 'clear']),
      service: Type.Literal('dunning', { description: 'What blocks it.' }),
      blockChange: Type.Boolean(),
      blockEntitlement: Type.Boolean(),
      blockBilling: Type.Boolean(),
      effectiveDate: Timestamp,
      ...ECHO,
    },
    sample: (subscriptionId) => ({
      subscriptionId,
      stateName: 'blocked',
      service: 'dunning',
      blockChange: true,
      blockEntitlement: true,
      blockBilling: false,
      effectiveDate: SAMPLE.periodStart,
      ...SAMPLE_ECHO,
    }),
  },
} satisfies Payloads;
