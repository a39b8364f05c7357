// Why a check was denied.
import type { Static } from '@sinclair/typebox';
import type { Decision, Decisions, DecisionState } from '../wire/decisions.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';

const { customerId, externalCustomerId, periodStart, periodEnd, subscriptionId, productId } =
  SAMPLE;
const AT = '2026-11-23T14:03:12.481Z';
const DECISION = '01976c2e-5f00-7a10-8000-000000000031';
const FEATURE = 'api-calls';
const NOTHING_LEFT = { balance: 0, limit: 1000, consumed: 1000 };

const denial = {
  id: DECISION,
  kind: 'check',
  allowed: false,
  reason: 'insufficient_balance',
  rule: 'Nothing was left: 1000 of 1000 were used. 1 was asked for.',
  at: AT,
  decided_at: AT,
  recorded_at: AT,
  count: 3,
  last_at: '2026-11-23T14:03:12.904Z',
  customer_id: customerId,
  external_customer_id: externalCustomerId,
  feature_key: FEATURE,
  value: 1,
  balance_before: NOTHING_LEFT,
  balance_after: NOTHING_LEFT,
  period_start: periodStart,
  period_end: periodEnd,
  event_id: null,
  replayed: false,
  request_ids: ['req-7f3a'],
} satisfies Static<typeof Decision>;

const state = {
  at: AT,
  customer_id: customerId,
  feature_key: FEATURE,
  decision_id: DECISION,
  grants: [
    {
      id: '01976c2e-5f00-7a10-8000-000000000032',
      state: 'in_force',
      suspended: null,
      source: 'subscription',
      amount: 1000,
      effective_at: periodStart,
      expires_at: null,
      ended_at: null,
      ended_how: null,
      priority: 100,
      overage_allowed: false,
      is_sold: false,
      reset_interval: 'month',
      product_id: productId,
      subscription_id: subscriptionId,
      reason: null,
    },
  ],
  subscriptions: [
    {
      id: subscriptionId,
      status: 'active',
      blocked: false,
      since: periodStart,
      status_now: 'active',
      plan_now: 'Pro',
    },
  ],
  left_out: 0,
} satisfies Static<typeof DecisionState>;

export const DECISIONS = { data: [denial], state, object: null } satisfies Static<typeof Decisions>;
