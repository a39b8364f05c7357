import type { Tariff, UsagePrice } from '../metering/usage-price.ts';
import { fromJson, type JsonOf } from './json.ts';

/** A row of `usage_prices` as JSON. */
export type UsagePriceRow = {
  readonly id: string;
  readonly currency: string;
  /** The `Tariff`, as `toJson` writes it. */
  readonly tariff: JsonOf<Tariff>;
  readonly minimum_amount: string | null;
  readonly maximum_amount: string | null;
};

export function usagePriceOf(row: UsagePriceRow): UsagePrice {
  const { id, currency, minimum_amount: minimum, maximum_amount: maximum } = row;
  return {
    ...fromJson<Tariff>(row.tariff),
    id,
    currency,
    minimum: minimum === null ? null : BigInt(minimum),
    maximum: maximum === null ? null : BigInt(maximum),
  };
}
