// Reservations that were resolved long ago go, with all their transfers: a hold and what resolved
// it come to nothing together, and what was committed moves to the archive as what it moved.
//
// Holds: a reservation and its transfers go in one transaction. The first hold has the id that the
// caller's key gives, so the key counts anew when nothing of it is left, and not before.
// What it does not do: touch one that is open, or the holds of payments. Nobody changes what is
// here: it may be committed late for less time than it is kept (`RESERVATION_LATE_MS_MAX`).
import type { ISql } from 'postgres';
import { reservationTransferIds } from '../../ledger/kernel/derived-ids.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Bigints } from '../../ledger/store/bigints.ts';
import { makeMonths } from './archive-months.ts';
import { inBlocks, type Sweep } from './retention-sql.ts';

type Resolved = { readonly id: string; readonly slot: number; readonly extensions: number };

/** Those of a range of pages; gives their number. `sql`: a transaction with one snapshot. */
export async function removeReservations(
  sql: ISql<Bigints>,
  ids: Ids,
  { sweep, range }: { readonly sweep: Sweep; readonly range: readonly string[] },
): Promise<number> {
  const resolved = await sql.unsafe<Resolved[]>(
    `SELECT t.id, t.slot, t.extensions FROM ${inBlocks(sweep)}`,
    [...range],
  );
  if (resolved.length === 0) return 0;
  const own = resolved.flatMap(({ id, slot, extensions }) =>
    reservationTransferIds(ids, { id, extensions }).map((transfer) => ({ id, slot, transfer })),
  );
  const since = range[2] ?? '';
  const columns = [
    own.map(({ id }) => id),
    own.map(({ slot }) => slot),
    own.map(({ transfer }) => transfer),
  ];
  const months = await sql.unsafe<{ month: Date }[]>(
    `SELECT DISTINCT date_trunc('month', t.at, 'UTC') AS month FROM ${OWN} JOIN transfers t ON t.slot = o.slot AND t.id = o.id
    WHERE t.kind = 'post'`,
    columns,
  );
  await makeMonths(sql, months);
  const [row] = await sql.unsafe<{ count: number }[]>(REMOVAL, [...columns, since]);
  return row?.count ?? 0;
}

/** The transfers that reservations may have. */
const OWN = 'unnest($1::uuid[], $2::smallint[], $3::uuid[]) AS o (reservation, slot, id)';

/** The columns of the archive, in its order. */
const MOVED = `id, debit, credit, amount, at, value, event_at, consumed_after, limit_after, fingerprint, NULL::uuid, 'single'::transfer_kind,
  reason, slot, node, guarded, metadata, answer, sold, unbinned, events`;

/** One that expired by the clock of its organisation may have been resolved long after its time. */
const REMOVAL = `
  WITH own AS MATERIALIZED (
    SELECT o.* FROM ${OWN} WHERE o.reservation NOT IN (
      SELECT o.reservation FROM ${OWN} JOIN transfers t ON t.slot = o.slot AND t.id = o.id WHERE t.at >= $4)
  ), gone AS (
    DELETE FROM transfers t USING own WHERE t.slot = own.slot AND t.id = own.id RETURNING t.*
  ), kept AS (
    INSERT INTO transfers_archive SELECT ${MOVED} FROM gone WHERE kind = 'post'
  ), forgotten AS (
    DELETE FROM reservations v USING (SELECT DISTINCT slot, reservation FROM own) o WHERE v.slot = o.slot AND v.id = o.reservation
    RETURNING 1
  )
  SELECT count(*)::float8 AS count FROM forgotten`;
