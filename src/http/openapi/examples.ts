// What each answer looks like: the examples of the document. A body has its own, in its schema.
import type { Static, TSchema } from '@sinclair/typebox';
import { AUDIT_LOG_ENTRY } from './audit-log-example.ts';
import { LIVE_GRANTS } from './grant-examples.ts';
import { DECISIONS } from './decision-example.ts';
import { INVOICE, INVOICE_LINE, UPCOMING_INVOICE } from './invoice-examples.ts';
import { ORGANIZATION } from './organization-examples.ts';
import { PEOPLE } from './people-examples.ts';
import { SUBSCRIPTION, SUBSCRIPTION_PREVIEW } from './subscription-examples.ts';
import { PAYOUT } from './payout-example.ts';
import { OVERVIEW } from './overview-example.ts';
import { USAGE_EVENTS, USAGE_SERIES } from './usage-examples.ts';
import { ALERT, CUSTOMER_ALERTS } from './alert-examples.ts';
import { Tag, CustomField } from '../wire/annotations.ts';
import { ApiKey, ApiKeyWithText } from '../wire/api-keys.ts';
import { Balances } from '../wire/balances.ts';
import { Checkout } from '../wire/checkouts.ts';
import { Customer } from '../wire/customers.ts';
import { Decisions } from '../wire/decisions.ts';
import { Discount } from '../wire/discounts.ts';
import { Entitlement } from '../wire/entitlements.ts';
import { Error as Refusal } from '../wire/errors.ts';
import { Event } from '../wire/events.ts';
import { Grant, LiveGrants } from '../wire/grants.ts';
import { Invoice, InvoiceLine, UpcomingInvoice } from '../wire/invoices.ts';
import {
  CheckBatchResult,
  CheckResult,
  IngestResult,
  TrackBatchResult,
  TrackResult,
} from '../wire/metering.ts';
import { Meter } from '../wire/meters.ts';
import { sampleEnvelope } from '../wire/payloads/envelopes.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';
import { Overview } from '../wire/overview.ts';
import { Payment, Refund } from '../wire/payments.ts';
import { AuditLogEntry } from '../wire/audit-log.ts';
import { Payout } from '../wire/payouts.ts';
import { PortalToken } from '../wire/portal-tokens.ts';
import { ProcessorAccount } from '../wire/processors.ts';
import { Price, Product } from '../wire/products.ts';
import { Alert, CustomerAlerts } from '../wire/alerts.ts';
import { Reservation } from '../wire/reservations.ts';
import { Credit, CreditEntries } from '../wire/credit.ts';
import { CREDIT, CREDIT_ENTRIES } from './credit-examples.ts';
import { SpendCap } from '../wire/spend-cap.ts';
import { AUTO_TOPUP_EXAMPLES } from './auto-topup-examples.ts';
import { SubscriptionPreview } from '../wire/subscription-previews.ts';
import { Subscription } from '../wire/subscriptions.ts';
import { UsagePrice } from '../wire/usage-prices.ts';
import { UsageEvents } from '../wire/usage-events.ts';
import { UsageSeries } from '../wire/usage-series.ts';
import { TestClock } from '../wire/test-clock.ts';
import { WebhookHealth } from '../wire/webhook-health.ts';
import {
  Delivery,
  Endpoint,
  EndpointWithSecret,
  PartnerEndpoint,
  PartnerEndpointWithSecret,
  Replayed,
  RotatedSecret,
} from '../wire/webhooks.ts';

const FEATURE = 'api-calls';
const AT = '2026-11-21T12:00:00.000Z';
const { periodStart, periodEnd, customerId, externalCustomerId, email } = SAMPLE;

