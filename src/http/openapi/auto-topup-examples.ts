// What the automatic top-ups of a customer look like.
import type { TSchema } from '@sinclair/typebox';
import { AutoTopup, AutoTopups } from '../wire/auto-topups.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';

const AUTO_TOPUP = {
  customer_id: SAMPLE.customerId,
  external_customer_id: SAMPLE.externalCustomerId,
  feature_key: 'api-calls',
  enabled: true,
  threshold: 100,
  amount: 1000,
  price_id: SAMPLE.priceId,
  limit: { count: 5, interval: 'month' },
  status: 'armed',
  reason: null,
  payment_id: SAMPLE.paymentId,
  next_attempt_at: null,
  updated_at: '2026-11-21T12:00:00.000Z',
} as const;

export const AUTO_TOPUP_EXAMPLES = [
  [AutoTopup, AUTO_TOPUP],
  [AutoTopups, { data: [AUTO_TOPUP] }],
] satisfies [TSchema, unknown][];
