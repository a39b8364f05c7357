// What names our objects at Stripe.
//
// Holds: an account of Stripe's may serve several organisations and other programs, and any of them
// may call a thing `key`. So only what names the organisation too is that organisation's.
import type Stripe from 'stripe';

type Metadata = { readonly key: string; readonly organization: string };

/**
 * Of a session, an intent or a refund that we make; `key` is our id of the charge or the refund.
 */
export function metadataOf(organisationId: string, key: string): Metadata {
  return { key, organization: organisationId };
}

/** Our key of something at Stripe; null where the organisation has not made it. */
export function keyOf(metadata: Stripe.Metadata | null, organisationId: string): string | null {
  return metadata?.['organization'] === organisationId ? (metadata['key'] ?? null) : null;
}
