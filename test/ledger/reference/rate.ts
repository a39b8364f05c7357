// What a quantity costs, in fractions of a cent, reckoned unit by unit of the sentences of
// docs/spec/usage-prices.md#rating.
import type { Price } from './facts.ts';

/** A share of a period: `part` of `whole` milliseconds. */
export type Share = { readonly part: number; readonly whole: number };

/**
 * In whole cents, half up, of a span that is `over` or still runs: a minimum is billed at its end,
 * for the span's share of its period.
 */
export function cost(price: Price, quantity: bigint, over: Share | null): bigint {
  let cents = rated(price, quantity);
  if (over !== null && price.minimum !== undefined) {
    const minimum = halfUp(price.minimum * BigInt(over.part), BigInt(over.whole));
    if (cents < minimum) cents = minimum;
  }
  return price.maximum !== undefined && cents > price.maximum ? price.maximum : cents;
}

function rated(price: Price, quantity: bigint): bigint {
  switch (price.model) {
    case 'per_unit':
      return quantity * price.amount;
    case 'package':
      return ((quantity + price.size - 1n) / price.size) * price.amount;
    case 'volume': {
      const tier = price.tiers.find(({ upTo }) => upTo === null || quantity <= upTo);
      if (tier === undefined || quantity === 0n) return 0n;
      return quantity * tier.amount + (tier.flat ?? 0n);
    }
    case 'graduated': {
      let [from, sum] = [0n, 0n];
      for (const { upTo, amount, flat = 0n } of price.tiers) {
        if (quantity <= from) break;
        const to = upTo === null || quantity < upTo ? quantity : upTo;
        sum += (to - from) * amount + flat;
        from = to;
        if (upTo !== null) from = upTo;
      }
      return sum;
    }
    default:
      return price satisfies never;
  }
}

const halfUp = (part: bigint, whole: bigint): bigint => (2n * part + whole) / (2n * whole);
