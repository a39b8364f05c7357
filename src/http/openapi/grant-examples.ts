// What the grants of a customer look like.
import type { Static } from '@sinclair/typebox';
import type { LiveGrants } from '../wire/grants.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';

const { periodStart, periodEnd } = SAMPLE;

export const LIVE_GRANTS: Static<typeof LiveGrants> = {
  data: [
    {
      id: SAMPLE.grantId,
      meter_id: SAMPLE.meterId,
      feature_key: 'api-calls',
      source: 'subscription',
      amount: 10_500,
      used: 42,
      remaining: 10_458,
      unlimited: false,
      boolean: false,
      effective_at: periodStart,
      expires_at: null,
      renews_at: periodEnd,
      priority: 100,
      reset_interval: 'month',
      rollover: null,
      overage_allowed: false,
      suspended: null,
      product_id: SAMPLE.productId,
      subscription_id: SAMPLE.subscriptionId,
      reason: null,
      status: 'active',
      created_at: periodStart,
    },
  ],
  next_cursor: null,
};
