// The shapes of Stripe's keys. No message quotes what was sent: it may be a secret of anything.
import type { Mode } from '../../../ledger/kernel/tenant.ts';

/** Of a key or a secret of Stripe's; theirs have some 107 characters. */
const STRIPE_SECRET_LENGTH_MAX = 255;

const KEY = /^(?:sk|rk)_(test|live)_[A-Za-z0-9_]{8,}$/;
const PUBLISHABLE = /^pk_(?:test|live)_/;
const WEBHOOK_SECRET = /^whsec_[\w+/=-]{8,}$/;

/** Why a key cannot be one for this mode; null where it can. */
export function keyFault(key: string, mode: Mode): string | null {
  if (PUBLISHABLE.test(key)) {
    return 'is a publishable key: a secret key (sk_...) or a restricted one (rk_...) is needed';
  }
  const ofMode = KEY.exec(key)?.[1];
  if (ofMode === undefined || key.length > STRIPE_SECRET_LENGTH_MAX) {
    return 'must be a secret key (sk_...) or a restricted key (rk_...) of Stripe';
  }
  if (ofMode === mode) return null;
  return `is a key of Stripe's ${ofMode} mode, and this is ${mode} mode`;
}

/** Why a text cannot be the secret of a webhook endpoint; null where it can. */
export function webhookSecretFault(secret: string): string | null {
  const isOne = secret.length <= STRIPE_SECRET_LENGTH_MAX && WEBHOOK_SECRET.test(secret);
  return isOne ? null : 'must be the signing secret of a webhook endpoint at Stripe (whsec_...)';
}
