// A subscription, and the preview of a change of it: two instead of one, from now on.
import type { Static } from '@sinclair/typebox';
import type { UpcomingPlainLine } from '../wire/invoices.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';
import type { SubscriptionPreview } from '../wire/subscription-previews.ts';
import type { Subscription } from '../wire/subscriptions.ts';

const { periodStart, periodEnd } = SAMPLE;
const AT = '2026-11-21T12:00:00.000Z';

export const SUBSCRIPTION = {
  id: SAMPLE.subscriptionId,
  bundle_id: SAMPLE.bundleId,
  customer_id: SAMPLE.customerId,
  external_customer_id: SAMPLE.externalCustomerId,
  customer_email: SAMPLE.email,
  product_id: SAMPLE.productId,
  price_id: SAMPLE.priceId,
  plan_name: 'pro-monthly',
  phase_name: 'pro-monthly-evergreen',
  price_list_name: 'DEFAULT',
  status: 'active',
  overdue_state: 'clear',
  next_retry_at: null,
  quantity: 1,
  current_period_start: periodStart,
  current_period_end: periodEnd,
  anchor_at: periodStart,
  trial_end: null,
  cancel_at_period_end: false,
  cancellation_effective_at: null,
  canceled_at: null,
  ended_at: null,
  paused_at: null,
  resumes_at: null,
  keep_invoices: false,
  pending_change: null,
  metadata: { plan: 'pro' },
  created_at: periodStart,
} satisfies Static<typeof Subscription>;

const part = (description: string, amount: string): Static<typeof UpcomingPlainLine> => ({
  type: 'proration',
  description,
  quantity: 1,
  unit_amount: amount,
  amount,
  period: { start: AT, end: periodEnd },
});

export const SUBSCRIPTION_PREVIEW = {
  currency: 'USD',
  lines: [
    part('Unused time on pro-monthly', '-15.52'),
    part('Remaining time on pro-monthly', '31.03'),
  ],
  subtotal: '15.51',
  discount_total: '0.00',
  tax_total: '0.00',
  total: '15.51',
  amount_due: '15.51',
  credited: '0.00',
  waits_for_payment: true,
  subscription: { ...SUBSCRIPTION, quantity: 2 },
  as_of: AT,
} satisfies Static<typeof SubscriptionPreview>;