/** More objects than events are about. */
const ID = {
  payment: '01976c2e-5f00-7a10-8000-000000000010',
  entitlement: '01976c2e-5f00-7a10-8000-000000000011',
  usage: '01976c2e-5f00-7a10-8000-000000000012',
  discount: '01976c2e-5f00-7a10-8000-000000000013',
  token: '01976c2e-5f00-7a10-8000-000000000014',
  endpoint: '01976c2e-5f00-7a10-8000-000000000015',
  delivery: '01976c2e-5f00-7a10-8000-000000000016',
  event: '01976c2e-5f00-7a10-8000-000000000017',
  tag: '01976c2e-5f00-7a10-8000-000000000019',
  field: '01976c2e-5f00-7a10-8000-00000000001a',
  group: '01976c2e-5f00-7a10-8000-00000000001b',
  usagePrice: '01976c2e-5f00-7a10-8000-00000000001e',
  reservation: '01976c2e-5f00-7a10-8000-00000000001f',
};

const metadata = { plan: 'pro' };

const check = {
  allowed: true,
  balance: 10_458,
  limit: 10_500,
  consumed: 42,
  remaining: 10_458,
  reason: 'ok',
  feature_key: FEATURE,
  requested: 1,
  unlimited: false,
  overage_allowed: false,
  reserved: 0,
  period_start: periodStart,
  period_end: periodEnd,
  resets_at: periodEnd,
} satisfies Static<typeof CheckResult>;

const track = {
  id: ID.usage,
  feature_key: FEATURE,
  customer_id: customerId,
  external_customer_id: externalCustomerId,
  value: 2,
  timestamp: AT,
  balance: 10_456,
  limit: 10_500,
  consumed: 44,
  remaining: 10_456,
  overage: 0,
  duplicate: false,
} satisfies Static<typeof TrackResult>;

const itemError = { error: { type: 'not_found', message: 'no such meter' } } as const;

const price = {
  id: SAMPLE.priceId,
  amount: '49.00',
  currency: 'USD',
  type: 'recurring',
  interval: 'month',
  interval_count: 1,
  status: 'active',
  created_at: AT,
} satisfies Static<typeof Price>;

const endpoint = {
  id: ID.endpoint,
  url: 'https://shop.example.com/webhooks',
  event_types: ['payment.succeeded', 'subscription.expired'],
  description: null,
  status: 'enabled',
  disabled_reason: null,
  failing_since: null,
  created_at: AT,
  updated_at: AT,
} satisfies Static<typeof Endpoint>;

const partnerEndpoint = {
  id: ID.endpoint,
  group_id: ID.group,
  url: 'https://partner.example.com/webhooks',
  event_types: ['payment.refunded', 'payment.refund_failed'],
  environment: 'test',
  status: 'enabled',
  created_at: AT,
} satisfies Static<typeof PartnerEndpoint>;

const SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;

const apiKey = {
  id: SAMPLE.keyId,
  name: 'billing worker',
  mode: 'test',
  scopes: ['metering'],
  last4: 'Zk3x',
  created_at: AT,
  created_by: {
    kind: 'user',
    id: '01976c2e-5f00-7a10-8000-000000000009',
    label: 'ada@example.com',
  },
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
} satisfies Static<typeof ApiKey>;

