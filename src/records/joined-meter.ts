// The meter that a row is about, read with it.
import type { Meter } from '../../ledger/metering/meter.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export type JoinedMeter = { readonly [field in keyof Meter as `meter_${field}`]: Meter[field] };

/** Of the meter `m`. */
export const joinedMeter = (sql: Executor) => sql`
  m.id as "meter_id", m.organisation_id as "meter_organisationId", m.mode as "meter_mode", m.slug as "meter_slug",
  m.aggregation as "meter_aggregation", m.scale as "meter_scale", m.carry as "meter_carry"`;

export function meterOf(row: JoinedMeter): Meter {
  return {
    id: row.meter_id,
    organisationId: row.meter_organisationId,
    mode: row.meter_mode,
    slug: row.meter_slug,
    aggregation: row.meter_aggregation,
    scale: row.meter_scale,
    carry: row.meter_carry,
  };
}
