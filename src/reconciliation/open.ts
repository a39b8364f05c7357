// Puts reconciliation together: the books of each account, opened with its key.
import type { Secrets } from '../platform/crypto/secrets.ts';
import { stripeClient } from '../processors/stripe/client.ts';
import type { Run } from '../records/reconciliation-runs.ts';
import type { AccountBooks } from './account-books.ts';
import { openStripeBooks } from './stripe-books.ts';

/** Nobody waits for an answer, and a page is large. */
const TIMEOUT_MS = 20_000;

export function booksOpener({
  secrets,
  apiUrl,
}: {
  readonly secrets: Pick<Secrets, 'open'>;
  /** null for Stripe's own. */
  readonly apiUrl: URL | null;
}): (run: Run) => AccountBooks {
  return ({ sealedKey, accountId, organisationId }) => {
    const key = secrets.open(sealedKey, accountId);
    const stripe = stripeClient({ key, apiUrl, timeoutMs: TIMEOUT_MS });
    return openStripeBooks(stripe, organisationId);
  };
}
