// Alerts: thresholds of a meter that a merchant wants to hear of.
import { type Static, Type } from '@sinclair/typebox';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { ALERT_TYPES, isPercentage, PERCENT_SCALE } from '../../../ledger/metering/alert.ts';
import type { Meter } from '../../../ledger/metering/meter.ts';
import type { AlertRecord } from '../../records/alerts.ts';
import type { Issue } from '../edge/errors.ts';
import { Quantity } from './usage-fields.ts';
import { quantityOf } from './usage.ts';
import { Body, ExternalCustomerId, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

const FeatureKey = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The slug of the meter.',
});

export const AlertType = oneOf(ALERT_TYPES, {
  description:
    '`usage`: `consumed` is at or above the threshold. `usage_percentage`: `consumed` is at ' +
    'least this percentage of `limit`. `remaining`: what is left (`max(0, balance)`, less ' +
    'reservations) is at or below the threshold. `remaining_percentage`: what is left is at ' +
    'most this percentage of `limit`. A limit of 0 has no percentage, and an unlimited ' +
    'feature reaches no threshold.',
  error: `must be one of ${ALERT_TYPES.join(', ')}`,
});

/** More than a hundred percent: usage may go past the limit. */
const USAGE_PERCENT_MAX = 1000n;
const REMAINING_PERCENT_MAX = 100n;
const ONE_PERCENT = 10n ** BigInt(PERCENT_SCALE);

const THRESHOLD =
  'In units of the meter, or in percent with at most four decimals. Above 0 for usage ' +
  '(percentages up to 1000), from 0 for what is left (percentages up to 100).';

export const AlertCreate = Body(
  {
    feature_key: FeatureKey,
    customer_id: Type.Optional(Uuid),
    external_customer_id: Type.Optional(ExternalCustomerId),
    type: AlertType,
    threshold: { ...Quantity, description: THRESHOLD },
  },
  { feature_key: 'api-calls', type: 'usage_percentage', threshold: 80 },
);

export type AlertCreate = Static<typeof AlertCreate>;

export const ALERT_FILTERS = {
  feature_key: Type.Optional(FeatureKey),
  customer_id: Type.Optional({
    ...Uuid,
    description: "Only the customer's own alerts, without those for each customer.",
  }),
  external_customer_id: Type.Optional(ExternalCustomerId),
};

export const Alert = Type.Object({
  id: Uuid,
  meter_id: Uuid,
  feature_key: Type.String(),
  customer_id: Nullable({ ...Uuid, description: 'null: for each customer.' }),
  external_customer_id: Nullable(Type.String()),
  type: AlertType,
  threshold: Type.Number({ description: THRESHOLD }),
  created_at: Timestamp,
});

/** As it stands for one customer. */
export const CustomerAlert = Type.Object({
  ...Alert.properties,
  triggered: Type.Boolean({
    description: 'Whether it has fired and has not recovered since.',
  }),
});

export const CustomerAlerts = Type.Object({ data: Type.Array(CustomerAlert) });

/** What both ids together name is not clear. */
export function namesTwo(body: AlertCreate): Issue | null {
  const isTwo = body.customer_id !== undefined && body.external_customer_id !== undefined;
  const message = 'does not go together with external_customer_id';
  return isTwo ? { path: ['customer_id'], message } : null;
}

/** The threshold, scaled, or what is wrong with it. */
export function thresholdOf({ type, threshold }: AlertCreate, meter: Meter): bigint | Issue {
  const path = ['threshold'];
  const isPercent = isPercentage(type);
  const value = quantityOf(threshold, isPercent ? PERCENT_SCALE : meter.scale, path);
  if (typeof value !== 'bigint') {
    return isPercent && value.message.includes('decimals')
      ? { path, message: `has more than ${PERCENT_SCALE} decimals` }
      : value;
  }
  const isUsage = type === 'usage' || type === 'usage_percentage';
  if (isUsage && value <= 0n) return { path, message: 'must be greater than zero' };
  if (value < 0n) return { path, message: 'must not be negative' };
  const max = isUsage ? USAGE_PERCENT_MAX : REMAINING_PERCENT_MAX;
  if (isPercent && value > max * ONE_PERCENT) return { path, message: `must be at most ${max}` };
  return value;
}

export function fromAlert(alert: AlertRecord): Static<typeof Alert> {
  const { id, meter, customerId, externalCustomerId, type, createdAt } = alert;
  return {
    id,
    meter_id: meter.id,
    feature_key: meter.slug,
    customer_id: customerId,
    external_customer_id: externalCustomerId,
    type,
    threshold: shownThreshold(alert),
    created_at: createdAt.toISOString(),
  };
}

export function shownThreshold({ type, threshold, meter }: AlertRecord): number {
  return quantityNumber(threshold, isPercentage(type) ? PERCENT_SCALE : meter.scale);
}