/** By schema. */
export const EXAMPLES: ReadonlyMap<TSchema, unknown> = new Map([
  of(Meter, {
    id: SAMPLE.meterId,
    slug: FEATURE,
    name: 'API calls',
    description: null,
    event_name: FEATURE,
    aggregation: 'sum',
    value_property: null,
    unique_property: null,
    unit: 'call',
    scale: 0,
    carry: false,
    metadata: {},
    status: 'active',
    credit_costs: [],
    created_at: AT,
    updated_at: AT,
  }),
  of(Customer, {
    id: customerId,
    external_customer_id: externalCustomerId,
    email,
    name: 'Ada',
    billing_address: null,
    metadata,
    created_at: AT,
    updated_at: AT,
  }),
  of(Reservation, {
    id: ID.reservation,
    feature_key: FEATURE,
    customer_id: customerId,
    external_customer_id: externalCustomerId,
    amount: 500,
    committed: 0,
    status: 'open',
    late: false,
    expires_at: '2026-11-21T12:05:00.000Z',
    created_at: AT,
    balance: 9958,
    remaining: 9958,
  }),
  of(SpendCap, {
    customer_id: customerId,
    external_customer_id: externalCustomerId,
    amount: '50.00',
    currency: 'USD',
    spent: '12.5008',
    remaining: '37.4992',
  }),
  of(Credit, CREDIT),
  of(CreditEntries, CREDIT_ENTRIES),
  of(Alert, ALERT),
  of(CustomerAlerts, CUSTOMER_ALERTS),
  ...AUTO_TOPUP_EXAMPLES,
  of(Grant, {
    id: SAMPLE.grantId,
    customer_id: customerId,
    meter_id: SAMPLE.meterId,
    feature_key: FEATURE,
    source: 'top_up',
    amount: 500,
    remaining: 500,
    unlimited: false,
    effective_at: AT,
    expires_at: null,
    priority: 100,
    reset_interval: null,
    rollover: null,
    overage_allowed: false,
    reason: 'goodwill',
    status: 'active',
    created_at: AT,
    ended_at: null,
  }),
  of(LiveGrants, LIVE_GRANTS),
  of(Decisions, DECISIONS),
  of(Balances, {
    data: [
      {
        customer_id: customerId,
        external_customer_id: externalCustomerId,
        meter_id: SAMPLE.meterId,
        feature_key: FEATURE,
        balance: 10_458,
        limit: 10_500,
        consumed: 42,
        remaining: 10_458,
        reserved: 0,
        overage: 0,
        unlimited: false,
        period_start: periodStart,
        period_end: periodEnd,
        resets_at: periodEnd,
        updated_at: AT,
        breakdown: [
          {
            grant_id: SAMPLE.grantId,
            source: 'subscription',
            product_id: SAMPLE.productId,
            subscription_id: SAMPLE.subscriptionId,
            granted: 10_500,
            remaining: 10_458,
            priority: 100,
            expires_at: periodEnd,
          },
        ],
        breakdown_has_more: false,
      },
    ],
    next_cursor: null,
  }),
  of(CheckResult, check),
  of(CheckBatchResult, { results: [check, itemError] }),
  of(TrackResult, track),
  of(TrackBatchResult, { results: [track, itemError] }),
  of(IngestResult, {
    inserted: 1,
    duplicates: 0,
    events: [{ index: 0, id: ID.usage, external_id: 'log-17', status: 'inserted' }],
  }),
  of(Price, price),
  of(Product, {
    id: SAMPLE.productId,
    name: 'Pro',
    description: 'For teams',
    prices: [price],
    slug: 'pro',
    status: 'active',
    metadata: {},
    created_at: AT,
    updated_at: AT,
  }),
  of(Entitlement, {
    id: ID.entitlement,
    product_id: SAMPLE.productId,
    meter_id: SAMPLE.meterId,
    feature_key: FEATURE,
    type: 'metered',
    limit: 10_000,
    reset_interval: 'month',
    overage_allowed: false,
    rollover: { max: 1000, expires_after_periods: 1 },
    priority: 100,
    created_at: AT,
  }),
  of(UsagePrice, {
    id: ID.usagePrice,
    product_id: SAMPLE.productId,
    meter_id: SAMPLE.meterId,
    feature_key: FEATURE,
    currency: 'USD',
    model: 'graduated',
    tiers: [
      { up_to: 10_000, unit_amount: '0.002' },
      { up_to: null, unit_amount: '0.0005', flat_amount: '1.00' },
    ],
    maximum_amount: '500.00',
    status: 'active',
    created_at: AT,
  }),
  of(Discount, {
    id: ID.discount,
    code: 'SPRING',
    percent_off: 20,
    amount_off: null,
    currency: null,
    max_redemptions: 100,
    redemptions: 0,
    expires_at: null,
    created_at: AT,
  }),
  of(Checkout, {
    id: SAMPLE.checkoutId,
    url: 'https://pay.example.com/pay/cs_sample',
    product_id: SAMPLE.productId,
    customer_id: customerId,
    customer_email: email,
    customer_name: 'Ada',
    external_customer_id: externalCustomerId,
    client_reference_id: 'order-17',
    metadata,
    success_url: 'https://shop.example.com/thanks',
    cancel_url: null,
    amount: '49.00',
    currency: 'USD',
    status: 'active',
    type: 'recurring',
    expires_at: '2026-11-22T12:00:00.000Z',
    paid_at: null,
  }),
  of(UsageSeries, USAGE_SERIES),
  of(UsageEvents, USAGE_EVENTS),
  of(AuditLogEntry, AUDIT_LOG_ENTRY),
  ...ORGANIZATION,
  ...PEOPLE,
  of(Overview, OVERVIEW),
  of(Payout, PAYOUT),
  of(WebhookHealth, {
    id: ID.endpoint,
    today: { delivered: 41, pending: 0, retrying: 1, held: 0, exhausted: 0 },
    week: { delivered: 960, pending: 0, retrying: 1, held: 0, exhausted: 2 },
    complete: true,
  }),
  of(Payment, {
    id: ID.payment,
    status: 'succeeded',
    amount: '49.00',
    currency: 'USD',
    amount_refunded: '0.00',
    amount_refund_pending: '0.00',
    refundable_amount: '49.00',
    transaction_type: 'PURCHASE',
    payment_method: { type: 'card', brand: 'visa', last4: '4242' },
    checkout_id: SAMPLE.checkoutId,
    subscription_id: null,
    invoice_id: SAMPLE.invoiceId,
    customer_id: customerId,
    customer_email: email,
    external_customer_id: externalCustomerId,
    client_reference_id: 'order-17',
    metadata,
    product_id: SAMPLE.productId,
    failure_code: null,
    failure_message: null,
    created_at: AT,
    paid_at: AT,
  }),
  of(Refund, {
    id: SAMPLE.refundId,
    payment_id: ID.payment,
    amount: '4.50',
    currency: 'USD',
    status: 'succeeded',
    reason: 'requested_by_customer',
    failure_reason: null,
    created_at: AT,
    settled_at: AT,
  }),
  of(Subscription, SUBSCRIPTION),
  of(SubscriptionPreview, SUBSCRIPTION_PREVIEW),
  of(Invoice, INVOICE),
  of(InvoiceLine, INVOICE_LINE),
  of(UpcomingInvoice, UPCOMING_INVOICE),
  of(PortalToken, {
    id: ID.token,
    customer_id: customerId,
    token: 'pt_sample',
    url: 'https://pay.example.com/portal/pt_sample',
    created_at: AT,
    expires_at: '2026-11-22T12:00:00.000Z',
  }),
  of(Event, sampleEnvelope('payment.succeeded')),
  of(Endpoint, endpoint),
  of(EndpointWithSecret, { ...endpoint, secret: SECRET }),
  of(PartnerEndpoint, partnerEndpoint),
  of(PartnerEndpointWithSecret, { ...partnerEndpoint, secret: SECRET }),
  of(RotatedSecret, { secret: SECRET, previous_secret_until: '2026-11-22T12:00:00.000Z' }),
  of(Replayed, { count: 17 }),
  of(Delivery, {
    id: ID.delivery,
    event_id: ID.event,
    event_type: 'payment.succeeded',
    endpoint_id: ID.endpoint,
    status: 'delivered',
    attempts: [{ at: AT, status_code: 204, error: null, duration_ms: 87, response_head: null }],
    next_attempt_at: null,
  }),
  of(ProcessorAccount, {
    type: 'stripe',
    account: 'acct_1OzTollhouse',
    mode: 'test',
    last4: '4eC3',
    status: 'active',
    checked_at: AT,
  }),
  of(ApiKey, apiKey),
  of(ApiKeyWithText, { ...apiKey, key: 'svc_test_…Zk3x' }),
  of(Tag, {
    id: ID.tag,
    object_type: 'customer',
    object_id: customerId,
    name: 'vip',
    created_at: AT,
  }),
  of(CustomField, {
    id: ID.field,
    object_type: 'customer',
    object_id: customerId,
    name: 'crm',
    value: 'A-1017',
    created_at: AT,
  }),
  of(TestClock, { now: AT, status: 'ready' }),
  of(Refusal, {
    error: {
      type: 'invalid_request',
      message: 'feature_key is required',
      issues: [{ path: ['feature_key'], message: 'is required' }],
    },
  }),
]);

function of<T extends TSchema>(schema: T, example: Static<T>): [TSchema, unknown] {
  return [schema, example];
}
