// Prices of usage and quantities, at random.
import fc from 'fast-check';
import { EXPONENTS } from '../../ledger/kernel/currencies.ts';
import type { UsagePrice, UsageTier } from '../../ledger/metering/usage-price.ts';

export type Case = {
  readonly price: UsagePrice;
  readonly scale: number;
  readonly quantity: bigint;
};

const currencies = fc.constantFrom('USD', 'JPY', 'KWD', 'CLF', ...EXPONENTS.keys());
const unitAmounts = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 24n - 1n }),
  fc.bigInt({ min: 0n, max: 10n ** 13n }),
  fc.constant(2_000_000n),
);
const amounts = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }),
  fc.bigInt({ min: 0n, max: 5000n }),
);

function tiersUpTo(bound: bigint): fc.Arbitrary<UsageTier[]> {
  const money = { unitAmount: fc.option(unitAmounts), flatAmount: fc.option(amounts) };
  const ends = fc.uniqueArray(fc.bigInt({ min: 1n, max: bound }), { maxLength: 49 });
  return ends.chain((found) => {
    const sorted = found.toSorted((a, b) => (a < b ? -1 : 1));
    const tier = (upTo: bigint | null) => fc.record({ upTo: fc.constant(upTo), ...money });
    return fc.tuple(...sorted.map(tier), tier(null));
  });
}

export function prices(bound: bigint): fc.Arbitrary<UsagePrice> {
  const tariff = fc.oneof(
    fc.record({ model: fc.constant('per_unit' as const), unitAmount: unitAmounts }),
    fc.record({
      model: fc.constantFrom('graduated' as const, 'volume' as const),
      tiers: tiersUpTo(bound),
    }),
    fc.record({
      model: fc.constant('package' as const),
      packageSize: fc.bigInt({ min: 1n, max: bound }),
      packageAmount: amounts,
    }),
  );
  const bounds = fc
    .tuple(fc.option(amounts), fc.option(amounts))
    .map(([a, b]) =>
      a !== null && b !== null && a > b ? { minimum: b, maximum: a } : { minimum: a, maximum: b },
    );
  return fc
    .tuple(tariff, currencies, bounds)
    .map(([sold, currency, limits]) => ({ id: 'price', currency, ...limits, ...sold }));
}

/** Small bounds, so that quantities are often at the end of a tier; and the largest. */
export const cases: fc.Arbitrary<Case> = fc
  .oneof(fc.constant(60n), fc.constant(10n ** 6n), fc.constant(10n ** 15n - 1n))
  .chain((bound) =>
    fc.record({
      price: prices(bound),
      scale: fc.integer({ min: 0, max: 9 }),
      quantity: fc.bigInt({ min: 0n, max: bound }),
    }),
  );
