import { Type } from '@sinclair/typebox';
import { Nullable, oneOf, Timestamp, Uuid } from '../values.ts';
import { ECHO, type Payloads } from './payload.ts';
import { SAMPLE, SAMPLE_ECHO } from './samples.ts';

const HEARD = 'It is written only if an endpoint subscribes to it, by name or with `*`.';

const FIELDS = {
  customerId: Uuid,
  featureKey: Type.String({ description: "The meter's slug." }),
  meterId: Uuid,
  periodStart: Nullable(Timestamp),
  periodEnd: Nullable(Timestamp),
  ...ECHO,
  amount: Type.Number({ description: 'The units that the top-up grants.' }),
};

const sample = {
  customerId: SAMPLE.customerId,
  featureKey: 'api-calls',
  meterId: SAMPLE.meterId,
  periodStart: SAMPLE.periodStart,
  periodEnd: null,
  ...SAMPLE_ECHO,
  amount: 1000,
};

export const AUTO_TOPUP_PAYLOADS = {
  'auto_topup.succeeded': {
    meaning: `An automatic top-up was paid and granted. ${HEARD}`,
    about: ['ENTITLEMENT'],
    fields: { ...FIELDS, paymentId: Uuid, reason: Type.Null() },
    sample: () => ({ ...sample, paymentId: SAMPLE.paymentId, reason: null }),
  },
  'auto_topup.failed': {
    meaning: `An automatic top-up was not paid. ${HEARD}`,
    about: ['ENTITLEMENT'],
    fields: {
      ...FIELDS,
      paymentId: Nullable(
        Type.String({ ...Uuid, description: 'null: there was no payment method.' }),
      ),
      reason: oneOf(['declined', 'authentication_required', 'no_payment_method']),
      status: oneOf(['armed', 'charging', 'suspended'], {
        description:
          '`charging`: the charge will be retried. `suspended`: no charge until another ' +
          'payment method is stored.',
      }),
      nextAttemptAt: Nullable(Timestamp),
    },
    sample: () => ({
      ...sample,
      paymentId: SAMPLE.paymentId,
      reason: 'declined',
      status: 'suspended',
      nextAttemptAt: null,
    }),
  },
} satisfies Payloads;
