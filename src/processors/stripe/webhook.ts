// Webhooks of Stripe: which are asked for, whether one is Stripe's, and what it hints at.
//
// Holds: an event is read for the name of what changed, and for nothing else. Stripe is asked what
// it has become.
import Stripe from 'stripe';
import { isUuid } from '../../records/uuid.ts';

/** After which a signed webhook is not believed any more: somebody may have kept it. */
const TOLERANCE_S = 300;
const SIGNATURE_LENGTH_MAX = 4096;
const EVENT_ID = /^evt_[\w]{1,250}$/;
const INTENT_ID = /^pi_[\w]{1,250}$/;

type EnabledEvent = Stripe.WebhookEndpointCreateParams.EnabledEvent;

/** What may change by itself, or by a buyer at Stripe. */
export const WEBHOOK_EVENTS = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.amount_capturable_updated',
  'payment_intent.processing',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'setup_intent.succeeded',
  'setup_intent.setup_failed',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
] as const satisfies readonly EnabledEvent[];

/** What an event says has changed. */
export type Hint = {
  /** The event's id at Stripe: the same each time that it is sent. */
  readonly eventId: string;
} & (
  | {
      /** A charge or a refund, by our key of it. */
      readonly about: 'charge' | 'refund';
      readonly subject: string;
    }
  /** Disputes of the charge that has this intent. */
  | { readonly about: 'dispute'; readonly intent: string }
);

export type ReadWebhook =
  /**
   * Signed with `secret`, one of those that were given. `hint` is null where nothing of ours
   * changed.
   */
  | { readonly kind: 'signed'; readonly secret: string; readonly hint: Hint | null }
  | { readonly kind: 'unsigned' };

const { webhooks } = Stripe;
const cryptoProvider = Stripe.createSubtleCryptoProvider();

/** Reads a webhook as it was sent. `now`: milliseconds since the epoch. */
export async function readWebhook(
  sent: { readonly body: string; readonly signature: string | null },
  { secrets, now }: { readonly secrets: readonly string[]; readonly now: number },
): Promise<ReadWebhook> {
  const { body, signature } = sent;
  if (signature === null || signature.length > SIGNATURE_LENGTH_MAX) return { kind: 'unsigned' };
  for (const secret of secrets) {
    const signed = await verified({ body, signature, secret, now });
    if (signed !== null) return { kind: 'signed', secret, hint: hintOf(signed.event) };
  }
  return { kind: 'unsigned' };
}

/** null where it is not signed with this secret, too old, or no JSON. */
async function verified(signed: {
  readonly body: string;
  readonly signature: string;
  readonly secret: string;
  readonly now: number;
}): Promise<{ readonly event: unknown } | null> {
  const { body, signature, secret, now } = signed;
  try {
    const event: unknown = await webhooks.constructEventAsync(
      body,
      signature,
      secret,
      TOLERANCE_S,
      cryptoProvider,
      now,
    );
    return { event };
  } catch {
    // The package quotes the body and the header in its error.
    return null;
  }
}

/** Who has the secret may have signed anything: the merchant has it, too. */
function hintOf(event: unknown): Hint | null {
  const eventId = textAt(event, 'id');
  if (!EVENT_ID.test(eventId)) return null;
  const object = at(at(event, 'data'), 'object');
  if (textAt(object, 'object') === 'dispute') {
    const intent = textAt(object, 'payment_intent');
    return INTENT_ID.test(intent) ? { eventId, about: 'dispute', intent } : null;
  }
  const about = ABOUT.get(textAt(object, 'object'));
  // Of what the merchant's own programs do there, nothing has a key of ours.
  const subject = textAt(at(object, 'metadata'), 'key');
  return about !== undefined && isUuid(subject) ? { eventId, about, subject } : null;
}

const ABOUT: ReadonlyMap<string, Exclude<Hint['about'], 'dispute'>> = new Map([
  ['checkout.session', 'charge'],
  ['payment_intent', 'charge'],
  ['setup_intent', 'charge'],
  ['refund', 'refund'],
]);

function at(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function textAt(value: unknown, name: string): string {
  const text = at(value, name);
  return typeof text === 'string' ? text : '';
}
