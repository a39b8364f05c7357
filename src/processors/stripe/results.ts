// What Stripe's objects mean for a charge. Pure.
import type Stripe from 'stripe';
import type { FailureCode } from '../../../ledger/payments/payment.ts';
import type { ChargeResult, Method } from '../processor.ts';
import { amountOf } from './amounts.ts';
import { failureCodeOf } from './declines.ts';
import { expiryOf, methodOf, savedName } from './instruments.ts';

/** What has to be expanded in a session, and in an intent. */
export const OF_SESSION = ['payment_intent.payment_method', 'setup_intent.payment_method'];
export const OF_INTENT = ['payment_method'];

/** Bank debits take days. Webhooks tell earlier. */
const PENDING_ASK_MS = 60 * 60_000;
/** A message of Stripe's has a few words. */
const MESSAGE_MAX = 500;

export const UNKNOWN: ChargeResult = { kind: 'unknown' };
export const NOT_FOUND: ChargeResult = {
  kind: 'not_attempted',
  code: 'not_found',
  message: 'The payment was not made.',
};
export const CANCELED: ChargeResult = {
  kind: 'not_attempted',
  code: 'canceled',
  message: 'The payment was given up.',
};

export function notAttempted(
  message: string,
  code: FailureCode = 'processing_error',
): ChargeResult {
  return { kind: 'not_attempted', code, message };
}

/** What Stripe's objects do not say, because it was decided here. */
export function declinedAs(code: FailureCode): ChargeResult {
  const message =
    code === 'authentication_required'
      ? 'The bank asks for a confirmation by the buyer.'
      : 'This payment method may not be charged any more.';
  return { kind: 'declined', code, message, method: null };
}

/** The intent of a session, of either kind; null while it has none. */
export function intentOf(
  session: Stripe.Checkout.Session,
): Stripe.PaymentIntent | Stripe.SetupIntent | null {
  const intent = session.payment_intent ?? session.setup_intent;
  // It was asked for with its intent.
  return intent === null || typeof intent === 'string' ? null : intent;
}

export function sessionResult(session: Stripe.Checkout.Session): ChargeResult {
  const intent = intentOf(session);
  const result = intent === null ? NOT_FOUND : intentResult(intent);
  switch (session.status) {
    case 'expired':
      return result.kind === 'requires_action' || result === NOT_FOUND ? CANCELED : result;
    case 'open': {
      // A decline leaves the page open: the buyer may try another card there.
      const isTaken = TAKEN.has(result.kind);
      const { id: reference, url } = session;
      if (isTaken || url === null) return isTaken ? result : UNKNOWN;
      return { kind: 'requires_action', reference, method: null, url };
    }
    case 'complete':
      return result;
    case null:
    default:
      return UNKNOWN;
  }
}

/** The buyer has done what the page asks for. */
const TAKEN: ReadonlySet<ChargeResult['kind']> = new Set([
  'succeeded',
  'pending',
  'requires_confirmation',
]);

/** `isSaved`: it charges what was saved before. */
export function intentResult(
  intent: Stripe.PaymentIntent | Stripe.SetupIntent,
  { isSaved = false }: { readonly isSaved?: boolean } = {},
): ChargeResult {
  const { id: reference, status } = intent;
  switch (status) {
    case 'succeeded':
      return withMethod(intent, (paid) => ({
        kind: 'succeeded',
        reference,
        method: methodOf(paid),
        ...capturedOf(intent),
        ...keptOf(intent, paid, isSaved),
      }));
    case 'processing':
      return withMethod(intent, (paid) => ({
        kind: 'pending',
        reference,
        method: methodOf(paid),
        ...keptOf(intent, paid, isSaved),
        askAfterMs: PENDING_ASK_MS,
      }));
    case 'requires_capture':
      return withMethod(intent, (paid) => ({
        kind: 'requires_confirmation',
        reference,
        method: methodOf(paid),
      }));
    case 'requires_action':
      return actionOf(intent);
    case 'requires_payment_method':
    case 'canceled':
      return declineOf(intent) ?? (status === 'canceled' ? CANCELED : NOT_FOUND);
    case 'requires_confirmation':
      return NOT_FOUND;
    default:
      return UNKNOWN;
  }
}

type Intent = Stripe.PaymentIntent | Stripe.SetupIntent;

function withMethod(
  { payment_method: paid }: Intent,
  make: (paid: Stripe.PaymentMethod) => ChargeResult,
): ChargeResult {
  return paid === null || typeof paid === 'string' ? UNKNOWN : make(paid);
}

/** A merchant may capture a part of what a buyer has agreed to; the rest is let go. */
function capturedOf(intent: Intent): { readonly captured?: bigint } {
  if (intent.object === 'setup_intent' || intent.amount_received === intent.amount) return {};
  return { captured: amountOf(intent.amount_received, intent.currency.toUpperCase()) };
}

function keptOf(intent: Intent, paid: Stripe.PaymentMethod, isSaved: boolean) {
  const keeps =
    isSaved || intent.object === 'setup_intent' || intent.setup_future_usage === 'off_session';
  const customer = typeof intent.customer === 'string' ? intent.customer : intent.customer?.id;
  const saved = keeps && customer !== undefined ? savedName({ customer, method: paid.id }) : null;
  return { saved, expiry: expiryOf(paid) };
}

/** What the buyer has to do beyond the page: to tell the small amounts that a bank has sent. */
function actionOf(intent: Intent): ChargeResult {
  const { next_action: next, id: reference } = intent;
  const url =
    next?.verify_with_microdeposits?.hosted_verification_url ?? next?.redirect_to_url?.url ?? null;
  return url === null ? UNKNOWN : { kind: 'requires_action', reference, method: null, url };
}

/** Why the last attempt was refused; null where none was. */
function declineOf(intent: Intent): ChargeResult | null {
  const error =
    intent.object === 'setup_intent' ? intent.last_setup_error : intent.last_payment_error;
  if (error === null) return null;
  const { code, decline_code: declineCode, message, payment_method: tried } = error;
  const method: Method | null = tried === undefined ? null : methodOf(tried);
  return {
    kind: 'declined',
    code: failureCodeOf({ code, declineCode }),
    message: message?.slice(0, MESSAGE_MAX) ?? 'The payment was declined.',
    method,
  };
}
