import { subscriptionDue, isOver } from '../subscriptions/subscription.ts';
import type { SubscriptionFollowupRow, SubscriptionRow } from '../storage.ts';
import { toJson } from './subscription-row.ts';
import { iso } from './dates.ts';

/** The rare rows of subscriptions, as parts of the flush's JSON document. */
export function subscriptionRow({
  customer,
  subscription,
}: SubscriptionRow): Record<string, unknown> {
  const { plan, signup, cycle } = subscription;
  return {
    slot: customer.slot,
    id: subscription.id,
    organisation_id: customer.organisationId,
    mode: customer.mode,
    customer_id: customer.id,
    bundle_id: subscription.bundleId,
    product_id: plan.productId,
    price_id: plan.priceId,
    plan_name: plan.planName,
    price_list_name: plan.priceListName,
    unit_amount: String(plan.unitAmount),
    currency: plan.currency,
    interval: plan.interval,
    interval_count: plan.intervalCount,
    quantity: plan.quantity,
    payment_link_id: signup.paymentLinkId,
    payment_link_token: signup.paymentLinkToken,
    client_reference_id: signup.clientReferenceId,
    metadata: signup.metadata,
    status: subscription.status,
    overdue: subscription.overdue,
    anchor_at: iso(cycle.anchor),
    zone: cycle.zone,
    period_index: subscription.periodIndex,
    period_start: iso(subscription.periodStart),
    period_end: iso(subscription.periodEnd),
    period_price: String(subscription.periodPrice),
    trial_end: iso(subscription.trialEnd),
    cancel_at: iso(subscription.cancelAt),
    canceled_at: iso(subscription.canceledAt),
    ended_at: iso(subscription.endedAt),
    paused_at: iso(subscription.pausedAt),
    resumes_at: iso(subscription.resumesAt),
    keep_invoices: subscription.keepInvoices,
    open: toJson(subscription.open),
    waiting: toJson(subscription.waiting),
    credit: String(subscription.credit),
    sequence: String(subscription.sequence),
    event_at: iso(subscription.eventAt),
    created_at: iso(subscription.createdAt),
    live: !isOver(subscription),
  };
}

export function subscriptionAlarmRow({
  customer,
  subscription,
}: SubscriptionRow): Record<string, unknown> {
  const due = subscriptionDue(subscription);
  return {
    slot: customer.slot,
    actor_id: customer.id,
    subject_id: subscription.id,
    due_at: due === Infinity ? null : iso(due),
    kind: 'subscription',
    organisation_id: customer.organisationId,
    mode: customer.mode,
  };
}

export function subscriptionFollowupRow({
  customer,
  followup,
}: SubscriptionFollowupRow): Record<string, unknown> {
  const { id, kind, at, subscriptionId, ...data } = followup;
  return {
    slot: customer.slot,
    id,
    kind,
    subscription_id: subscriptionId,
    customer_id: customer.id,
    data: toJson(data),
    at: iso(at),
  };
}
