import { type Static, Type } from '@sinclair/typebox';
import { USAGE_TIERS_MAX } from '../../../ledger/limits.ts';
import { exponentOf, formatMoney } from '../../../ledger/kernel/money.ts';
import { unreachable } from '../../../ledger/kernel/assert.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import type { Meter } from '../../../ledger/metering/meter.ts';
import {
  UNIT_AMOUNT_DECIMALS,
  type Tariff,
  type UsageTier,
} from '../../../ledger/metering/usage-price.ts';
import { decimal } from '../../../ledger/kernel/decimal.ts';
import type { NewUsagePrice, UsagePriceRecord } from '../../records/usage-prices.ts';
import type { Issue } from '../edge/errors.ts';
import { Amount, Currency, UnitAmount, moneyOf, unitAmountOf } from './money.ts';
import { Quantity } from './usage-fields.ts';
import { quantityOf } from './usage.ts';
import { Body, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

const MODELS = ['per_unit', 'graduated', 'volume', 'package'] as const;
type Model = (typeof MODELS)[number];

export const UsageModel = oneOf(MODELS, {
  description:
    '`per_unit`: each unit costs `unit_amount`. `graduated`: each unit has the price of its ' +
    'tier. `volume`: all units have the price of the tier that has the whole quantity. ' +
    '`package`: each started package costs `package_amount`.',
  error: `must be one of ${MODELS.join(', ')}`,
});

export const UsagePriceStatus = oneOf(['active', 'archived']);

const FeatureKey = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The slug of the meter.',
});

const UP_TO =
  'The last unit of the tier (inclusive), counted beyond the allowance; null in the last tier.';
const FLAT = 'Added once when a unit is in the tier.';
const MINIMUM =
  'The minimum for each period of the allowance, also without usage, for the share of it in ' +
  'which the price is in force.';
const MAXIMUM = 'The maximum for each period of the allowance.';
const TIERS = 'Of `graduated` and `volume`. They ascend.';
const SIZE = 'The units of a package. Of `package`.';

export const UsageTierCreate = Body({
  up_to: Type.Union([...Quantity.anyOf, Type.Null()], {
    description: UP_TO,
    error: 'must be a number, a decimal string or null',
  }),
  unit_amount: Type.Optional(Nullable(UnitAmount)),
  flat_amount: Type.Optional({ ...Nullable(Amount), description: FLAT }),
});

const MODEL_EXAMPLES = [
  { model: 'per_unit', unit_amount: '0.002' },
  {
    model: 'graduated',
    tiers: [
      { up_to: 10_000, unit_amount: '0.002' },
      { up_to: null, unit_amount: '0.0005' },
    ],
    maximum_amount: '500.00',
  },
  {
    model: 'volume',
    tiers: [
      { up_to: 10_000, flat_amount: '15.00' },
      { up_to: null, unit_amount: '0.001' },
    ],
  },
  { model: 'package', package_size: 1000, package_amount: '1.50', minimum_amount: '3.00' },
] as const;

const CREATE = Body({
  feature_key: FeatureKey,
  currency: Currency,
  model: UsageModel,
  unit_amount: Type.Optional({ ...Nullable(UnitAmount), description: 'Of `per_unit`.' }),
  tiers: Type.Optional(
    Nullable(
      Type.Array(UsageTierCreate, {
        minItems: 1,
        maxItems: USAGE_TIERS_MAX,
        description: TIERS,
        error: `must be a list of 1 to ${USAGE_TIERS_MAX} tiers`,
      }),
    ),
  ),
  package_size: Type.Optional({ ...Nullable(Quantity), description: SIZE }),
  package_amount: Type.Optional({ ...Nullable(Amount), description: 'Of `package`.' }),
  minimum_amount: Type.Optional({ ...Nullable(Amount), description: MINIMUM }),
  maximum_amount: Type.Optional({ ...Nullable(Amount), description: MAXIMUM }),
});

/** With an example of each model. */
export const UsagePriceCreate: typeof CREATE = {
  ...CREATE,
  examples: MODEL_EXAMPLES.map((rest) => ({ feature_key: 'api-calls', currency: 'USD', ...rest })),
};

export const UsageTierShown = Type.Object({
  up_to: { ...Nullable(Type.Number()), description: UP_TO },
  unit_amount: Type.Optional(UnitAmount),
  flat_amount: Type.Optional({ ...Amount, description: FLAT }),
});

export const UsagePrice = Type.Object({
  id: Uuid,
  product_id: Uuid,
  meter_id: Uuid,
  feature_key: FeatureKey,
  currency: Currency,
  model: UsageModel,
  unit_amount: Type.Optional({ ...UnitAmount, description: 'Of `per_unit`.' }),
  tiers: Type.Optional(Type.Array(UsageTierShown, { description: TIERS })),
  package_size: Type.Optional(Type.Number({ description: SIZE })),
  package_amount: Type.Optional({ ...Amount, description: 'Of `package`.' }),
  minimum_amount: Type.Optional({ ...Amount, description: MINIMUM }),
  maximum_amount: Type.Optional({ ...Amount, description: MAXIMUM }),
  status: UsagePriceStatus,
  created_at: Timestamp,
});

type Create = Static<typeof UsagePriceCreate>;

/** Fields of some models only. */
const FIELDS = ['unit_amount', 'tiers', 'package_size', 'package_amount'] as const;
const FIELDS_OF: Readonly<Record<Model, readonly (typeof FIELDS)[number][]>> = {
  per_unit: ['unit_amount'],
  graduated: ['tiers'],
  volume: ['tiers'],
  package: ['package_size', 'package_amount'],
};

