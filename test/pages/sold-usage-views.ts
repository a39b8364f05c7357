// Usage prices as pages show them: each model, with names that a test chooses.
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import type { SoldUsage } from '../../src/pages/sold-usage.ts';

const UNIT = 10n ** 12n;
const NONE = { minimum: null, maximum: null };
const USD = { id: 'price', currency: 'USD' };

/** By what it shows. */
export const USAGE_PRICES = {
  per_unit: { ...USD, ...NONE, model: 'per_unit', unitAmount: UNIT / 500n },
  graduated: {
    ...USD,
    model: 'graduated',
    tiers: [
      { upTo: 1_000_000n, unitAmount: UNIT / 1000n, flatAmount: null },
      { upTo: 5_000_050n, unitAmount: UNIT / 2_000_000n, flatAmount: 150n },
      { upTo: null, unitAmount: null, flatAmount: 9900n },
    ],
    minimum: 500n,
    maximum: 1_000_000n,
  },
  volume: {
    ...USD,
    ...NONE,
    model: 'volume',
    tiers: [
      { upTo: 10_000n, unitAmount: 2n * UNIT, flatAmount: null },
      { upTo: null, unitAmount: UNIT, flatAmount: null },
    ],
    minimum: 500n,
  },
  package: {
    ...USD,
    ...NONE,
    model: 'package',
    packageSize: 100_000n,
    packageAmount: 250n,
    maximum: 99_900n,
  },
} satisfies Record<string, UsagePrice>;

export const SOLD: SoldUsage = {
  name: 'API calls',
  unit: 'calls',
  scale: 2,
  limit: 100_000n,
  interval: 'month',
  count: 1,
  price: USAGE_PRICES.per_unit,
};

export function everySoldUsage(name: string, unit: string | null = 'calls'): SoldUsage[] {
  const { per_unit: each, graduated, volume, package: packages } = USAGE_PRICES;
  return [
    { ...SOLD, name, unit, price: each },
    { ...SOLD, name, unit, price: graduated },
    { ...SOLD, name, unit: null, limit: 0n, price: volume },
    { ...SOLD, name, unit, interval: 'week', count: 2, price: packages },
  ];
}
