// What makes up the amount of a line of usage, in words, so that a customer can follow it.
//
// Holds: the parts add up to the amount of the line, to the last decimal.
import { decimal, scaled } from '../../ledger/kernel/decimal.ts';
import { exponentOf } from '../../ledger/kernel/money.ts';
import { showDecimal, showExact } from './amount.ts';
import type { Period } from './invoice-parts.ts';

/** Quantities and amounts of tiers are exact decimals. */
export type UsageLine = {
  readonly type: 'usage' | 'usage_adjustment';
  readonly description: string;
  readonly quantity: string;
  readonly amount: bigint;
  /** What was billed of it before. */
  readonly billed: bigint;
  /** Before minimum, maximum and rounding; of an adjustment, of all the usage. */
  readonly tiers: readonly Tier[];
  readonly period: Period;
};

type Tier = {
  readonly quantity: string;
  readonly unitAmount: string | null;
  readonly flatAmount: string | null;
  readonly amount: string;
};

export type Part = {
  readonly what: string;
  /** An exact decimal. */
  readonly amount: string;
};

/** Decimals of an amount that is not rounded, and those of a quantity. */
const EXACT_DECIMALS = 21;
const QUANTITY_DECIMALS = 9;
const UNIT_DECIMALS = EXACT_DECIMALS - QUANTITY_DECIMALS;

/** None where the quantity times the unit price is the amount. */
export function partsOf(line: UsageLine, currency: string): readonly Part[] {
  const decimals = exponentOf(currency);
  const coin = 10n ** BigInt(EXACT_DECIMALS - decimals);
  const used = line.tiers.reduce((sum, { amount }) => sum + scaled(amount, EXACT_DECIMALS), 0n);
  const cost = (line.amount + line.billed) * coin;
  if (isPlain(line) && used === cost) return [];
  const part = (what: string, amount: bigint): Part[] =>
    amount === 0n ? [] : [{ what, amount: decimal(amount, EXACT_DECIMALS, decimals) }];
  return [
    ...line.tiers.map((tier) => ({ what: wordsOf(tier, currency), amount: tier.amount })),
    ...part(nameOf(cost - used, coin), cost - used),
    ...part('Billed before', -line.billed * coin),
  ];
}

/** Where one is enough to understand the line. */
export function unitAmountOf(line: UsageLine): string | null {
  return isPlain(line) ? (line.tiers[0]?.unitAmount ?? null) : null;
}

function isPlain({ type, tiers: [tier, ...more] }: UsageLine): boolean {
  if (type === 'usage_adjustment' || tier === undefined || more.length > 0) return false;
  return tier.unitAmount !== null && isNone(tier.flatAmount);
}

/** Rounding is at most half a coin: what is more comes from the price's minimum or maximum. */
function nameOf(difference: bigint, coin: bigint): string {
  if (2n * difference > coin) return 'Up to the minimum charge';
  if (2n * difference < -coin) return 'Above the maximum charge';
  return 'Rounding';
}

/** "2,275 at $0.002 each, plus $1.00", "2,275 in 3 packages of $5.00": what holds for any price. */
function wordsOf({ quantity, unitAmount, flatAmount, amount }: Tier, currency: string): string {
  const count = showDecimal(quantity);
  if (isNone(unitAmount) && isNone(flatAmount)) return `${count} at no charge`;
  const unit = unitAmount ?? '0';
  const units = scaled(quantity, QUANTITY_DECIMALS) * scaled(unit, UNIT_DECIMALS);
  const each = isNone(unitAmount) ? null : `at ${showExact(unit, currency)} each`;
  if (flatAmount === null || isNone(flatAmount)) return `${count} ${each}`;
  // A flat amount counts once for each package, and for each of several periods on one line.
  const flat = showExact(flatAmount, currency);
  const times = (scaled(amount, EXACT_DECIMALS) - units) / scaled(flatAmount, EXACT_DECIMALS);
  const fixed = times === 1n ? flat : `${showDecimal(String(times))} × ${flat}`;
  return each === null ? `${count} for ${fixed}` : `${count} ${each}, plus ${fixed}`;
}

function isNone(amount: string | null): boolean {
  return amount === null || /^[0.]+$/.test(amount);
}
