import { Type } from '@sinclair/typebox';
import { AlertType } from '../alerts.ts';
import { UsageMetadata } from '../metadata.ts';
import { Amount, Currency, Spent } from '../money.ts';
import { Nullable, Timestamp, Uuid, oneOf } from '../values.ts';
import { ECHO, type Payloads } from './payload.ts';
import { SAMPLE, SAMPLE_ECHO } from './samples.ts';

const GRANT_SOURCES = ['subscription_start', 'plan_change', 'manual_top_up', 'renewal'];

const OF_METER = {
  customerId: Uuid,
  externalCustomerId: Nullable(Type.String()),
  featureKey: Type.String({ description: "The meter's slug." }),
  meterId: Uuid,
};

const PERIOD = { periodStart: Nullable(Timestamp), periodEnd: Nullable(Timestamp) };

/** null is unlimited. */
const Limit = Nullable(Type.Number({ description: 'null: unlimited.' }));
const SignedBalance = Type.Number({ description: 'Negative if more was used than granted.' });

const ofMeter = {
  customerId: SAMPLE.customerId,
  externalCustomerId: SAMPLE.externalCustomerId,
  featureKey: 'api-calls',
  meterId: SAMPLE.meterId,
};

const period = { periodStart: SAMPLE.periodStart, periodEnd: SAMPLE.periodEnd };

const OF_ALERT = {
  ...OF_METER,
  ...ECHO,
  alertId: Uuid,
  alertType: AlertType,
  threshold: Type.Number({
    description: 'In units of the meter, or for a percentage in percent.',
  }),
  consumed: Type.Number(),
  limit: Limit,
  balance: Limit,
  ...PERIOD,
};

const ofAlert = {
  ...ofMeter,
  ...SAMPLE_ECHO,
  alertId: SAMPLE.alertId,
  alertType: 'usage_percentage',
  threshold: 80,
  ...period,
};

export const METERING_PAYLOADS = {
  'entitlement.granted': {
    meaning:
      'A feature or an allowance was granted: by the start of a subscription, a change of ' +
      'plan, a renewal or a top-up.',
    about: ['ENTITLEMENT'],
    fields: {
      ...OF_METER,
      ...ECHO,
      amount: Limit,
      limit: Limit,
      balance: Limit,
      source: oneOf(GRANT_SOURCES),
      grantId: Uuid,
      subscriptionId: Nullable(Uuid),
      expiresAt: Nullable(Timestamp),
      ...PERIOD,
    },
    sample: () => ({
      ...ofMeter,
      ...SAMPLE_ECHO,
      amount: 1000,
      limit: 1000,
      balance: 1000,
      source: 'manual_top_up',
      grantId: SAMPLE.grantId,
      subscriptionId: null,
      expiresAt: null,
      ...period,
    }),
  },
  'entitlement.exhausted': {
    meaning:
      'A customer has used up a metered feature. Once for each crossing: a grant or a new period arms it again.',
    about: ['ENTITLEMENT'],
    fields: {
      ...OF_METER,
      ...ECHO,
      limit: Type.Number(),
      consumed: Type.Number(),
      remaining: Type.Literal(0),
      balance: SignedBalance,
      ...PERIOD,
    },
    sample: () => ({
      ...ofMeter,
      ...SAMPLE_ECHO,
      limit: 1000,
      consumed: 1000.5,
      remaining: 0,
      balance: -0.5,
      ...period,
    }),
  },
  'customer.spend_cap_reached': {
    meaning:
      "The cost of usage reached a customer's spend cap, or the cap refused usage. Once in a " +
      'period of the subscription that sells the usage; another cap arms it again. It is ' +
      'written only if an endpoint subscribes to it, by name or with `*`.',
    about: ['ENTITLEMENT'],
    fields: {
      ...OF_METER,
      ...ECHO,
      amount: Type.String({ ...Amount, description: 'The cap.' }),
      currency: Currency,
      spent: Spent,
      subscriptionId: Type.String({
        ...Uuid,
        description: 'The subscription that sells the usage.',
      }),
      periodStart: Type.String({ ...Timestamp, description: 'Of the subscription.' }),
      periodEnd: Type.String({ ...Timestamp, description: 'Of the subscription.' }),
    },
    sample: () => ({
      ...ofMeter,
      ...SAMPLE_ECHO,
      amount: '50.00',
      currency: 'USD',
      spent: '50.0008',
      subscriptionId: SAMPLE.subscriptionId,
      ...period,
    }),
  },
  'alert.triggered': {
    meaning:
      'Usage or a reservation of a customer reached the threshold of an alert: once for each ' +
      'crossing, and one for each threshold that a call passes. A grant or a new period arms ' +
      'it again. It is written only if an endpoint subscribes to it, by name or with `*`.',
    about: ['ENTITLEMENT'],
    fields: {
      ...OF_ALERT,
      initial: Type.Boolean({
        description:
          'Whether the customer was already past the threshold when the alert was created, or ' +
          'passed it without usage.',
      }),
    },
    sample: () => ({ ...ofAlert, consumed: 800, limit: 1000, balance: 200, initial: false }),
  },
  'alert.recovered': {
    meaning:
      'A grant or a new period took a customer back from the threshold of an alert that had ' +
      'fired, and armed it again. It is written only if an endpoint subscribes to it, by name ' +
      'or with `*`.',
    about: ['ENTITLEMENT'],
    fields: OF_ALERT,
    sample: () => ({ ...ofAlert, consumed: 0, limit: 1000, balance: 1000 }),
  },
  'usage.recorded': {
    meaning:
      'A call recorded usage on a meter of a customer. One for each /track and, for an ingest ' +
      'call, for each customer and meter. It is written only if an endpoint subscribes to it, ' +
      'by name or with `*`.',
    about: ['USAGE'],
    fields: {
      ...OF_METER,
      count: Type.Integer({
        description:
          'The number of usage events of the call that it stands for. The other fields of a ' +
          'single event are those of the last one.',
      }),
      value: Nullable(
        Type.Number({
          description:
            'Their values together: the sum; for `max` the greatest, for `last` the latest. ' +
            'null: too large to be exact.',
        }),
      ),
      consumed: Type.Number({
        description: 'In the period in which the usage counts, afterwards.',
      }),
      balance: Nullable(Type.Number({ description: 'Of that period. null: unlimited.' })),
      usageEventId: Type.String({ ...Uuid, description: 'The id in the answer of the call.' }),
      idempotencyKey: Nullable(Type.String()),
      externalId: Nullable(Type.String()),
      metadata: Nullable(UsageMetadata),
      occurredAt: Timestamp,
    },
    sample: (usageEventId) => ({
      ...ofMeter,
      count: 1,
      value: 2,
      consumed: 42,
      balance: 958,
      usageEventId,
      idempotencyKey: 'order-17',
      externalId: null,
      metadata: { region: 'eu', tokens: 12, cached: true },
      occurredAt: SAMPLE.periodStart,
    }),
  },
} satisfies Payloads;
