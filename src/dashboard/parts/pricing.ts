// The pricing of a product as a buyer sees it: the summary of the checkout, from what the API says.
import { unreachable } from '../../../ledger/kernel/assert.ts';
import { scaled } from '../../../ledger/kernel/decimal.ts';
import { parseQuantity } from '../../../ledger/kernel/quantity.ts';
import { isCurrency, parseMoney } from '../../../ledger/kernel/money.ts';
import {
  type Tariff,
  UNIT_AMOUNT_DECIMALS,
  type UsagePrice,
  type UsageTier,
} from '../../../ledger/metering/usage-price.ts';
import type {
  Entitlement,
  Meter,
  Price,
  PriceCreate,
  Product,
  UsagePrice as UsagePriceShown,
  UsagePriceCreate,
} from '../../client/types.ts';
import { ticket } from '../../pages/checkout/summary.ts';
import type { Recurrence } from '../../pages/checkout/view.ts';
import { type Html, html } from '../../pages/html.ts';
import type { SoldUsage } from '../../pages/sold-usage.ts';
import type { Place } from './place.ts';

const DAY_MS = 86_400_000;
const UNIT_AMOUNT = new RegExp(`^\\d{1,12}(?:\\.\\d{1,${UNIT_AMOUNT_DECIMALS}})?$`);

export type Plan = {
  readonly product: Pick<Product, 'name' | 'description'>;
  readonly entitlements: readonly Entitlement[];
  /** Those that are active. */
  readonly usagePrices: readonly (UsagePriceShown | UsagePriceCreate)[];
  readonly meters: readonly Meter[];
};

/** As the checkout shows it; null where it is no price that can be sold. */
export function pricePreview(place: Place, price: Price | PriceCreate, plan: Plan): Html | null {
  const currency = price.currency.toUpperCase();
  if (!isCurrency(currency)) return null;
  const amount = parseMoney(price.amount, currency);
  if (typeof amount !== 'bigint') return null;
  const recurs = recurrenceOf(place, { ...price, currency }, { amount, plan });
  const { organisation, mode } = place;
  const total = recurs?.trialEnd === null || recurs === null ? amount : 0n;
  const sale = {
    merchant: organisation.name,
    product: plan.product,
    currency,
    subtotal: total,
    reduction: 0n,
    total,
    recurs,
    isTest: mode === 'test',
  };
  return html`<div role="group" aria-label="Preview">
    ${ticket(sale, { leads: false, below: null })}
  </div>`;
}

function recurrenceOf(
  { now }: Place,
  price: Price | PriceCreate,
  { amount, plan }: { readonly amount: bigint; readonly plan: Plan },
): Recurrence | null {
  const { interval, intervalCount: count = 1, trialDays = 0, currency } = price;
  if (interval === undefined) return null;
  const sold = plan.usagePrices.flatMap((usagePrice) => {
    if (usagePrice.currency.toUpperCase() !== currency) return [];
    const one = soldOf(usagePrice, plan, { interval, count });
    return one === null ? [] : [one];
  });
  const trialEnd = trialDays > 0 ? new Date(now + trialDays * DAY_MS) : null;
  return { amount, interval, count, trialEnd, sold };
}

/** What usage costs beyond the allowance; null where it cannot be read, or is not priced so. */
export function soldOf(
  price: UsagePriceShown | UsagePriceCreate,
  { entitlements, meters }: Pick<Plan, 'entitlements' | 'meters'>,
  period: Pick<SoldUsage, 'interval' | 'count'>,
): SoldUsage | null {
  const meter = meters.find(({ slug }) => slug === price.featureKey);
  if (meter === undefined) return null;
  const { name, unit, scale } = meter;
  const parsed = usagePriceOf(price, scale);
  if (parsed === null) return null;
  const allowance = entitlements.find(({ featureKey }) => featureKey === price.featureKey);
  const label = { name, unit, scale, price: parsed };
  if (allowance === undefined) return { ...label, ...period, limit: 0n };
  const { limit: given, resetInterval } = allowance;
  if (given === null || resetInterval === 'never') return null;
  const limit = parseQuantity(given, scale);
  return typeof limit === 'bigint' ? { ...label, limit, interval: resetInterval, count: 1 } : null;
}

/** null where anything of it cannot be read: the API says what. */
function usagePriceOf(of: UsagePriceShown | UsagePriceCreate, scale: number): UsagePrice | null {
  const currency = of.currency.toUpperCase();
  if (!isCurrency(currency)) return null;
  const tariff = tariffOf(of, { currency, scale });
  const minimum = optional(of.minimumAmount, (text) => moneyOf(text, currency));
  const maximum = optional(of.maximumAmount, (text) => moneyOf(text, currency));
  if (tariff === null || minimum === undefined || maximum === undefined) return null;
  return { ...tariff, id: '', currency, minimum, maximum };
}

type Units = { readonly currency: string; readonly scale: number };

function tariffOf(of: UsagePriceShown | UsagePriceCreate, units: Units): Tariff | null {
  switch (of.model) {
    case 'per_unit': {
      const unitAmount = unitAmountOf(of.unitAmount ?? '');
      return unitAmount === undefined ? null : { model: of.model, unitAmount };
    }
    case 'package': {
      const packageSize = quantityOf(of.packageSize ?? '', units.scale);
      const packageAmount = moneyOf(of.packageAmount ?? '', units.currency);
      if (packageSize === undefined || packageAmount === undefined) return null;
      return { model: of.model, packageSize, packageAmount };
    }
    case 'graduated':
    case 'volume': {
      const tiers = (of.tiers ?? []).map((tier) => tierOf(tier, units));
      const read = tiers.filter((tier) => tier !== null);
      return read.length === 0 || read.length < tiers.length
        ? null
        : { model: of.model, tiers: read };
    }
    default:
      return unreachable(of.model);
  }
}

type TierShown = NonNullable<(UsagePriceShown | UsagePriceCreate)['tiers']>[number];

function tierOf(tier: TierShown, { currency, scale }: Units): UsageTier | null {
  const upTo = optional(tier.upTo, (given) => quantityOf(given, scale));
  const unitAmount = optional(tier.unitAmount, unitAmountOf);
  const flatAmount = optional(tier.flatAmount, (text) => moneyOf(text, currency));
  if (upTo === undefined || unitAmount === undefined || flatAmount === undefined) return null;
  return { upTo, unitAmount, flatAmount };
}

/** null where it is not given; undefined where it cannot be read. */
function optional<T>(
  given: T | null | undefined,
  read: (given: T) => bigint | undefined,
): bigint | null | undefined {
  return given === null || given === undefined ? null : read(given);
}

function moneyOf(text: string, currency: string): bigint | undefined {
  const amount = parseMoney(text, currency);
  return typeof amount === 'bigint' ? amount : undefined;
}

function quantityOf(given: number | string, scale: number): bigint | undefined {
  const quantity = parseQuantity(given, scale);
  return typeof quantity === 'bigint' ? quantity : undefined;
}

function unitAmountOf(text: string): bigint | undefined {
  return UNIT_AMOUNT.test(text) ? scaled(text, UNIT_AMOUNT_DECIMALS) : undefined;
}
