import { assert, must, unreachable } from '../kernel/assert.ts';
import { exponentOf, largestAmount } from '../kernel/money.ts';
import { one } from '../kernel/quantity.ts';
import { SCALE_MAX } from '../limits.ts';
import {
  type Tariff,
  UNIT_AMOUNT_DECIMALS,
  type UsagePrice,
  type UsageTier,
} from '../metering/usage-price.ts';

/**
 * What a quantity costs, exactly: the one place that reckons it (docs/spec/usage-prices.md#rating).
 *
 * How it works: every amount has `EXACT_DECIMALS` decimals of the major unit. That is enough for an
 * amount for one unit times a quantity of any meter, so sums and products of bigints are exact.
 * What holds: nothing is rounded but by `rounded`, once for a whole line, and the share of a level
 * at the last exact decimal. What is rated depends on quantities only, not on how they came about.
 * What it does not do: subtract what is included. A quantity is what is past the allowance.
 */

/** Money before it is rounded: 10^-EXACT_DECIMALS of the major unit. */
export type Exact = bigint;

/** Decimals of an amount for one unit, and those of any meter. */
export const EXACT_DECIMALS = UNIT_AMOUNT_DECIMALS + SCALE_MAX;

/** The smallest coin, by the decimals of the currency: ISO 4217 has 4 at most. */
const COINS = [0, 1, 2, 3, 4].map((decimals) => 10n ** BigInt(EXACT_DECIMALS - decimals));

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

/** What a price sold in one period. */
export type Sold = {
  /** Scaled by the scale of the meter, and never negative. */
  readonly quantity: bigint;
  /** What it costs at least, in the smallest coin: 0 while the price is in force. */
  readonly minimum: bigint;
  /** Of a level, which is used for a time: it costs this share, its minimum and its maximum too. */
  readonly share?: Share;
};

/** Of a period, in milliseconds: at most the whole. */
export type Share = { readonly part: bigint; readonly whole: bigint };

/** `quantity` is scaled by `scale` and never negative. Its minimum is the whole one. */
export function rate(price: UsagePrice, quantity: bigint, scale: number): Rated {
  return rateAll(price, [{ quantity, minimum: price.minimum ?? 0n }], scale);
}

/**
 * The sum of what each costs by itself: of several periods on one line. The maximum is that of
 * each. Units of one tier of the price are together.
 */
export function rateAll(price: UsagePrice, all: readonly Sold[], scale: number): Rated {
  const measure = measureOf(price, scale);
  const sum = new Map<number, RatedTier>();
  let [amount, used] = [0n, 0n];
  for (const { quantity, minimum, share } of all) {
    const parts = partsOf(price, quantity, measure);
    const cost = bounded({ minimum, maximum: price.maximum }, sumOf(parts), measure.coin);
    amount += shareOf(cost, share);
    for (const part of parts) {
      const partial = shareOf(part.amount, share);
      used += partial;
      sum.set(part.index, merged(sum.get(part.index), part, partial));
    }
  }
  const tiers = [...sum].toSorted(([a], [b]) => a - b).map(([, tier]) => tier);
  return { amount, used, tiers };
}

/** As `rate`, without a minimum: the amount alone, which decisions ask for again and again. */
export function amountOf(price: UsagePrice, quantity: bigint, scale: number): Exact {
  const measure = measureOf(price, scale);
  const cost =
    price.model === 'graduated' && quantity > 0n
      ? graduatedCost(price.tiers, quantity, measure)
      : sumOf(partsOf(price, quantity, measure));
  return bounded({ minimum: 0n, maximum: price.maximum }, cost, measure.coin);
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

function measureOf({ currency }: UsagePrice, scale: number): Measure {
  assert(scale >= 0 && scale <= SCALE_MAX, 'the scale of a meter');
  return { coin: coinOf(currency), units: one(SCALE_MAX - scale) };
}

function sumOf(parts: readonly Part[]): Exact {
  let sum = 0n;
  for (const { amount } of parts) sum += amount;
  return sum;
}

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

/** Of all units below each tier: what they cost by themselves, and the flat amounts. */
type Below = { readonly upTo: bigint; readonly units: bigint; readonly flat: bigint };

const belowTiers = new WeakMap<readonly UsageTier[], readonly Below[]>();

/** The sum of `graduated`, at the price of one of its parts. */
function graduatedCost(tiers: readonly UsageTier[], quantity: bigint, measure: Measure): Exact {
  const index = tiers.findIndex((tier) => isWithin(quantity, tier));
  const tier = tiers[index];
  const below = belowOf(tiers)[index];
  assert(tier !== undefined && below !== undefined, 'the last tier has no end');
  const { amount } = partOf(tier, index, quantity - below.upTo, measure);
  return below.units * measure.units + below.flat * measure.coin + amount;
}

function belowOf(tiers: readonly UsageTier[]): readonly Below[] {
  const known = belowTiers.get(tiers);
  if (known !== undefined) return known;
  let [upTo, units, flat] = [0n, 0n, 0n];
  const all = tiers.map((tier) => {
    const below = { upTo, units, flat };
    const end = tier.upTo ?? upTo;
    units += (tier.unitAmount ?? 0n) * (end - upTo);
    flat += tier.flatAmount ?? 0n;
    upTo = end;
    return below;
  });
  belowTiers.set(tiers, all);
  return all;
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

/** Half up, to the last of the exact decimals. */
function shareOf(amount: Exact, share: Share | undefined): Exact {
  if (share === undefined) return amount;
  return (2n * amount * share.part + share.whole) / (2n * share.whole);
}

function merged(
  sum: RatedTier | undefined,
  { quantity, unitAmount, flatAmount }: Part,
  amount: Exact,
): RatedTier {
  return {
    quantity: (sum?.quantity ?? 0n) + quantity,
    unitAmount,
    flatAmount,
    amount: (sum?.amount ?? 0n) + amount,
  };
}

/** Minimum first, then maximum. A minimum is due without usage too. */
function bounded(
  { minimum, maximum }: Pick<Sold, 'minimum'> & Pick<UsagePrice, 'maximum'>,
  cost: Exact,
  coin: Exact,
): Exact {
  const least = minimum * coin;
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
  return must(COINS[exponentOf(currency)], 'a currency has few decimals');
}
