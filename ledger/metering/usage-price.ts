/**
 * What a product asks for usage beyond its allowance (beyond.md 2). Immutable: another price is
 * another row.
 *
 * Amounts of money are bigints in the smallest coin of the currency. An amount for one unit is finer:
 * `UNIT_AMOUNT_DECIMALS` decimals of the major unit. Quantities are scaled by the meter's scale.
 * `rating.ts` in the room of subscriptions says what a quantity costs.
 */
export type UsagePrice = Tariff & {
  readonly id: string;
  readonly currency: string;
  /** Of one span. */
  readonly minimum: bigint | null;
  readonly maximum: bigint | null;
};

export type Tariff =
  | { readonly model: 'per_unit'; readonly unitAmount: bigint }
  /**
   * Tiers ascend, and the last one has no end. `graduated`: each unit costs what its tier says.
   * `volume`: all units cost what the tier of the whole quantity says.
   */
  | { readonly model: 'graduated' | 'volume'; readonly tiers: readonly UsageTier[] }
  /** Each package that is begun. */
  | { readonly model: 'package'; readonly packageSize: bigint; readonly packageAmount: bigint };

export type UsageTier = {
  /** The last billable quantity of the tier; null for no end. */
  readonly upTo: bigint | null;
  readonly unitAmount: bigint | null;
  /** Added once the tier is reached, in the smallest coin. */
  readonly flatAmount: bigint | null;
};

/** Decimals of the major unit of a currency in an amount for one unit. */
export const UNIT_AMOUNT_DECIMALS = 12;
