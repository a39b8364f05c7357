import { unreachable } from '../kernel/assert.ts';
import { type Meter, type MeterState, balance, snapshotOf } from './meter.ts';
import type { Level } from './untold.ts';

/**
 * A threshold that a merchant wants to hear of, on one meter: of one customer, or of each. A
 * definition is configuration, and never changes. Whether it has fired is state of the customer's
 * meter.
 */
export const ALERT_TYPES = [
  'usage',
  'usage_percentage',
  'remaining',
  'remaining_percentage',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

export type Alert = {
  readonly id: string;
  readonly type: AlertType;
  /** Scaled: a quantity like the meter's, a percentage with `PERCENT_SCALE`. */
  readonly threshold: bigint;
};

/** Decimal places of a percentage. */
export const PERCENT_SCALE = 4;
const WHOLE = 100n * 10n ** BigInt(PERCENT_SCALE);

/** Of one customer, by meter. */
export type CustomerAlerts = ReadonlyMap<string, readonly Alert[]>;
export const NO_ALERTS: CustomerAlerts = new Map();

/** The alerts of a meter for every customer, in the order of `alertOrder`. Called for each decision. */
export type AlertsOf = (meter: Meter) => readonly Alert[];

export function isPercentage(type: AlertType): boolean {
  return type === 'usage_percentage' || type === 'remaining_percentage';
}

/** In the order in which usage reaches them, kind by kind. */
export function alertOrder(a: Alert, b: Alert): number {
  if (a.type !== b.type) return ALERT_TYPES.indexOf(a.type) - ALERT_TYPES.indexOf(b.type);
  const ascends = a.threshold < b.threshold ? -1 : a.threshold > b.threshold ? 1 : 0;
  return (isRemaining(a.type) ? -ascends : ascends) || (a.id < b.id ? -1 : 1);
}

function isRemaining(type: AlertType): boolean {
  return type === 'remaining' || type === 'remaining_percentage';
}

/** null where it is unlimited: then no alert is past. */
export function levelOf(state: MeterState): Level | null {
  const snapshot = snapshotOf(state);
  const { limit, consumed } = snapshot;
  const rest = balance(snapshot);
  if (limit === null || rest === null) return null;
  const remaining = rest > 0n ? rest : 0n;
  return { limit, consumed, remaining, wasGranted: state.firstGrantAt !== null };
}

/** Whether the threshold is reached. Of a limit of 0 there is no percentage. */
export function isPast({ type, threshold }: Alert, level: Level | null): boolean {
  if (level === null) return false;
  const { limit, consumed, remaining, wasGranted } = level;
  switch (type) {
    case 'usage':
      return consumed >= threshold;
    case 'usage_percentage':
      return limit > 0n && consumed * WHOLE >= limit * threshold;
    case 'remaining':
      return wasGranted && remaining <= threshold;
    case 'remaining_percentage':
      return limit > 0n && remaining * WHOLE <= limit * threshold;
    default:
      return unreachable(type);
  }
}
