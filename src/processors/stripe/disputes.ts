// Disputes of a charge, as Stripe has them now: the list of its intent's disputes.
//
// Holds: an inquiry, with which a bank only asks, is no dispute: nothing was taken, and the payment
// can still be refunded. Lost, only what was not given back is disputed: Stripe calls a dispute
// that was won in part lost.
import { DAY_MS } from '../../../ledger/kernel/durations.ts';
import type Stripe from 'stripe';
import { DISPUTE_REASONS, type DisputeReason } from '../../../ledger/payments/payment.ts';
import type { Dispute, DisputesResult } from '../processor.ts';
import { amountOf } from './amounts.ts';
import { paymentIntentOf } from './refunds.ts';
import type { StripeDeps } from './states.ts';
import { findCharge } from './store.ts';

/** More than a charge has. */
const LISTED_MAX = 100;

const NONE: DisputesResult = { kind: 'found', disputes: [] };
const UNKNOWN: DisputesResult = { kind: 'unknown' };

export async function findDisputes(deps: StripeDeps, chargeKey: string): Promise<DisputesResult> {
  const charge = await findCharge(deps.sql, chargeKey);
  if (charge === null || charge.stripeId === null || charge.kind === 'setup') return NONE;
  const of = await paymentIntentOf(deps, charge);
  if (of.kind !== 'done') return UNKNOWN;
  const { value: intent } = of;
  if (intent === null) return NONE;
  const found = await deps.ask('disputes.list', () =>
    deps.stripe.disputes.list({ payment_intent: intent, limit: LISTED_MAX }),
  );
  if (found.kind !== 'done') return UNKNOWN;
  return { kind: 'found', disputes: found.value.data.flatMap((one) => disputeOf(one) ?? []) };
}

/** null where it is only an inquiry, or nothing was taken in the end. */
export function disputeOf(dispute: Stripe.Dispute): Dispute | null {
  const { id: reference, created, status } = dispute;
  const currency = dispute.currency.toUpperCase();
  const amount = amountOf(dispute.amount, currency);
  const said = { reference, currency, reason: reasonOf(dispute.reason), at: created * 1000 };
  switch (status) {
    case 'needs_response':
    case 'under_review':
      return { ...said, amount, status: 'opened' };
    case 'won':
      return { ...said, amount, status: 'won' };
    case 'lost':
      return { ...said, ...takenOf(dispute, amount) };
    case 'appeal_needs_response':
    case 'appeal_under_review':
      return { ...said, ...takenOf(dispute, amount), askAfterMs: DAY_MS };
    case 'warning_needs_response':
    case 'warning_under_review':
    case 'warning_closed':
      return null;
    case 'prevented':
    default:
      // Whatever it is called, the money counts.
      return isTaken(dispute) ? { ...said, ...takenOf(dispute, amount) } : null;
  }
}

/** What of it is gone. Its movements may be in another currency: what counts is their share. */
function takenOf(
  { balance_transactions: moves }: Stripe.Dispute,
  amount: bigint,
): Pick<Dispute, 'amount' | 'status'> {
  let [out, back] = [0n, 0n];
  for (const move of moves) {
    if (move.amount < 0) out -= BigInt(move.amount);
    else back += BigInt(move.amount);
  }
  if (back === 0n) return { amount, status: 'lost' };
  if (back >= out) return { amount, status: 'won' };
  return { amount: amount - (amount * back) / out, status: 'lost' };
}

function isTaken({ balance_transactions: moves }: Stripe.Dispute): boolean {
  return moves.reduce((sum, move) => sum + move.amount, 0) < 0;
}

function reasonOf(reason: string): DisputeReason {
  return DISPUTE_REASONS.find((known) => known === reason) ?? 'general';
}
