import type { Discount } from '../payments/pricing.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { fromJson } from './json.ts';
import type { RowOf } from './columns.ts';
import type { SUBSCRIPTION_COLUMNS } from './subscription-columns.ts';

/** A row of `subscriptions`, with columns of the checkout that began it and of its discount. */
export type SubscriptionRow = RowOf<typeof SUBSCRIPTION_COLUMNS> & {
  readonly sent_external_customer_id: string | null;
  readonly sent_percent_off: string | null;
  readonly sent_amount_off: bigint | null;
};

/**
 * A release before this one kept the discount of a trial as credit, of what it came to at the
 * signup. It has no other credit in a trial.
 */
function isFrozen({ period_index, credit, discount }: SubscriptionRow): boolean {
  return period_index < 0 && credit > 0n && discount === null;
}

function frozenDiscount(row: SubscriptionRow): Discount {
  const percentOff = row.sent_percent_off;
  if (percentOff !== null) return { percentOff, amountOff: null, currency: null };
  return { percentOff, amountOff: row.sent_amount_off ?? row.credit, currency: row.currency };
}

/** A subscription as the flush wrote it. Actors load it so, and readers show it so. */
export function subscriptionOf(row: SubscriptionRow): Subscription {
  return {
    id: row.id,
    bundleId: row.bundle_id,
    plan: {
      productId: row.product_id,
      priceId: row.price_id,
      planName: row.plan_name,
      priceListName: row.price_list_name,
      unitAmount: row.unit_amount,
      currency: row.currency,
      interval: row.interval,
      intervalCount: row.interval_count,
      quantity: row.quantity,
    },
    signup: {
      paymentLinkId: row.payment_link_id,
      paymentLinkToken: row.payment_link_token,
      clientReferenceId: row.client_reference_id,
      externalCustomerId: row.sent_external_customer_id,
      metadata: row.metadata,
    },
    createdAt: row.created_at.getTime(),
    cycle: {
      anchor: row.anchor_at.getTime(),
      interval: row.interval,
      count: row.interval_count,
      zone: row.zone,
    },
    periodIndex: row.period_index,
    periodStart: row.period_start.getTime(),
    periodEnd: row.period_end.getTime(),
    periodPrice: row.period_price,
    givenBack: fromJson<Subscription['givenBack']>(row.given_back ?? []),
    status: row.status,
    trialEnd: row.trial_end?.getTime() ?? null,
    cancelAt: row.cancel_at?.getTime() ?? null,
    canceledAt: row.canceled_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
    pausedAt: row.paused_at?.getTime() ?? null,
    resumesAt: row.resumes_at?.getTime() ?? null,
    keepInvoices: row.keep_invoices,
    pauses: fromJson<Subscription['pauses']>(row.pauses ?? []),
    open: fromJson<Subscription['open']>(row.open),
    waiting: fromJson<Subscription['waiting']>(row.waiting),
    credit: isFrozen(row) ? 0n : row.credit,
    discount: isFrozen(row)
      ? frozenDiscount(row)
      : fromJson<Subscription['discount']>(row.discount),
    usage: fromJson<Subscription['usage']>(row.usage),
    overdue: row.overdue,
    sequence: row.sequence,
    eventAt: row.event_at.getTime(),
  };
}
