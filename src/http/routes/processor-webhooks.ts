import type { Settings } from '../../config.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import type { ProcessorWebhooks } from '../../processors/incoming.ts';
import type { BodyMax } from '../edge/body.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuseInvalid } from '../edge/errors.ts';
import { refuseRate } from '../edge/rate-limit.ts';
import { ProcessorWebhook, ProcessorWebhookTaken } from '../wire/processors.ts';

export type ProcessorWebhookRoutesDeps = {
  readonly edge: Edge;
  readonly settings: Settings;
  readonly limiter: RateLimiter;
  readonly processorWebhooks: ProcessorWebhooks;
  /** The client's address, as rate limits count it. */
  readonly addressOf: (request: Request) => string;
};

const SIGNATURE = 'Stripe-Signature';

/** Some twenty times an event with all the metadata that Stripe allows. */
const WEBHOOK_MAX: BodyMax = { bytes: 512 * 1024, values: 0 };

/** Stripe has some twelve addresses. */
const SENDERS_MAX = 50_000;

const TAKE = {
  operationId: 'takeStripeWebhook',
  method: 'POST',
  path: '/processors/stripe/{organization_id}/{mode}',
  summary: 'Receive a webhook of Stripe',
  description:
    'For Stripe, which signs it. It is a hint: after this is answered, Stripe is asked for the ' +
    'current state of the payment, refund or dispute that it names. Nothing is applied from its ' +
    'body, and a lost webhook only costs time. An unknown address and a wrong signature are the ' +
    'same 400.',
  tag: 'Organization',
  params: {
    organization_id: 'The organization whose Stripe account it is about.',
    mode: '`test` or `live`.',
  },
  headers: { [SIGNATURE]: 'The signature of Stripe over the body.' },
  body: ProcessorWebhook,
  rawBody: true,
  bodyMax: WEBHOOK_MAX,
  answers: { 200: ProcessorWebhookTaken },
  refusals: ['rate_limited'],
} as const;

export function processorWebhookRoutes(deps: ProcessorWebhookRoutesDeps): Route[] {
  return [takeWebhook(deps)];
}

function takeWebhook(deps: ProcessorWebhookRoutesDeps): Route {
  const { edge, settings, limiter, processorWebhooks, addressOf } = deps;
  const strangers = limiter.limit('unsigned-webhooks', settings.limits.unsignedWebhooks);
  const senders = new Senders();
  return edge.open(TAKE, async ({ params, body, request }) => {
    const address = addressOf(request);
    const sender = `${address} ${params.organization_id} ${params.mode}`;
    // Before it is looked up and hashed.
    const spent = senders.has(sender) ? null : await strangers.spent(address);
    if (spent !== null) return refuseRate(spent);
    const isSigned = await processorWebhooks.take({
      organisationId: params.organization_id,
      mode: params.mode,
      body,
      signature: request.headers.get(SIGNATURE),
    });
    if (isSigned) {
      senders.add(sender);
      return Response.json({ received: true });
    }
    const taken = await strangers.take(address);
    if (!taken.allowed) return refuseRate(taken);
    return refuseInvalid([{ path: [SIGNATURE], message: 'is missing, wrong or too old' }]);
  });
}

/**
 * The addresses that have sent a signed webhook, each with its merchant. They are never refused
 * unread: Stripe sends for all merchants from the same addresses, also for one whose secret is
 * wrong.
 */
class Senders {
  readonly #known = new Set<string>();

  has(sender: string): boolean {
    return this.#known.has(sender);
  }

  /** The one that has sent nothing for the longest is forgotten. */
  add(sender: string): void {
    this.#known.delete(sender);
    this.#known.add(sender);
    const [oldest] = this.#known;
    if (oldest !== undefined && this.#known.size > SENDERS_MAX) this.#known.delete(oldest);
  }
}
