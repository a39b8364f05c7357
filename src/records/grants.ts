import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { GrantSource } from '../../ledger/metering/grants.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { isUuid } from './uuid.ts';

/** A grant as it was last written. The ledger writes grants; here they are only read. */
export type GrantRecord = {
  readonly id: string;
  readonly customerId: string;
  readonly meterId: string;
  readonly featureKey: string;
  readonly scale: number;
  readonly source: GrantSource;
  readonly amount: bigint | null;
  readonly effectiveAt: Date;
  readonly expiresAt: Date | null;
  readonly priority: number;
  readonly overageAllowed: boolean;
  readonly resetInterval: string | null;
  readonly rolloverMax: bigint | null;
  readonly rolloverPeriods: number | null;
  readonly started: boolean;
  readonly reason: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly endedHow: 'expired' | 'voided' | 'used_up' | null;
};

export async function findGrant(
  sql: Executor,
  { organisationId, mode }: Tenant,
  id: string,
): Promise<GrantRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<GrantRecord[]>`
    select g.id, g.customer_id as "customerId", g.meter_id as "meterId", m.slug as "featureKey", m.scale, g.source, g.amount,
      g.effective_at as "effectiveAt", g.expires_at as "expiresAt", g.priority, g.overage_allowed as "overageAllowed",
      g.reset_interval as "resetInterval", g.rollover_max as "rolloverMax", g.rollover_periods as "rolloverPeriods", g.started,
      g.reason, g.created_at as "createdAt", g.ended_at as "endedAt", g.ended_how as "endedHow"
    from grants g join meters m on m.id = g.meter_id
    where g.id = ${id} and g.organisation_id = ${organisationId} and g.mode = ${mode}`;
  return row ?? null;
}
