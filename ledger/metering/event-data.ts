import { iso } from '../kernel/iso.ts';
import { quantityNumber } from '../kernel/quantity.ts';
import { isPercentage, PERCENT_SCALE } from './alert.ts';
import type { Telling } from './alerts.ts';
import type { Grant } from './grants.ts';
import { type Meter, type MeterState, balance, snapshotOf } from './meter.ts';

// What the events of a meter say, beside whose they are. Quantities are numbers, as in the API.

type Data = Readonly<Record<string, unknown>>;

/** `amount` null: without a limit. */
export function grantData(
  { scale }: Meter,
  state: MeterState,
  {
    grant,
    amount,
    source,
  }: { readonly grant: Grant; readonly amount: bigint | null; readonly source: string },
): Data {
  const after = snapshotOf(state);
  return {
    amount: numberOf(amount, scale),
    limit: numberOf(after.limit, scale),
    balance: numberOf(balance(after), scale),
    source,
    grantId: grant.id,
    subscriptionId: grant.subscriptionId,
    expiresAt: iso(grant.expiresAt),
  };
}

export function exhaustionData({ scale }: Meter, state: MeterState): Data {
  const { granted, consumed } = state.current;
  return {
    limit: quantityNumber(granted, scale),
    consumed: quantityNumber(consumed, scale),
    remaining: 0,
    balance: numberOf(balance(snapshotOf(state)), scale),
  };
}

export function alertData(
  { scale }: Meter,
  state: MeterState,
  { alert, level, more }: Telling,
): Data {
  const limit = level?.limit ?? null;
  return {
    alertId: alert.id,
    alertType: alert.type,
    threshold: quantityNumber(alert.threshold, isPercentage(alert.type) ? PERCENT_SCALE : scale),
    consumed: quantityNumber(state.current.consumed, scale),
    limit: numberOf(limit, scale),
    balance: limit === null ? null : numberOf(balance(snapshotOf(state)), scale),
    ...more,
  };
}

function numberOf(units: bigint | null, scale: number): number | null {
  return units === null ? null : quantityNumber(units, scale);
}
