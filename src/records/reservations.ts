import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { ReservationStatus } from '../../ledger/metering/reservation.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { isUuid } from './uuid.ts';

/**
 * A reservation as it was last written. The ledger writes reservations; here they are only read.
 */
export type ReservationRecord = {
  readonly id: string;
  readonly customerId: string;
  readonly meter: Meter;
  readonly amount: bigint;
  readonly committed: bigint;
  readonly status: ReservationStatus;
  readonly late: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export async function findReservation(
  sql: Executor,
  { organisationId, mode }: Tenant,
  id: string,
): Promise<ReservationRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<(Omit<ReservationRecord, 'meter' | Time> & Of)[]>`
    select v.id, v.customer_id as "customerId", v.amount, v.committed, v.status, v.late, v.created_at as "createdAt",
      v.expires_at as "expiresAt", m.id as "meterId", m.organisation_id as "organisationId", m.mode, m.slug, m.aggregation, m.scale, m.carry
    from reservations v join meters m on m.id = v.meter_id
    where v.id = ${id} and v.organisation_id = ${organisationId} and v.mode = ${mode}`;
  if (row === undefined) return null;
  const { meterId, slug, aggregation, scale, carry, createdAt, expiresAt, ...record } = row;
  return {
    ...record,
    createdAt: createdAt.getTime(),
    expiresAt: expiresAt.getTime(),
    meter: { id: meterId, organisationId, mode, slug, aggregation, scale, carry },
  };
}

type Time = 'createdAt' | 'expiresAt';
type Of = Omit<Meter, 'id'> & Readonly<Record<'meterId', string>> & Readonly<Record<Time, Date>>;
