// The columns of subscriptions. They are written by flushes, as JSON (`columns.ts`), and
// `subscription-row.ts` reads them.
import { isOver, subscriptionDue } from '../subscriptions/subscription.ts';
import type { SubscriptionRow } from '../storage.ts';
import { int8, type JsonColumns, kept, replaced, time } from './columns.ts';
import { toJson } from './json.ts';
import type { AlarmRow } from './meter-columns.ts';

export const SUBSCRIPTION_COLUMNS = {
  slot: kept(({ customer }) => customer.slot),
  id: kept(({ subscription }) => subscription.id),
  organisation_id: kept(({ customer }) => customer.organisationId),
  mode: kept(({ customer }) => customer.mode),
  customer_id: kept(({ customer }) => customer.id),
  bundle_id: kept(({ subscription }) => subscription.bundleId),
  product_id: replaced(({ subscription }) => subscription.plan.productId),
  price_id: replaced(({ subscription }) => subscription.plan.priceId),
  plan_name: replaced(({ subscription }) => subscription.plan.planName),
  price_list_name: replaced(({ subscription }) => subscription.plan.priceListName),
  unit_amount: replaced(({ subscription }) => int8(subscription.plan.unitAmount)),
  currency: kept(({ subscription }) => subscription.plan.currency),
  interval: replaced(({ subscription }) => subscription.plan.interval),
  interval_count: replaced(({ subscription }) => subscription.plan.intervalCount),
  quantity: replaced(({ subscription }) => subscription.plan.quantity),
  payment_link_id: kept(({ subscription }) => subscription.signup.paymentLinkId),
  payment_link_token: kept(({ subscription }) => subscription.signup.paymentLinkToken),
  client_reference_id: kept(({ subscription }) => subscription.signup.clientReferenceId),
  metadata: kept(({ subscription }) => subscription.signup.metadata),
  status: replaced(({ subscription }) => subscription.status),
  overdue: replaced(({ subscription }) => subscription.overdue),
  anchor_at: replaced(({ subscription }) => time(subscription.cycle.anchor)),
  zone: kept(({ subscription }) => subscription.cycle.zone),
  period_index: replaced(({ subscription }) => subscription.periodIndex),
  period_start: replaced(({ subscription }) => time(subscription.periodStart)),
  period_end: replaced(({ subscription }) => time(subscription.periodEnd)),
  period_price: replaced(({ subscription }) => int8(subscription.periodPrice)),
  trial_end: replaced(({ subscription }) => time(subscription.trialEnd)),
  cancel_at: replaced(({ subscription }) => time(subscription.cancelAt)),
  canceled_at: replaced(({ subscription }) => time(subscription.canceledAt)),
  ended_at: replaced(({ subscription }) => time(subscription.endedAt)),
  paused_at: replaced(({ subscription }) => time(subscription.pausedAt)),
  resumes_at: replaced(({ subscription }) => time(subscription.resumesAt)),
  keep_invoices: replaced(({ subscription }) => subscription.keepInvoices),
  open: replaced(({ subscription }) => toJson(subscription.open)),
  waiting: replaced(({ subscription }) => toJson(subscription.waiting)),
  credit: replaced(({ subscription }) => int8(subscription.credit)),
  sequence: replaced(({ subscription }) => int8(subscription.sequence)),
  event_at: replaced(({ subscription }) => time(subscription.eventAt)),
  created_at: kept(({ subscription }) => time(subscription.createdAt)),
  live: replaced(({ subscription }) => !isOver(subscription)),
} as const satisfies JsonColumns<SubscriptionRow>;

export function subscriptionAlarm({ customer, subscription }: SubscriptionRow): AlarmRow {
  const due = subscriptionDue(subscription);
  return {
    slot: customer.slot,
    actorId: customer.id,
    subjectId: subscription.id,
    dueAt: due === Infinity ? null : due,
    kind: 'subscription',
    tenant: customer,
  };
}
