// The columns of reservations. They come as rows (`columns.ts`).
import type { ReservationRow } from '../storage.ts';
import { kept, replaced, type RowColumns } from './columns.ts';

export const RESERVATION_COLUMNS = {
  slot: kept('smallint', ({ customer }) => customer.slot),
  id: kept('uuid', ({ reservation }) => reservation.id),
  organisation_id: kept('uuid', ({ customer }) => customer.organisationId),
  mode: kept('enum', ({ customer }) => customer.mode),
  customer_id: kept('uuid', ({ customer }) => customer.id),
  meter_id: kept('uuid', ({ meterId }) => meterId),
  account_id: kept('uuid', ({ reservation }) => reservation.accountId),
  member_account_id: kept('uuid', ({ reservation }) => reservation.memberAccountId),
  hold_id: replaced('uuid', ({ reservation }) => reservation.holdId),
  extensions: replaced('integer', ({ reservation }) => reservation.extensions),
  amount: replaced('bigint', ({ reservation }) => reservation.amount),
  status: replaced('text', ({ reservation }) => reservation.status),
  committed: replaced('bigint', ({ reservation }) => reservation.committed),
  late: replaced('boolean', ({ reservation }) => reservation.late),
  created_at: kept('time', ({ reservation }) => reservation.createdAt),
  place: kept('integer', ({ reservation }) => reservation.place),
  expires_at: replaced('time', ({ reservation }) => reservation.expiresAt),
  resolved_at: replaced('time', ({ reservation }) => reservation.resolvedAt),
  balance_after: replaced('bigint', ({ reservation }) => reservation.balanceAfter),
  fingerprint: kept('bigint', ({ reservation }) => reservation.fingerprint),
  paid_by: kept('exact_json', ({ reservation }) => reservation.paidBy),
  // By the release before this one, whose nodes read them until they are replaced.
  parts: replaced('exact_json', ({ reservation: { settled } }) => partsOf(settled)),
} as const satisfies RowColumns<ReservationRow>;

/** Of which grant it is, nobody needs to know. */
function partsOf(settled: bigint) {
  if (settled === 0n) return [];
  return [{ grantId: null, amount: settled, renewsAt: null, spent: false }];
}
