// The columns of subscriptions. They are written by flushes, as rows (`columns.ts`), and
// `subscription-row.ts` reads them.
import { isOver, subscriptionDue } from '../subscriptions/subscription.ts';
import type { SubscriptionRow } from '../storage.ts';
import { kept, replaced, type RowColumns } from './columns.ts';
import type { AlarmRow } from './meter-columns.ts';

export const SUBSCRIPTION_COLUMNS = {
  slot: kept('smallint', ({ customer }) => customer.slot),
  id: kept('uuid', ({ subscription }) => subscription.id),
  organisation_id: kept('uuid', ({ customer }) => customer.organisationId),
  mode: kept('enum', ({ customer }) => customer.mode),
  customer_id: kept('uuid', ({ customer }) => customer.id),
  bundle_id: kept('uuid', ({ subscription }) => subscription.bundleId),
  product_id: replaced('uuid', ({ subscription }) => subscription.plan.productId),
  price_id: replaced('uuid', ({ subscription }) => subscription.plan.priceId),
  plan_name: replaced('text', ({ subscription }) => subscription.plan.planName),
  price_list_name: replaced('text', ({ subscription }) => subscription.plan.priceListName),
  unit_amount: replaced('bigint', ({ subscription }) => subscription.plan.unitAmount),
  currency: kept('text', ({ subscription }) => subscription.plan.currency),
  interval: replaced('text', ({ subscription }) => subscription.plan.interval),
  interval_count: replaced('integer', ({ subscription }) => subscription.plan.intervalCount),
  quantity: replaced('integer', ({ subscription }) => subscription.plan.quantity),
  payment_link_id: kept('uuid', ({ subscription }) => subscription.signup.paymentLinkId),
  payment_link_token: kept('text', ({ subscription }) => subscription.signup.paymentLinkToken),
  client_reference_id: kept('text', ({ subscription }) => subscription.signup.clientReferenceId),
  metadata: kept('jsonb', ({ subscription }) => subscription.signup.metadata),
  status: replaced('text', ({ subscription }) => subscription.status),
  overdue: replaced('text', ({ subscription }) => subscription.overdue),
  anchor_at: replaced('time', ({ subscription }) => subscription.cycle.anchor),
  zone: kept('text', ({ subscription }) => subscription.cycle.zone),
  period_index: replaced('integer', ({ subscription }) => subscription.periodIndex),
  period_start: replaced('time', ({ subscription }) => subscription.periodStart),
  period_end: replaced('time', ({ subscription }) => subscription.periodEnd),
  period_price: replaced('bigint', ({ subscription }) => subscription.periodPrice),
  trial_end: replaced('time', ({ subscription }) => subscription.trialEnd),
  cancel_at: replaced('time', ({ subscription }) => subscription.cancelAt),
  canceled_at: replaced('time', ({ subscription }) => subscription.canceledAt),
  ended_at: replaced('time', ({ subscription }) => subscription.endedAt),
  paused_at: replaced('time', ({ subscription }) => subscription.pausedAt),
  resumes_at: replaced('time', ({ subscription }) => subscription.resumesAt),
  keep_invoices: replaced('boolean', ({ subscription }) => subscription.keepInvoices),
  pauses: replaced('exact_json', ({ subscription }) => subscription.pauses),
  open: replaced('exact_json', ({ subscription }) => subscription.open),
  waiting: replaced('exact_json', ({ subscription }) => subscription.waiting),
  credit: replaced('bigint', ({ subscription }) => subscription.credit),
  given_back: replaced('exact_json', ({ subscription }) => subscription.givenBack),
  discount: replaced('exact_json', ({ subscription }) => subscription.discount),
  usage: replaced('exact_json', ({ subscription }) => subscription.usage),
  sequence: replaced('bigint', ({ subscription }) => subscription.sequence),
  event_at: replaced('time', ({ subscription }) => subscription.eventAt),
  created_at: kept('time', ({ subscription }) => subscription.createdAt),
  live: replaced('boolean', ({ subscription }) => !isOver(subscription)),
} as const satisfies RowColumns<SubscriptionRow>;

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
