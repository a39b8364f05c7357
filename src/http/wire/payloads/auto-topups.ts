import { Type } from '@sinclair/typebox';
import { Nullable, oneOf, Timestamp, Uuid } from '../values.ts';
import { ECHO, type Payloads } from './payload.ts';
import { SAMPLE, SAMPLE_ECHO } from './samples.ts';

const HEARD = 'It is written only where an endpoint asks for it, by name or with `*`.';

const FIELDS = {
  customerId: Uuid,
  featureKey: Type.String({ description: "The meter's slug." }),
  meterId: Uuid,
  periodStart: Nullable(Timestamp),
  periodEnd: Nullable(Timestamp),
  ...ECHO,
  amount: Type.Number({ description: 'The units that it gives.' }),
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
    meaning: `A customer's feature was topped up by itself: it was paid for, and granted. ${HEARD}`,
    about: ['ENTITLEMENT'],
    fields: { ...FIELDS, paymentId: Uuid, reason: Type.Null() },
    sample: () => ({ ...sample, paymentId: SAMPLE.paymentId, reason: null }),
  },
  'auto_topup.failed': {
    meaning: `An automatic top-up was not paid for. ${HEARD}`,
    about: ['ENTITLEMENT'],
    fields: {
      ...FIELDS,
      paymentId: Nullable(
        Type.String({ ...Uuid, description: 'null: there was no payment method to charge.' }),
      ),
      reason: oneOf(['declined', 'authentication_required', 'no_payment_method']),
      status: oneOf(['armed', 'charging', 'suspended'], {
        description:
          '`charging`: it is tried again. `suspended`: not before another payment method is stored.',
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
