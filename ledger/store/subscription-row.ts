import type { Mode } from '../kernel/tenant.ts';
import type { Plan, Subscription } from '../subscriptions/subscription.ts';

export type { Subscription };

/** A subscription as the database has it, for whoever reads one: the actor that loads it, and who only shows it. */
/** As the flush wrote it. */
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
    status: row.status,
    trialEnd: row.trial_end?.getTime() ?? null,
    cancelAt: row.cancel_at?.getTime() ?? null,
    canceledAt: row.canceled_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
    pausedAt: row.paused_at?.getTime() ?? null,
    resumesAt: row.resumes_at?.getTime() ?? null,
    keepInvoices: row.keep_invoices,
    open: fromJson(row.open) as Subscription['open'],
    waiting: fromJson(row.waiting) as Subscription['waiting'],
    credit: row.credit,
    overdue: row.overdue,
    sequence: row.sequence,
    eventAt: row.event_at.getTime(),
  };
}

export type SubscriptionRow = {
  id: string;
  organisation_id: string;
  mode: Mode;
  customer_id: string;
  bundle_id: string;
  product_id: string;
  price_id: string;
  plan_name: string;
  price_list_name: string;
  unit_amount: bigint;
  currency: string;
  interval: Plan['interval'];
  interval_count: number;
  quantity: number;
  payment_link_id: string | null;
  payment_link_token: string | null;
  client_reference_id: string | null;
  /** Of the checkout that began it. */
  sent_external_customer_id: string | null;
  metadata: Readonly<Record<string, string>>;
  status: Subscription['status'];
  overdue: Subscription['overdue'];
  anchor_at: Date;
  zone: string;
  period_index: number;
  period_start: Date;
  period_end: Date;
  period_price: bigint;
  trial_end: Date | null;
  cancel_at: Date | null;
  canceled_at: Date | null;
  ended_at: Date | null;
  paused_at: Date | null;
  resumes_at: Date | null;
  keep_invoices: boolean;
  open: unknown;
  waiting: unknown;
  credit: bigint;
  sequence: bigint;
  event_at: Date;
  created_at: Date;
};

/** JSON has no bigint: one is `{"$": "123"}`. */
export function toJson(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, field: unknown) =>
      typeof field === 'bigint' ? { $: String(field) } : field,
    ),
  );
}

/** What `toJson` made of a value. */
export function fromJson(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(fromJson);
  if (typeof json !== 'object' || json === null) return json;
  if ('$' in json) return BigInt(String(json.$));
  return Object.fromEntries(Object.entries(json).map(([key, field]) => [key, fromJson(field)]));
}
