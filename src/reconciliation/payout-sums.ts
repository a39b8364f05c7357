// What the transactions of a payout come to, by what each was for. Pure.
import type { PayoutSums } from '../records/payouts.ts';

/** A transaction of a payout, in the processor's units. */
export type PayoutItem = {
  readonly amount: bigint;
  readonly fee: bigint;
  /** What it was for, as the processor sorts it. */
  readonly category: string;
};

type Part = 'gross' | 'fees' | 'refunds' | 'disputes';

/** By Stripe's reporting categories; what is not here is `other`. */
const PARTS: Readonly<Record<string, Part>> = {
  charge: 'gross',
  charge_failure: 'gross',
  partial_capture_reversal: 'gross',
  refund: 'refunds',
  refund_failure: 'refunds',
  dispute: 'disputes',
  dispute_reversal: 'disputes',
  fee: 'fees',
};

/** The payout is among its own transactions. */
const isPayout = ({ category }: PayoutItem): boolean => category.startsWith('payout');

/**
 * `sums` with the items added, so that the payout's amount is gross - fees - refunds - disputes +
 * other.
 */
export function addItems(sums: PayoutSums, items: readonly PayoutItem[]): PayoutSums {
  const total = { ...sums };
  for (const item of items) {
    if (isPayout(item)) continue;
    const part = PARTS[item.category] ?? 'other';
    total[part] += part === 'gross' || part === 'other' ? item.amount : -item.amount;
    total.fees += item.fee;
    total.count += 1n;
  }
  return total;
}

/** In coins; null where one of them is no whole number of coins. */
export function sumsInCoins(
  sums: PayoutSums,
  coinsOf: (units: bigint) => bigint | null,
): PayoutSums | null {
  const [gross, fees, refunds, disputes, other] = [
    coinsOf(sums.gross),
    coinsOf(sums.fees),
    coinsOf(sums.refunds),
    coinsOf(sums.disputes),
    coinsOf(sums.other),
  ];
  const isWhole =
    gross !== null && fees !== null && refunds !== null && disputes !== null && other !== null;
  return isWhole ? { gross, fees, refunds, disputes, other, count: sums.count } : null;
}
