import type { DisputeReason } from '../../ledger/payments/payment.ts';
import type { DisputeCourse } from './cards.ts';
import type { Dispute } from './processor.ts';
import type { ChargeRow } from './sandbox-store.ts';

const REASONS: Readonly<Record<DisputeCourse, DisputeReason>> = {
  lost: 'fraudulent',
  won: 'product_not_received',
};

/**
 * The disputes of a charge: of one that was made, by a card that disputes it, all of its amount.
 */
export function disputesOf(charge: ChargeRow, now: number): readonly Dispute[] {
  const { key, status, amount, currency, dispute, disputeEndsAt: endsAt, createdAt } = charge;
  if (dispute === null || endsAt === null || status !== 'succeeded') return [];
  if (amount === null || currency === null || amount === 0n) return [];
  const reference = `sandbox_dispute_${key}`;
  const said = { reference, amount, currency, reason: REASONS[dispute], at: createdAt.getTime() };
  const leftMs = endsAt.getTime() - now;
  return [
    leftMs > 0 ? { ...said, status: 'opened', askAfterMs: leftMs } : { ...said, status: dispute },
  ];
}
