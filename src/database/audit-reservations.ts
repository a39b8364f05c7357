// The audit of reservations: each is proven by the transfers that hold, post and void its units.
//
// How it works: a reservation has its transfers for as long as it is there, because retention takes
// them together. The first hold has its id, `hold_id` is that of the last one, and the ids of what
// was committed are derived from it, here once more in SQL.
import { BOOKS } from '../../ledger/store/audit.ts';

/** The id of a transfer of reservation `v` (`reservationTransferId`). */
const derived = (what: string): string => `(
    SELECT overlay(overlay(h PLACING '8' FROM 13) PLACING substr('89ab', (ascii(substr(h, 17, 1)) & 3) + 1, 1) FROM 17)::uuid
    FROM (SELECT encode(substr(sha256(convert_to('11:reservation${what.length}:${what}36:' || v.id, 'UTF8')), 1, 16), 'hex') AS h) h)`;

/** The invariants of reservations: a name, and a query that returns no row at any moment. */
export const RESERVATION_CHECKS: Readonly<Record<string, string>> = {
  'a reservation is of the meter of its account': `
    SELECT v.id AS reservation, v.account_id AS account FROM reservations v
    LEFT JOIN accounts a ON a.slot = v.slot AND a.id = v.account_id
    WHERE (a.kind, a.customer_id, a.meter_id, a.organisation_id, a.mode) IS DISTINCT FROM
      ('meter', v.customer_id, v.meter_id, v.organisation_id, v.mode)`,

  'a hold that is not resolved is an open reservation of its amount': `
    WITH held AS (
      SELECT t.* FROM transfers t JOIN accounts a ON a.slot = t.slot AND a.id = t.debit AND a.kind = 'meter'
      WHERE t.kind = 'pending' AND NOT EXISTS (SELECT FROM transfers r WHERE r.slot = t.slot AND r.hold = t.id)
    ), open AS (
      SELECT * FROM reservations WHERE status = 'open'
    )
    SELECT v.id AS reservation, h.id AS hold, v.account_id AS account, h.debit, v.amount, h.amount AS held
    FROM open v FULL JOIN held h ON h.slot = v.slot AND h.id = v.hold_id
    WHERE v.id IS NULL OR h.id IS NULL OR (h.debit, h.amount) <> (v.account_id, v.amount)`,

  'what is reserved of an account is the sum of its open reservations': `
    SELECT a.id AS account, b.debits_pending AS reserved, v.amount FROM accounts a
    JOIN balances b ON b.slot = a.slot AND b.id = a.id
    LEFT JOIN (SELECT slot, account_id, sum(amount) AS amount FROM reservations WHERE status = 'open' GROUP BY 1, 2) v
      ON v.slot = a.slot AND v.account_id = a.id
    WHERE a.kind = 'meter' AND b.debits_pending <> coalesce(v.amount, 0)`,

  'what is committed of a reservation was posted, and of any other nothing': `
    SELECT v.id AS reservation, v.status, v.committed, c.value AS posted, e.value AS posted_beyond, r.kind AS resolved_by
    FROM reservations v
    LEFT JOIN transfers r ON r.slot = v.slot AND r.hold = v.hold_id
    LEFT JOIN transfers c ON c.slot = v.slot AND c.id = ${derived('commit')}
    LEFT JOIN transfers e ON e.slot = v.slot AND e.id = ${derived('excess')}
    WHERE (coalesce(c.value, 0), coalesce(e.value, 0)) <> CASE WHEN v.late THEN (v.committed, 0::bigint)
        ELSE (least(v.committed, v.amount), greatest(v.committed - v.amount, 0)) END
      OR v.status <> 'open' AND r.kind IS DISTINCT FROM
        CASE WHEN v.committed > 0 AND NOT v.late THEN 'post' ELSE 'void' END::transfer_kind
      OR NOT v.late AND (c.hold, c.debit) <> (v.hold_id, v.account_id)`,

  'a commit on a meter that counts is as many events as units': `
    SELECT t.id, m.aggregation, t.value, t.events FROM ${BOOKS} t
    JOIN accounts a ON a.slot = t.slot AND a.id = t.debit JOIN meters m ON m.id = a.meter_id
    WHERE (t.events >= 0 OR t.kind = 'post') AND NOT coalesce(t.answer ? 'drawnFor', false) AND
      t.events * 10 ^ m.scale IS DISTINCT FROM CASE WHEN m.aggregation = 'count' THEN t.value END`,

  'an open reservation has an alarm by when it expires': `
    SELECT v.id AS reservation, v.expires_at, l.due_at FROM reservations v
    LEFT JOIN alarms l ON l.slot = v.slot AND l.actor_id = v.customer_id AND l.subject_id = v.meter_id
    WHERE v.status = 'open' AND (l.due_at <= v.expires_at) IS NOT TRUE`,
};
