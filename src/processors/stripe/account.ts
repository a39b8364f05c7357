// What Stripe is asked about an account itself: whose a key is, and where its webhooks go.
//
// Holds: no error of Stripe's is quoted or logged in full, because it may name a part of a key.
import Stripe from 'stripe';
import type { Log } from '../../../ledger/ports.ts';
import { WEBHOOK_EVENTS } from './webhook.ts';

export type Identified =
  /** `acct_…` */
  | { readonly kind: 'account'; readonly account: string }
  /** Stripe does not know the key, or it has expired. */
  | { readonly kind: 'unknown_key' }
  /** A restricted key that may not read its own account. */
  | { readonly kind: 'not_permitted' }
  /** No answer, or none that says anything about the key. */
  | { readonly kind: 'away' };

export type Registered =
  /** The endpoint that was known is there. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'registered'; readonly endpointId: string; readonly secret: string }
  /** The key may not register one, or Stripe cannot reach the address. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'away' };

export type StripeAccounts = {
  identify(key: string): Promise<Identified>;
  /** Has webhooks sent to `url`. `known`: the endpoint that did so before. */
  register(
    key: string,
    endpoint: { readonly url: string; readonly known: string | null },
  ): Promise<Registered>;
  /** Whether the endpoint is gone. */
  remove(key: string, endpointId: string): Promise<boolean>;
};

/** Tells our endpoints from those that the merchant has made. */
const MADE_BY = 'tollhouse';
/** Stripe has 16 endpoints at most in an account. */
const ENDPOINTS_MAX = 100;
const ACCOUNT = /^acct_[A-Za-z0-9]{1,59}$/;

export function openStripeAccounts({
  clientOf,
  log,
}: {
  readonly clientOf: (key: string) => Stripe;
  readonly log: Log;
}): StripeAccounts {
  const failed = (call: string, error: unknown): Failure => {
    const failure = failureOf(error);
    log.warn({ call, ...described(error) }, 'Stripe refused a request about an account');
    return failure;
  };

  return {
    async identify(key) {
      try {
        const { id } = await clientOf(key).accounts.retrieveCurrent();
        if (ACCOUNT.test(id)) return { kind: 'account', account: id };
        log.warn({}, 'the address in STRIPE_API_URL names no account');
        return { kind: 'away' };
      } catch (error) {
        const failure = failed('identify', error);
        return { kind: failure === 'refused' ? 'not_permitted' : failure };
      }
    },

    async register(key, { url, known }) {
      try {
        return await register(clientOf(key), { url, known });
      } catch (error) {
        return { kind: failed('register', error) === 'away' ? 'away' : 'refused' };
      }
    },

    async remove(key, endpointId) {
      try {
        await clientOf(key).webhookEndpoints.del(endpointId);
        return true;
      } catch (error) {
        return isMissing(error) || (failed('remove', error), false);
      }
    },
  };
}

async function register(
  { webhookEndpoints }: Stripe,
  { url, known }: { readonly url: string; readonly known: string | null },
): Promise<Registered> {
  const { data } = await webhookEndpoints.list({ limit: ENDPOINTS_MAX });
  const kept = data.find(({ id, status }) => id === known && status === 'enabled');
  if (kept !== undefined) {
    await webhookEndpoints.update(kept.id, { url, enabled_events: [...WEBHOOK_EVENTS] });
    return { kind: 'kept' };
  }
  // One whose secret was lost with an answer.
  const lost = data.filter((one) => one.url === url && one.metadata['made_by'] === MADE_BY);
  for (const { id } of lost) await webhookEndpoints.del(id);
  const { id: endpointId, secret } = await webhookEndpoints.create({
    url,
    enabled_events: [...WEBHOOK_EVENTS],
    api_version: Stripe.API_VERSION,
    description: 'Tells Tollhouse that a payment, a refund or a dispute has changed.',
    metadata: { made_by: MADE_BY },
  });
  return secret === undefined ? { kind: 'refused' } : { kind: 'registered', endpointId, secret };
}

type Failure = 'unknown_key' | 'refused' | 'away';

/** @throws what Stripe's package does not know */
function failureOf(error: unknown): Failure {
  const { errors } = Stripe;
  if (!(error instanceof errors.StripeError)) throw error;
  if (error instanceof errors.StripeAuthenticationError) return 'unknown_key';
  const isRefused =
    error instanceof errors.StripePermissionError ||
    error instanceof errors.StripeInvalidRequestError;
  return isRefused ? 'refused' : 'away';
}

function isMissing(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && error.statusCode === 404;
}

function described(error: unknown): Record<string, unknown> {
  if (!(error instanceof Stripe.errors.StripeError)) return { error: typeof error };
  const { type, code, statusCode, requestId } = error;
  return { error: type, code, status: statusCode, request: requestId };
}
