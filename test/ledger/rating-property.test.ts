// What a quantity costs, against an independent reckoning with fractions.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { exponentOf, largestAmount } from '../../ledger/kernel/money.ts';
import type { UsageTier } from '../../ledger/metering/usage-price.ts';
import { amountOf, rate, rateAll, rounded } from '../../ledger/subscriptions/rating.ts';
import { holds, seeded } from './property.ts';
import { type Case, cases, prices } from './rating-cases.ts';

/** A rational number: `over` is above 0. */
type Fraction = { readonly top: bigint; readonly over: bigint };

const ZERO: Fraction = { top: 0n, over: 1n };
const of = (top: bigint, over: bigint): Fraction => ({ top, over });
const plus = (a: Fraction, b: Fraction) => of(a.top * b.over + b.top * a.over, a.over * b.over);
const times = (a: Fraction, b: Fraction) => of(a.top * b.top, a.over * b.over);
const isLess = (a: Fraction, b: Fraction) => a.top * b.over < b.top * a.over;
const largest = (a: Fraction, b: Fraction) => (isLess(a, b) ? b : a);
const least = (a: Fraction, b: Fraction) => (isLess(a, b) ? a : b);

const coins = (amount: bigint | null, currency: string): Fraction =>
  of(amount ?? 0n, 10n ** BigInt(exponentOf(currency)));
const each = (amount: bigint | null): Fraction => of(amount ?? 0n, 10n ** 12n);

/** In the major unit: how much of the quantity is in each tier, then what all of it costs. */
function reckon({ price, scale, quantity }: Case): Fraction {
  const amount = (scaled: bigint): Fraction => of(scaled, 10n ** BigInt(scale));
  let cost = ZERO;
  if (price.model === 'per_unit') {
    cost = times(each(price.unitAmount), amount(quantity));
  } else if (price.model === 'package') {
    let begun = quantity / price.packageSize;
    if (begun * price.packageSize < quantity) begun += 1n;
    cost = times(of(begun, 1n), coins(price.packageAmount, price.currency));
  } else {
    let start = 0n;
    for (const tier of price.tiers) {
      const inside = within(quantity, { start, upTo: tier.upTo });
      const units = price.model === 'graduated' ? inside : quantity;
      const counts = price.model === 'graduated' ? inside > 0n : isOf(quantity, start, tier);
      if (counts) cost = plus(cost, tierCost(tier, amount(units), price.currency));
      start = tier.upTo ?? start;
    }
  }
  const { minimum, maximum, currency } = price;
  if (minimum !== null) cost = largest(cost, coins(minimum, currency));
  if (maximum !== null) cost = least(cost, coins(maximum, currency));
  return cost;
}

function tierCost(tier: UsageTier, units: Fraction, currency: string): Fraction {
  return plus(times(each(tier.unitAmount), units), coins(tier.flatAmount, currency));
}

/** How much of 0 to `quantity` is in it. */
function within(quantity: bigint, tier: { start: bigint; upTo: bigint | null }): bigint {
  const end = tier.upTo === null || tier.upTo > quantity ? quantity : tier.upTo;
  return end > tier.start ? end - tier.start : 0n;
}

function isOf(quantity: bigint, start: bigint, { upTo }: UsageTier): boolean {
  return quantity > start && (upTo === null || quantity <= upTo);
}

/** The nearest coin: the first that is within half of one above or less below. */
function nearest({ top, over }: Fraction, currency: string): bigint {
  const whole = top * 10n ** BigInt(exponentOf(currency));
  const floor = whole / over;
  const rest = whole - floor * over;
  return rest + rest >= over ? floor + 1n : floor;
}

/**
 * Unit by unit: what one more costs is the price of the tier that it falls into. Of meters without
 * decimals.
 */
function walked({ price, quantity }: Case): Fraction {
  let cost = ZERO;
  for (let unit = 1n; unit <= quantity; unit += 1n) {
    if (price.model === 'per_unit') cost = plus(cost, each(price.unitAmount));
    if (price.model === 'package' && (unit - 1n) % price.packageSize === 0n) {
      cost = plus(cost, coins(price.packageAmount, price.currency));
    }
    if (price.model !== 'graduated') continue;
    const tier = price.tiers.find(({ upTo }) => upTo === null || unit <= upTo);
    const before = price.tiers.find(({ upTo }) => upTo === null || unit - 1n <= upTo);
    const isFirst = unit === 1n || tier !== before;
    cost = plus(cost, each(tier?.unitAmount ?? 0n));
    if (isFirst) cost = plus(cost, coins(tier?.flatAmount ?? 0n, price.currency));
  }
  return cost;
}

test(seeded('a rated quantity costs what fractions say, to the coin'), () => {
  const property = fc.property(cases, (it) => {
    const { price, scale, quantity } = it;
    const { currency } = price;
    const rated = rate(price, quantity, scale);
    const expected = nearest(reckon(it), currency);
    const most = largestAmount(currency);
    expect(rounded(rated.amount, currency)).toBe(expected < most ? expected : most);
    const { top, over } = reckon(it);
    expect(rated.amount * over).toBe(top * 10n ** 21n);
    const alone = reckon({ ...it, price: { ...price, minimum: null } });
    // Asked for again, as a spend cap does.
    for (const asked of [quantity, quantity / 2n, quantity]) {
      const { amount } = rate({ ...price, minimum: null }, asked, scale);
      expect(amountOf(price, asked, scale)).toBe(amount);
    }
    expect(amountOf(price, quantity, scale) * alone.over).toBe(alone.top * 10n ** 21n);
    const inTiers = rated.tiers.reduce((sum, tier) => sum + tier.quantity, 0n);
    expect(inTiers).toBe(quantity);
    expect(rated.tiers.reduce((sum, tier) => sum + tier.amount, 0n)).toBe(rated.used);
    expect(rated.tiers.every((tier) => tier.quantity > 0n)).toBe(true);
  });
  holds(property, 3000);
});

test(seeded('a few rated units cost what each of them costs'), () => {
  const small = fc.record({
    price: prices(40n).filter(({ model }) => model !== 'volume'),
    scale: fc.constant(0),
    quantity: fc.bigInt({ min: 0n, max: 60n }),
  });
  const property = fc.property(small, (it) => {
    const { top, over } = walked(it);
    expect(rate(it.price, it.quantity, 0).used * over).toBe(top * 10n ** 21n);
  });
  holds(property, 1000);
});

test(seeded('quantities rated together cost what they cost one by one, in any order'), () => {
  const several = cases.chain(({ price, scale, quantity }) =>
    fc.record({
      price: fc.constant(price),
      scale: fc.constant(scale),
      quantities: fc.array(fc.bigInt({ min: 0n, max: quantity }), { maxLength: 6 }),
    }),
  );
  const property = fc.property(several, ({ price, scale, quantities }) => {
    const minimum = price.minimum ?? 0n;
    const sold = quantities.map((quantity) => ({ quantity, minimum }));
    const together = rateAll(price, sold, scale);
    const alone = quantities.map((quantity) => rate(price, quantity, scale));
    expect(together.amount).toBe(alone.reduce((sum, { amount }) => sum + amount, 0n));
    expect(together.used).toBe(together.tiers.reduce((sum, { amount }) => sum + amount, 0n));
    expect(rateAll(price, sold.toReversed(), scale)).toEqual(together);
  });
  holds(property, 1000);
});
