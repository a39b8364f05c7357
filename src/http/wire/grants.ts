import { type Static, Type } from '@sinclair/typebox';
import { INTERVALS } from '../../../ledger/kernel/calendar.ts';
import { iso } from '../../../ledger/kernel/iso.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { GRANT_SOURCES, type Grant as LedgerGrant } from '../../../ledger/metering/grants.ts';
import type { Meter } from '../../../ledger/metering/meter.ts';
import type { GrantRecord } from '../../records/grants.ts';
import { AskedFor } from '../edge/lenient.ts';
import { NextCursor } from './customer-page.ts';
import { Quantity } from './usage-fields.ts';
import { Rollover, RolloverCreate } from './rollover.ts';
import { Body, Nullable, Timestamp, Uuid, namedOneOf, oneOf } from './values.ts';

export const GrantInterval = namedOneOf(INTERVALS);

export const GrantCreate = Body(
  {
    feature_key: Type.String({ minLength: 1, maxLength: 64 }),
    amount: Type.Optional(AskedFor(Quantity)),
    unlimited: Type.Optional(Type.Literal(true, { description: 'Instead of an amount.' })),
    effective_at: Type.Optional(Timestamp),
    expires_at: Type.Optional(AskedFor(Timestamp)),
    priority: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        default: 100,
        description: 'Lower burns first.',
      }),
    ),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x20-\\x7e\\u00a0-\\uffff]+$',
        error: 'must be 1 to 255 printable characters',
      }),
    ),
    reset_interval: Type.Optional(
      Type.Union(GrantInterval.anyOf, {
        description:
          'Makes it an allowance: given again each interval, counted from `effective_at`.',
        error: `must be one of ${INTERVALS.join(', ')}`,
      }),
    ),
    rollover: Type.Optional(RolloverCreate),
    overage_allowed: Type.Optional(Type.Boolean()),
  },
  { feature_key: 'api-calls', amount: 500, reason: 'goodwill' },
);

export type GrantCreate = Static<typeof GrantCreate>;

export const GrantOrigin = oneOf(GRANT_SOURCES);

export const GrantStatus = oneOf(['scheduled', 'active', 'expired', 'voided', 'used_up']);

export const Grant = Type.Object({
  id: Uuid,
  customer_id: Uuid,
  meter_id: Uuid,
  feature_key: Type.String(),
  source: GrantOrigin,
  amount: Nullable(Type.Number()),
  remaining: Nullable(Type.Number()),
  unlimited: Type.Boolean(),
  effective_at: Timestamp,
  expires_at: Nullable(Timestamp),
  priority: Type.Integer(),
  reset_interval: Nullable(GrantInterval),
  rollover: Nullable(Rollover),
  overage_allowed: Type.Boolean(),
  reason: Nullable(Type.String()),
  status: GrantStatus,
  created_at: Timestamp,
  ended_at: Nullable(Timestamp),
});

/** A grant as it stands now: what was used of it, and when it changes by itself. */
export const LiveGrant = Type.Object({
  id: Uuid,
  meter_id: Uuid,
  feature_key: Type.String(),
  source: GrantOrigin,
  amount: Nullable(Type.Number()),
  used: Type.Number({ description: 'For an allowance: used in its current period.' }),
  remaining: Nullable(Type.Number()),
  unlimited: Type.Boolean(),
  boolean: Type.Boolean({ description: 'Whether the feature is boolean: on or off.' }),
  effective_at: Timestamp,
  expires_at: Nullable(Timestamp),
  renews_at: Nullable(Type.String({ ...Timestamp, description: 'When the allowance renews.' })),
  priority: Type.Integer(),
  reset_interval: Nullable(GrantInterval),
  rollover: Nullable(Rollover),
  overage_allowed: Type.Boolean({ description: 'Whether usage over the limit is allowed.' }),
  suspended: Nullable(
    oneOf(['paused', 'blocked'], {
      description: 'Why it may not be used now: its subscription is paused or blocked.',
    }),
  ),
  product_id: Nullable(Uuid),
  subscription_id: Nullable(Uuid),
  reason: Nullable(Type.String()),
  status: oneOf(['scheduled', 'active']),
  created_at: Timestamp,
});

export const LiveGrants = Type.Object({ data: Type.Array(LiveGrant), next_cursor: NextCursor });

/** `remaining` is what is left of it now; null is unlimited. */
export function fromLiveGrant(
  grant: LedgerGrant,
  { meter, remaining }: { readonly meter: Meter; readonly remaining: bigint | null },
): Static<typeof LiveGrant> {
  const { amount, recurs } = grant;
  const number = (value: bigint): number => quantityNumber(value, meter.scale);
  const rollover = recurs?.rollover ?? null;
  return {
    id: grant.id,
    meter_id: meter.id,
    feature_key: meter.slug,
    source: grant.source,
    amount: amount === null ? null : number(amount),
    used: number(grant.used),
    remaining: remaining === null ? null : number(remaining),
    unlimited: amount === null,
    boolean: grant.boolean,
    effective_at: new Date(grant.effectiveAt).toISOString(),
    expires_at: iso(grant.expiresAt),
    renews_at: iso(grant.renewsAt),
    priority: grant.priority,
    reset_interval: recurs?.cycle.interval ?? null,
    rollover: rollover && {
      max: number(rollover.max),
      expires_after_periods: rollover.expiresAfterPeriods,
    },
    overage_allowed: grant.price === null ? grant.overageAllowed : grant.charges,
    suspended: grant.suspended,
    product_id: grant.productId,
    subscription_id: grant.subscriptionId,
    reason: grant.reason,
    status: grant.started ? 'active' : 'scheduled',
    created_at: new Date(grant.createdAt).toISOString(),
  };
}

/** `remaining`: of a new grant all of it, of one that has ended nothing. */
export function fromGrant(grant: GrantRecord) {
  const number = (value: bigint | null): number | null =>
    value === null ? null : quantityNumber(value, grant.scale);
  const rollover =
    grant.rolloverMax === null
      ? null
      : { max: number(grant.rolloverMax), expires_after_periods: grant.rolloverPeriods };
  return {
    id: grant.id,
    customer_id: grant.customerId,
    meter_id: grant.meterId,
    feature_key: grant.featureKey,
    source: grant.source,
    amount: number(grant.amount),
    remaining: grant.endedAt === null ? number(grant.amount) : 0,
    unlimited: grant.amount === null,
    effective_at: grant.effectiveAt.toISOString(),
    expires_at: grant.expiresAt?.toISOString() ?? null,
    priority: grant.priority,
    reset_interval: grant.resetInterval,
    rollover,
    overage_allowed: grant.overageAllowed,
    reason: grant.reason,
    status: grant.endedHow ?? (grant.started ? 'active' : 'scheduled'),
    created_at: grant.createdAt.toISOString(),
    ended_at: grant.endedAt?.toISOString() ?? null,
  };
}
