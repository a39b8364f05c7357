// Giving up a charge. Stripe decides what came first: a page that has expired cannot be paid, and
// an intent that is canceled is not charged, whatever is still on its way.
import type { ChargeResult } from '../processor.ts';
import {
  CANCELED,
  intentResult,
  NOT_FOUND,
  OF_INTENT,
  OF_SESSION,
  sessionResult,
  UNKNOWN,
} from './results.ts';
import { chargeState, type StripeDeps } from './states.ts';
import { type ChargeRow, giveUpCharge } from './store.ts';

/** How often what became of it meanwhile is read. */
const ROUNDS_MAX = 3;

export async function cancelCharge(deps: StripeDeps, key: string): Promise<ChargeResult> {
  const { sql, account, clock } = deps;
  const row = await giveUpCharge(sql, { key, account, createdAt: new Date(clock.now()) });
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const result = await chargeState(deps, row);
    const given = await give(deps, row, result);
    if (given !== null) return given;
  }
  return UNKNOWN;
}

/** null where it was decided otherwise meanwhile. */
async function give(
  deps: StripeDeps,
  row: ChargeRow,
  result: ChargeResult,
): Promise<ChargeResult | null> {
  const { stripeId, kind } = row;
  if (stripeId === null) return result;
  if (kind === 'intent') return result === NOT_FOUND ? cancelIntent(deps, stripeId) : result;
  if (result.kind === 'requires_confirmation') return cancelIntent(deps, result.reference);
  // What else the buyer has to do is not on the page: Stripe ends it by itself.
  const isOnPage = result.kind === 'requires_action' && result.reference === stripeId;
  return isOnPage ? expire(deps, stripeId) : result;
}

async function expire({ stripe, ask }: StripeDeps, id: string): Promise<ChargeResult | null> {
  const expired = await ask('sessions.expire', () =>
    stripe.checkout.sessions.expire(id, { expand: OF_SESSION }),
  );
  if (expired.kind === 'done') return sessionResult(expired.value);
  return expired.kind === 'refused' ? null : UNKNOWN;
}

async function cancelIntent({ stripe, ask }: StripeDeps, id: string): Promise<ChargeResult | null> {
  const canceled = await ask('paymentIntents.cancel', () =>
    stripe.paymentIntents.cancel(id, { expand: OF_INTENT }),
  );
  if (canceled.kind === 'done') {
    const result = intentResult(canceled.value);
    return result.kind === 'not_attempted' ? CANCELED : result;
  }
  return canceled.kind === 'refused' ? null : UNKNOWN;
}
