// The automatic top-ups of a customer.
import { type Static, Type } from '@sinclair/typebox';
import { iso } from '../../../ledger/kernel/iso.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import type { SetTopUp } from '../../../ledger/ledger.ts';
import type { Meter } from '../../../ledger/metering/meter.ts';
import { statusOf, topUpDue, type TopUpSettings } from '../../../ledger/topups/auto-topup.ts';
import { LIMIT_INTERVALS } from '../../../ledger/topups/windows.ts';
import type { Issue } from '../edge/errors.ts';
import { Quantity } from './usage-fields.ts';
import { SAMPLE } from './payloads/samples.ts';
import { quantityOf } from './usage.ts';
import {
  Body,
  ExternalCustomerId,
  namedOneOf,
  Nullable,
  oneOf,
  Timestamp,
  Uuid,
} from './values.ts';

const LIMIT_COUNT_MAX = 1000;

const Threshold = 'When the balance (less holds) is below this, the feature is topped up.';
const Amount = 'The units that one top-up grants.';
const Price = 'The one-time price of one top-up.';
const Limit =
  'The maximum number of top-ups in a day, a week from Monday, or a month of the ' +
  "organization's time zone. null: no maximum.";

const LimitInterval = namedOneOf(LIMIT_INTERVALS);

export const AutoTopupLimit = Body({
  count: Type.Integer({ minimum: 1, maximum: LIMIT_COUNT_MAX }),
  interval: LimitInterval,
});

export const AutoTopupPut = Body(
  {
    enabled: Type.Boolean(),
    threshold: Type.Union(Quantity.anyOf, { ...Quantity, description: Threshold }),
    amount: Type.Union(Quantity.anyOf, { ...Quantity, description: Amount }),
    price_id: Type.String({ ...Uuid, description: Price }),
    limit: Type.Optional(Nullable(AutoTopupLimit)),
  },
  {
    enabled: true,
    threshold: 100,
    amount: 1000,
    price_id: SAMPLE.priceId,
    limit: { count: 5, interval: 'month' },
  },
);

export const AutoTopup = Type.Object({
  customer_id: Uuid,
  external_customer_id: Nullable(ExternalCustomerId),
  feature_key: Type.String(),
  enabled: Type.Boolean(),
  threshold: Type.Number({ description: Threshold }),
  amount: Type.Number({ description: Amount }),
  price_id: Type.String({ ...Uuid, description: Price }),
  limit: Type.Union([AutoTopupLimit, Type.Null()], { description: Limit }),
  status: oneOf(['armed', 'charging', 'suspended'], {
    description:
      '`charging`: a charge is under way, or will be retried after a decline. `suspended`: ' +
      'see `reason`.',
  }),
  reason: Type.Union(
    [
      ...['declined', 'authentication_required', 'no_payment_method', 'limit'].map((reason) =>
        Type.Literal(reason),
      ),
      Type.Null(),
    ],
    {
      description:
        'Why it is suspended. `limit`: until the next day, week or month. Otherwise until another payment method is stored.',
    },
  ),
  payment_id: Type.Union([Uuid, Type.Null()], {
    description: 'The payment that is under way, else the last one.',
  }),
  next_attempt_at: Type.Union([Timestamp, Type.Null()], {
    description:
      'When the next attempt is made: after a decline, or when the next period of the limit ' +
      'begins.',
  }),
  updated_at: Timestamp,
});

export const AutoTopups = Type.Object({ data: Type.Array(AutoTopup) });

/** In the units of the meter, or what is wrong. The price is looked up apart. */
export function toTopUp(
  { enabled, threshold, amount, limit }: Static<typeof AutoTopupPut>,
  { scale }: Pick<Meter, 'scale'>,
): Omit<TopUpSettings, 'priceId' | 'productId'> | { readonly issues: readonly Issue[] } {
  const below = quantityOf(threshold, scale, ['threshold']);
  const units = quantityOf(amount, scale, ['amount']);
  const issues: Issue[] = [];
  if (typeof below !== 'bigint') issues.push(below);
  else if (below < 0n) issues.push({ path: ['threshold'], message: 'must not be negative' });
  if (typeof units !== 'bigint') issues.push(units);
  else if (units <= 0n) issues.push({ path: ['amount'], message: 'must be greater than zero' });
  if (typeof below !== 'bigint' || typeof units !== 'bigint' || issues.length > 0)
    return { issues };
  return { enabled, threshold: below, amount: units, limit: limit ?? null };
}

export function fromTopUp(
  { meter, topUp }: { readonly meter: Pick<Meter, 'slug' | 'scale'>; readonly topUp: SetTopUp },
  customer: { readonly id: string; readonly externalId: string | null },
): Static<typeof AutoTopup> {
  const { settings, charge, refused, limitedUntil, lastPaymentId } = topUp;
  const { enabled, threshold, amount, priceId, limit } = settings;
  const due = topUpDue(topUp);
  const status = statusOf(topUp);
  const reason = refused ?? (limitedUntil === null ? null : 'limit');
  return {
    customer_id: customer.id,
    external_customer_id: customer.externalId,
    feature_key: meter.slug,
    enabled,
    threshold: quantityNumber(threshold, meter.scale),
    amount: quantityNumber(amount, meter.scale),
    price_id: priceId,
    limit,
    status,
    reason: status === 'suspended' ? reason : null,
    payment_id: charge?.paymentId ?? lastPaymentId,
    next_attempt_at: due === Infinity ? null : iso(due),
    updated_at: new Date(topUp.updatedAt).toISOString(),
  };
}
