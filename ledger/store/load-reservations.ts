import type { Sql } from 'postgres';
import type { PaidBy } from '../metering/paid-by.ts';
import type { Reservation } from '../metering/reservation.ts';
import type { StoredReservation } from '../storage.ts';
import type { Bigints } from './bigints.ts';
import { fromJson, type JsonOf } from './json.ts';

/** A row of `reservations` as JSON: int8 as a number, which is exact below 2^53. */
export type ReservationJson = {
  readonly id: string;
  readonly account_id: string;
  readonly member_account_id: string | null;
  readonly hold_id: string;
  readonly extensions: number;
  readonly amount: number;
  readonly status: Reservation['status'];
  readonly committed: number;
  readonly late: boolean;
  readonly created_at: string;
  readonly place: number | null;
  readonly expires_at: string;
  readonly resolved_at: string | null;
  readonly balance_after: number | null;
  /** As text: it has 64 bits. */
  readonly fingerprint: string | null;
  readonly paid_by: JsonOf<PaidBy> | null;
  /** What a node of the release before has settled of it. */
  readonly parts: JsonOf<readonly { readonly amount: bigint }[]>;
};

/** A row `v`. */
export const reservationJson = (sql: Sql<Bigints>) =>
  sql`to_jsonb(v) || jsonb_build_object('fingerprint', v.fingerprint::text)`;

export function reservationOf(row: ReservationJson): Reservation {
  return {
    id: row.id,
    accountId: row.account_id,
    memberAccountId: row.member_account_id,
    holdId: row.hold_id,
    extensions: row.extensions,
    amount: BigInt(row.amount),
    status: row.status,
    committed: BigInt(row.committed),
    late: row.late,
    createdAt: Date.parse(row.created_at),
    place: row.place ?? 0,
    expiresAt: Date.parse(row.expires_at),
    resolvedAt: row.resolved_at === null ? null : Date.parse(row.resolved_at),
    balanceAfter: row.balance_after === null ? null : BigInt(row.balance_after),
    fingerprint: row.fingerprint === null ? null : BigInt(row.fingerprint),
    paidBy: row.paid_by === null ? null : fromJson<PaidBy>(row.paid_by),
    settled: fromJson<readonly { readonly amount: bigint }[]>(row.parts).reduce(
      (units, { amount }) => units + amount,
      0n,
    ),
  };
}

/** See `Storage.findReservation`. */
export async function findReservation(
  sql: Sql<Bigints>,
  id: string,
): Promise<StoredReservation | null> {
  const [row] = await sql<{ customerId: string; meterId: string; json: ReservationJson }[]>`
    select v.customer_id as "customerId", v.meter_id as "meterId", ${reservationJson(sql)} as json
    from reservations v where v.id = ${id} and v.member_account_id is null`;
  if (row === undefined) return null;
  const { customerId, meterId, json } = row;
  return { customerId, meterId, reservation: reservationOf(json) };
}
