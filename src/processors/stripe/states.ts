// What became of a charge: Stripe is asked by its id, at any age. Its search and its lists of
// sessions lag behind; this does not.
import type Stripe from 'stripe';
import type { FailureCode } from '../../../ledger/payments/payment.ts';
import type { Clock } from '../../../ledger/ports.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { ChargeResult } from '../processor.ts';
import type { Ask } from './answers.ts';
import {
  CANCELED,
  declinedAs,
  intentOf,
  intentResult,
  NOT_FOUND,
  OF_INTENT,
  OF_SESSION,
  sessionResult,
  UNKNOWN,
} from './results.ts';
import { type ChargeRow, declineCharge, keepIntent } from './store.ts';

/** One account of Stripe's, as the parts of the adapter use it. */
export type StripeDeps = {
  readonly sql: Sql;
  readonly stripe: Stripe;
  readonly ask: Ask;
  /** As payments name it. */
  readonly account: string;
  readonly organisationId: string;
  readonly clock: Pick<Clock, 'now'>;
};

export async function chargeState(deps: StripeDeps, row: ChargeRow | null): Promise<ChargeResult> {
  if (row === null) return NOT_FOUND;
  const { state, code, stripeId, kind } = row;
  if (state === 'canceled') return CANCELED;
  if (state === 'declined' && code !== null) return declinedAs(code);
  // Nobody has its address, and nobody confirms it: if Stripe has made it, it moves no money.
  if (stripeId === null) return NOT_FOUND;
  return kind === 'intent' ? intentState(deps, row, stripeId) : sessionState(deps, row, stripeId);
}

async function sessionState(
  { sql, stripe, ask }: StripeDeps,
  { key, intent: known }: ChargeRow,
  id: string,
): Promise<ChargeResult> {
  const found = await ask('sessions.retrieve', () =>
    stripe.checkout.sessions.retrieve(id, { expand: OF_SESSION }),
  );
  if (found.kind !== 'done') return UNKNOWN;
  const intent = intentOf(found.value);
  if (intent !== null && known === null) await keepIntent(sql, key, intent.id);
  return sessionResult(found.value);
}

async function intentState(
  deps: StripeDeps,
  { key }: Pick<ChargeRow, 'key'>,
  id: string,
): Promise<ChargeResult> {
  const found = await deps.ask('paymentIntents.retrieve', () =>
    deps.stripe.paymentIntents.retrieve(id, { expand: OF_INTENT }),
  );
  return found.kind === 'done' ? savedResult(deps, key, found.value) : UNKNOWN;
}

/** What became of a charge without its buyer. Where the bank asks for the buyer, it ends. */
export async function savedResult(
  deps: StripeDeps,
  key: string,
  intent: Stripe.PaymentIntent,
): Promise<ChargeResult> {
  return intent.status === 'requires_action'
    ? declineIntent(deps, { key, id: intent.id, code: 'authentication_required' })
    : intentResult(intent, { isSaved: true });
}

/** Cancels an intent that has charged nothing, and declines its charge for ever. */
export async function declineIntent(
  deps: StripeDeps,
  { key, id, code }: { readonly key: string; readonly id: string; readonly code: FailureCode },
): Promise<ChargeResult> {
  const canceled = await deps.ask('paymentIntents.cancel', () =>
    deps.stripe.paymentIntents.cancel(id, { expand: OF_INTENT }),
  );
  // It was decided meanwhile, or Stripe is away: the next question tells.
  if (canceled.kind !== 'done') return UNKNOWN;
  await declineCharge(deps.sql, key, code);
  return declinedAs(code);
}
