import { assert, unreachable } from '../kernel/assert.ts';
import { exponentOf, largestAmount } from '../kernel/money.ts';
import { SCALE_MAX } from '../limits.ts';
import {
  type Tariff,
  UNIT_AMOUNT_DECIMALS,
  type UsagePrice,
  type UsageTier,
} from '../metering/usage-price.ts';

/**
 * What a quantity costs, exactly: the one place that reckons it (beyond.md 2, Rating).
 *
 * How it works: every amount has `EXACT_DECIMALS` decimals of the major unit. That is enough for an
 * amount for one unit times a quantity of any meter, so sums and products of bigints are exact.
 * What holds: nothing is rounded but by `rounded`, once for a whole line. What is rated depends on
 * quantities only, not on how they came about.
 * What it does not do: subtract what is included. A quantity is what is past the allowance.
 */

/** Money before it is rounded: 10^-EXACT_DECIMALS of the major unit. */
export type Exact = bigint;

/** Decimals of an amount for one unit, and those of any meter. */
export const EXACT_DECIMALS = UNIT_AMOUNT_DECIMALS + SCALE_MAX;

export type Rated = {
  /** After the minimum and the maximum. */
  readonly amount: Exact;
  /** Before them. */
  readonly used: Exact;
  /** Only those with units in them, so none for a quantity of 0. */
  readonly tiers: readonly RatedTier[];
};

/** Of one tier: what is in it and what that costs. A price without tiers has one. */
export type RatedTier = {
  /** Scaled by the meter's scale. */
  readonly quantity: bigint;
  /** As in the price; null where the tier has none. For packages: null. */
  readonly unitAmount: bigint | null;
  /** In the smallest coin. For packages: the amount of one package. */
  readonly flatAmount: bigint | null;
  /** Of all units in it, and of its flat amount as often as it was reached. */
  readonly amount: Exact;
};

/** `quantity` is scaled by `scale` and never negative. */
export function rate(price: UsagePrice, quantity: bigint, scale: number): Rated {
  return rateAll(price, [quantity], scale);
}

/**
 * The sum of what each quantity costs by itself: of several spans on one line. The minimum and the
 * maximum are those of each. Units of one tier of the price are together.
 */
export function rateAll(price: UsagePrice, quantities: readonly bigint[], scale: number): Rated {
  assert(scale >= 0 && scale <= SCALE_MAX, 'the scale of a meter');
  const coin = coinOf(price.currency);
  const measure = { coin, units: 10n ** BigInt(SCALE_MAX - scale) };
  const sum = new Map<number, RatedTier>();
  let [amount, used] = [0n, 0n];
  for (const quantity of quantities) {
    const parts = partsOf(price, quantity, measure);
    const cost = parts.reduce((total, part) => total + part.amount, 0n);
    used += cost;
    amount += bounded(price, cost, coin);
    for (const part of parts) sum.set(part.index, merged(sum.get(part.index), part));
  }
  const tiers = [...sum].toSorted(([a], [b]) => a - b).map(([, tier]) => tier);
  return { amount, used, tiers };
}

/**
 * In the smallest coin, half up. `amount` is never negative. At most what an amount of money can
 * hold (`isAmount`): a price and a quantity that are each in their bounds may cost more, and the
 * rest is not billed.
 */
export function rounded(amount: Exact, currency: string): bigint {
  assert(amount >= 0n, 'usage never costs less than nothing');
  const coin = coinOf(currency);
  const coins = (2n * amount + coin) / (2n * coin);
  const most = largestAmount(currency);
  return coins < most ? coins : most;
}

/** Units of a quantity that are in one tier of the price. */
type Part = RatedTier & { readonly index: number };

/** What makes amounts exact. */
type Measure = {
  /** The smallest coin. */
  readonly coin: Exact;
  /** An amount for one unit times a scaled quantity, times this. */
  readonly units: bigint;
};

function partsOf(tariff: Tariff, quantity: bigint, measure: Measure): readonly Part[] {
  assert(quantity >= 0n, 'what is past the allowance is never negative');
  if (quantity === 0n) return [];
  switch (tariff.model) {
    case 'per_unit': {
      const tier = { upTo: null, unitAmount: tariff.unitAmount, flatAmount: null };
      return [partOf(tier, 0, quantity, measure)];
    }
    case 'graduated':
      return graduated(tariff.tiers, quantity, measure);
    case 'volume': {
      const index = tariff.tiers.findIndex((tier) => isWithin(quantity, tier));
      const tier = tariff.tiers[index];
      assert(tier !== undefined, 'the last tier has no end');
      return [partOf(tier, index, quantity, measure)];
    }
    case 'package': {
      const packages = (quantity + tariff.packageSize - 1n) / tariff.packageSize;
      const amount = packages * tariff.packageAmount * measure.coin;
      const flatAmount = tariff.packageAmount;
      return [{ index: 0, quantity, unitAmount: null, flatAmount, amount }];
    }
    default:
      return unreachable(tariff);
  }
}

function graduated(
  tiers: readonly UsageTier[],
  quantity: bigint,
  measure: Measure,
): readonly Part[] {
  const parts: Part[] = [];
  let below = 0n;
  for (const [index, tier] of tiers.entries()) {
    if (below >= quantity) break;
    const end = isWithin(quantity, tier) ? quantity : (tier.upTo ?? quantity);
    parts.push(partOf(tier, index, end - below, measure));
    below = end;
  }
  assert(below === quantity, 'the last tier has no end');
  return parts;
}

function isWithin(quantity: bigint, { upTo }: UsageTier): boolean {
  return upTo === null || quantity <= upTo;
}

function partOf(tier: UsageTier, index: number, quantity: bigint, measure: Measure): Part {
  const { unitAmount, flatAmount } = tier;
  const units = (unitAmount ?? 0n) * quantity * measure.units;
  const amount = units + (flatAmount ?? 0n) * measure.coin;
  return { index, quantity, unitAmount, flatAmount, amount };
}

function merged(sum: RatedTier | undefined, { index: _index, ...part }: Part): RatedTier {
  if (sum === undefined) return part;
  return {
    ...part,
    quantity: sum.quantity + part.quantity,
    amount: sum.amount + part.amount,
  };
}

/** Minimum first, then maximum. A minimum is due without usage too. */
function bounded({ minimum, maximum }: UsagePrice, cost: Exact, coin: Exact): Exact {
  const least = (minimum ?? 0n) * coin;
  const raised = cost > least ? cost : least;
  if (maximum === null) return raised;
  const most = maximum * coin;
  return raised < most ? raised : most;
}

/** An amount in the smallest coin. */
export function exact(coins: bigint, currency: string): Exact {
  return coins * coinOf(currency);
}

function coinOf(currency: string): Exact {
  return 10n ** BigInt(EXACT_DECIMALS - exponentOf(currency));
}
