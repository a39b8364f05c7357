// Webhook endpoints of an account.
import type Stripe from 'stripe';
import { type Books, type EventType, newId } from './books.ts';
import { refused } from './errors.ts';
import type { Endpoint } from './types.ts';

/** The version that its objects and events have, and the only one that it speaks. */
export const API_VERSION: Stripe.LatestApiVersion = '2026-10-28.endive';

/** What an endpoint may ask for: the events that the fake has. */
export const EVENT_TYPES = [
  '*',
  'charge.captured',
  'charge.dispute.closed',
  'charge.dispute.created',
  'charge.dispute.funds_reinstated',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.updated',
  'charge.expired',
  'charge.failed',
  'charge.pending',
  'charge.refund.updated',
  'charge.refunded',
  'charge.succeeded',
  'charge.updated',
  'checkout.session.async_payment_failed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.completed',
  'checkout.session.expired',
  'customer.created',
  'mandate.updated',
  'payment_intent.amount_capturable_updated',
  'payment_intent.canceled',
  'payment_intent.created',
  'payment_intent.payment_failed',
  'payment_intent.processing',
  'payment_intent.requires_action',
  'payment_intent.succeeded',
  'payment_method.attached',
  'payment_method.automatically_updated',
  'payment_method.detached',
  'payment_method.updated',
  'payout.canceled',
  'payout.created',
  'payout.failed',
  'payout.paid',
  'payout.reconciliation_completed',
  'payout.updated',
  'refund.created',
  'refund.failed',
  'refund.updated',
  'setup_intent.canceled',
  'setup_intent.created',
  'setup_intent.requires_action',
  'setup_intent.setup_failed',
  'setup_intent.succeeded',
] as const satisfies readonly (EventType | '*')[];

const ENDPOINTS_MAX = 16;

type Asked = {
  readonly url: string;
  readonly enabled_events: string[];
  readonly api_version?: string;
  readonly description?: string;
  readonly metadata?: Stripe.Metadata;
};

/** Its secret is in this answer, and in no later one. */
export function createEndpoint(books: Books, asked: Asked): Endpoint {
  if (books.endpoints.size >= ENDPOINTS_MAX) {
    throw refused(`You have reached the maximum of ${ENDPOINTS_MAX} webhook endpoints.`);
  }
  const endpoint: Endpoint = {
    id: newId('we'),
    object: 'webhook_endpoint',
    api_version: asked.api_version ?? null,
    application: null,
    created: books.now(),
    description: asked.description ?? null,
    enabled_events: asked.enabled_events,
    livemode: books.livemode,
    metadata: asked.metadata ?? {},
    status: 'enabled',
    url: asked.url,
  };
  const secret = newId('whsec', 32);
  books.endpoints.set(endpoint.id, endpoint);
  books.secrets.set(endpoint.id, secret);
  return { ...endpoint, secret };
}
