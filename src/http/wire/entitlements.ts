import { type Static, Type } from '@sinclair/typebox';
import { INTERVALS } from '../../../ledger/kernel/calendar.ts';
import { isLevel, type Meter } from '../../../ledger/metering/meter.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import type {
  Entitlement as EntitlementRecord,
  NewEntitlement,
} from '../../records/entitlements.ts';
import type { ProductRecord } from '../../records/products.ts';
import type { Issue } from '../edge/errors.ts';
import { Quantity } from './usage-fields.ts';
import { NO_ROLLOVER, Rollover, RolloverCreate } from './rollover.ts';
import { quantityOf } from './usage.ts';
import { Body, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

const RESETS = ['never', ...INTERVALS] as const;

export const FeatureType = oneOf(['metered', 'boolean'], {
  description: 'A boolean feature is on or off: it has no limit and is not used up.',
});

export const ResetInterval = oneOf(RESETS, {
  description:
    "How often the limit resets. Default: the interval of the product's recurring prices if " +
    'they agree, else `month`.',
  error: `must be one of ${RESETS.join(', ')}`,
});

const FeatureKey = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The slug of the meter.',
});

const Limit = Type.Union([...Quantity.anyOf, Type.Null()], {
  description: '`null` for no limit. Required for a metered feature.',
  error: 'must be a number, a decimal string or null',
});

export const EntitlementCreate = Body(
  {
    feature_key: FeatureKey,
    type: Type.Optional(FeatureType),
    limit: Type.Optional(Limit),
    reset_interval: Type.Optional(ResetInterval),
    overage_allowed: Type.Optional(Type.Boolean({ default: false })),
    rollover: Type.Optional(Nullable(RolloverCreate)),
    priority: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        default: 100,
        description: 'Lower burns first.',
      }),
    ),
  },
  {
    feature_key: 'api-calls',
    limit: 10_000,
    reset_interval: 'month',
    rollover: { max: 1000, expires_after_periods: 1 },
  },
);

export const Entitlement = Type.Object({
  id: Uuid,
  product_id: Uuid,
  meter_id: Uuid,
  feature_key: FeatureKey,
  type: FeatureType,
  limit: Nullable(Type.Number()),
  reset_interval: ResetInterval,
  overage_allowed: Type.Boolean(),
  rollover: Nullable(Rollover),
  priority: Type.Integer(),
  created_at: Timestamp,
});

type Create = Static<typeof EntitlementCreate>;

/** Fields that only a metered feature has. */
const METERED_ONLY = ['limit', 'reset_interval', 'overage_allowed', 'rollover'] as const;

/** The body as an entitlement, or its issues. */
export function toNewEntitlement(
  body: Create,
  about: { readonly id: string; readonly product: ProductRecord; readonly meter: Meter },
): NewEntitlement | { readonly issues: readonly Issue[] } {
  const { id, product, meter } = about;
  const { type = 'metered', priority = 100 } = body;
  const given = { id, productId: product.id, meter, type, priority };
  if (type === 'metered') {
    const terms = meteredTerms(body, about);
    return 'issues' in terms ? terms : { ...given, ...terms };
  }
  // `null` and `false` mean that there is none.
  const issues = METERED_ONLY.filter((field) => (body[field] ?? false) !== false).map((field) => ({
    path: [field],
    message: 'goes with a metered feature only',
  }));
  if (issues.length > 0) return { issues };
  return { ...given, limit: null, resetInterval: 'never', overageAllowed: false, rollover: null };
}

type MeteredTerms = Pick<NewEntitlement, 'limit' | 'resetInterval' | 'overageAllowed' | 'rollover'>;

function meteredTerms(
  body: Create,
  { product, meter }: { readonly product: ProductRecord; readonly meter: Meter },
): MeteredTerms | { readonly issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const quantity = (
    input: number | string,
    { path, least }: { path: string[]; least: bigint },
  ): bigint => {
    const units = quantityOf(input, meter.scale, path);
    if (typeof units !== 'bigint') issues.push(units);
    else if (units < least) {
      const bound = least === 0n ? 'must not be negative' : 'must be greater than zero';
      issues.push({ path, message: bound });
    }
    return typeof units === 'bigint' ? units : 0n;
  };
  const { limit = null, rollover = null, overage_allowed: overageAllowed = false } = body;
  const resetInterval = body.reset_interval ?? intervalOf(product);
  if (body.limit === undefined) {
    issues.push({ path: ['limit'], message: 'is required; null for no limit' });
  }
  const amount = limit === null ? null : quantity(limit, { path: ['limit'], least: 0n });
  if (rollover !== null && (limit === null || resetInterval === 'never')) {
    issues.push({ path: ['rollover'], message: 'needs a limit, and a reset_interval' });
  } else if (rollover !== null && isLevel(meter)) {
    issues.push({ path: ['rollover'], message: NO_ROLLOVER });
  }
  const max = quantity(rollover?.max ?? 1, { path: ['rollover', 'max'], least: 1n });
  if (issues.length > 0) return { issues };
  const rolls =
    rollover === null ? null : { max, expiresAfterPeriods: rollover.expires_after_periods };
  return { limit: amount, resetInterval, overageAllowed, rollover: rolls };
}

/**
 * The default interval: that of the product's recurring prices where they agree, else a month. So a
 * yearly plan of a product that is also sold monthly gives its limit each month.
 */
function intervalOf({ prices }: ProductRecord): EntitlementRecord['resetInterval'] {
  const recurring = prices.filter(
    ({ status, interval }) => status === 'active' && interval !== null,
  );
  const [first, ...others] = new Set(recurring.map(({ interval }) => interval));
  return others.length > 0 ? 'month' : (first ?? 'month');
}

export function fromEntitlement(entitlement: EntitlementRecord): Static<typeof Entitlement> {
  const { meter, limit, rollover } = entitlement;
  return {
    id: entitlement.id,
    product_id: entitlement.productId,
    meter_id: meter.id,
    feature_key: meter.slug,
    type: entitlement.type,
    limit: limit === null ? null : quantityNumber(limit, meter.scale),
    reset_interval: entitlement.resetInterval,
    overage_allowed: entitlement.overageAllowed,
    rollover:
      rollover === null
        ? null
        : {
            max: quantityNumber(rollover.max, meter.scale),
            expires_after_periods: rollover.expiresAfterPeriods,
          },
    priority: entitlement.priority,
    created_at: entitlement.createdAt.toISOString(),
  };
}
