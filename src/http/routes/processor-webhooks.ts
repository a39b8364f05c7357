import { Elysia } from 'elysia';
import type { Settings } from '../../config.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import type { ProcessorWebhooks } from '../../processors/incoming.ts';
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
const WEBHOOK_BYTES_MAX = 512 * 1024;

const TAKE = {
  operationId: 'takeStripeWebhook',
  summary: 'Take a webhook of Stripe',
  description:
    'For Stripe, which signs it. It is a hint: Stripe is asked what has become of the payment, the refund or the dispute that it names, after ' +
    'this is answered. Nothing is applied from its body, and one that is lost only costs time. An address that does not exist and a ' +
    'signature that is wrong are the same 400.',
  tag: 'Organization',
  params: {
    organization_id: 'Whose account at Stripe it is about.',
    mode: '`test` or `live`.',
  },
  headers: { [SIGNATURE]: 'What Stripe signs the body with.' },
  body: ProcessorWebhook,
  rawBody: true,
  bodyBytesMax: WEBHOOK_BYTES_MAX,
  answers: { 200: ProcessorWebhookTaken },
  refusals: ['rate_limited'],
} as const;

export function processorWebhookRoutes(deps: ProcessorWebhookRoutesDeps) {
  return new Elysia().post('/processors/stripe/:organization_id/:mode', ...takeWebhook(deps));
}

function takeWebhook(deps: ProcessorWebhookRoutesDeps): Route {
  const { edge, settings, limiter, processorWebhooks, addressOf } = deps;
  const strangers = limiter.limit('unsigned-webhooks', settings.limits.unsignedWebhooks);
  return edge.open(TAKE, async ({ params, body, request }) => {
    const isSigned = await processorWebhooks.take({
      organisationId: params.organization_id,
      mode: params.mode,
      body,
      signature: request.headers.get(SIGNATURE),
    });
    // What is signed always passes: Stripe sends for all merchants from the same addresses, also for
    // one whose secret is wrong.
    if (isSigned) return Response.json({ received: true });
    const taken = await strangers.take(addressOf(request));
    if (!taken.allowed) return refuseRate(taken);
    return refuseInvalid([{ path: [SIGNATURE], message: 'is missing, wrong or too old' }]);
  });
}