/** The body as a usage price, or its issues. `null` is as if the field was left out. */
export function toNewUsagePrice(
  body: Create,
  about: { readonly id: string; readonly productId: string; readonly meter: Meter },
): NewUsagePrice | { readonly issues: readonly Issue[] } {
  const { currency, model } = body;
  const issues: Issue[] = [];
  for (const field of FIELDS) {
    const isGiven = (body[field] ?? null) !== null;
    const isOfModel = FIELDS_OF[model].includes(field);
    if (isGiven && !isOfModel) issues.push({ path: [field], message: `does not go with ${model}` });
    if (!isGiven && isOfModel) issues.push({ path: [field], message: `is required for ${model}` });
  }
  const read = new Reader(issues, about.meter.scale, currency);
  const tariff = tariffOf(body, read);
  const minimum = read.money(body.minimum_amount, ['minimum_amount']);
  const maximum = read.money(body.maximum_amount, ['maximum_amount']);
  if (minimum !== null && maximum !== null && minimum > maximum) {
    issues.push({ path: ['minimum_amount'], message: 'is more than maximum_amount' });
  }
  if (issues.length > 0) return { issues };
  return { ...about, ...tariff, currency, minimum, maximum };
}

function tariffOf(body: Create, read: Reader): Tariff {
  const { model } = body;
  switch (model) {
    case 'per_unit':
      return { model, unitAmount: unitAmountOf(body.unit_amount ?? '0') };
    case 'graduated':
    case 'volume':
      return { model, tiers: tiersOf(body.tiers ?? [], read) };
    case 'package':
      return {
        model,
        packageSize: read.quantity(body.package_size ?? 1, ['package_size']),
        packageAmount: read.money(body.package_amount, ['package_amount']) ?? 0n,
      };
    default:
      return unreachable(model);
  }
}

function tiersOf(tiers: readonly Static<typeof UsageTierCreate>[], read: Reader): UsageTier[] {
  let before = 0n;
  return tiers.map(({ up_to: end, unit_amount: unit = null, flat_amount: flat }, index) => {
    const at = ['tiers', String(index)];
    const isLast = index === tiers.length - 1;
    const path = [...at, 'up_to'];
    if (isLast && end !== null) read.refuse(path, 'must be null: the last tier has no end');
    if (!isLast && end === null)
      read.refuse(path, 'must not be null: only the last tier has no end');
    const upTo = end === null ? null : read.quantity(end, path);
    if (upTo !== null && upTo > 0n) {
      if (upTo <= before) read.refuse(path, 'must be more than that of the tier before');
      before = upTo;
    }
    if (unit === null && (flat ?? null) === null) {
      read.refuse(at, 'needs a unit_amount or a flat_amount');
    }
    const unitAmount = unit === null ? null : unitAmountOf(unit);
    return { upTo, unitAmount, flatAmount: read.money(flat, [...at, 'flat_amount']) };
  });
}

/** Reads the parts of a body, and collects what is wrong with them. */
class Reader {
  readonly #issues: Issue[];
  readonly #scale: number;
  readonly #currency: string;

  constructor(issues: Issue[], scale: number, currency: string) {
    this.#issues = issues;
    this.#scale = scale;
    this.#currency = currency;
  }

  refuse(path: readonly string[], message: string): void {
    this.#issues.push({ path, message });
  }

  money(amount: string | null | undefined, path: readonly string[]): bigint | null {
    if (amount === null || amount === undefined) return null;
    return this.#keep(moneyOf(amount, this.#currency, path), null);
  }

  /** Above zero. */
  quantity(input: number | string, path: readonly string[]): bigint {
    const units = this.#keep(quantityOf(input, this.#scale, path), null);
    if (units === null) return 0n;
    if (units <= 0n) this.refuse(path, 'must be greater than zero');
    return units;
  }

  #keep<T>(read: bigint | Issue, otherwise: T): bigint | T {
    if (typeof read === 'bigint') return read;
    this.#issues.push(read);
    return otherwise;
  }
}

/** Only the fields that it has. */
export function fromUsagePrice(price: UsagePriceRecord): Static<typeof UsagePrice> {
  const { meter, currency, minimum, maximum } = price;
  return {
    id: price.id,
    product_id: price.productId,
    meter_id: meter.id,
    feature_key: meter.slug,
    currency,
    model: price.model,
    ...fromTariff(price, meter.scale),
    ...(minimum !== null && { minimum_amount: formatMoney(minimum, currency) }),
    ...(maximum !== null && { maximum_amount: formatMoney(maximum, currency) }),
    status: price.status,
    created_at: price.createdAt.toISOString(),
  };
}

function fromTariff(price: UsagePriceRecord, scale: number) {
  const { currency } = price;
  const coins = exponentOf(currency);
  const unit = (amount: bigint): string => decimal(amount, UNIT_AMOUNT_DECIMALS, coins);
  switch (price.model) {
    case 'per_unit':
      return { unit_amount: unit(price.unitAmount) };
    case 'graduated':
    case 'volume':
      return {
        tiers: price.tiers.map(({ upTo, unitAmount, flatAmount }) => ({
          up_to: upTo === null ? null : quantityNumber(upTo, scale),
          ...(unitAmount !== null && { unit_amount: unit(unitAmount) }),
          ...(flatAmount !== null && { flat_amount: formatMoney(flatAmount, currency) }),
        })),
      };
    case 'package':
      return {
        package_size: quantityNumber(price.packageSize, scale),
        package_amount: formatMoney(price.packageAmount, currency),
      };
    default:
      return unreachable(price);
  }
}
