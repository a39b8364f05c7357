// The invariants of the ledger's own tables: accounts, transfers, members and events (I1 to I5,
// I8).
//
// Each check is a query that returns no row. It derives every balance again, from the transfers
// that exist and from the closing balances of those that were dropped. It uses none of the code
// that wrote them. `src/database/audit.ts` runs all checks.
import { EVENTS_OF } from './events-of.ts';

/** Every transfer that still exists. */
export const BOOKS = '(SELECT * FROM transfers UNION ALL SELECT * FROM transfers_archive)';

const TOTALS = `(
  SELECT id, slot, debits_posted, debits_pending, credits_posted, credits_pending, true AS of_actor FROM balances
  UNION ALL SELECT id, 0, debits_posted, debits_pending, credits_posted, credits_pending, false FROM node_balances)`;

/** Every account, with its totals. */
export const ACCOUNTS = `(
  SELECT a.*, b.debits_posted, b.debits_pending, b.credits_posted, b.credits_pending FROM accounts a JOIN ${TOTALS} b ON b.id = a.id)`;

export const LEDGER_CHECKS: Readonly<Record<string, string>> = {
  'I1 debits equal credits for each meter': `
    SELECT meter_id, sum(debits_posted) AS debits, sum(credits_posted) AS credits, sum(debits_pending) AS pending_debits,
      sum(credits_pending) AS pending_credits
    FROM ${ACCOUNTS} a WHERE meter_id IS NOT NULL GROUP BY meter_id
    HAVING sum(debits_posted) <> sum(credits_posted) OR sum(debits_pending) <> sum(credits_pending)`,

  'I1 a transfer moves one asset of one tenant': `
    SELECT t.id, t.debit, t.credit FROM ${BOOKS} t JOIN accounts d ON d.id = t.debit JOIN accounts c ON c.id = t.credit
    WHERE (d.organisation_id, d.mode, d.meter_id, d.currency) IS DISTINCT FROM
      (c.organisation_id, c.mode, c.meter_id, c.currency)`,

  'I2, I3 totals are the fold of the transfers, pending ones the open holds': `
    WITH moved AS (
      SELECT t.debit, t.credit,
        coalesce(t.amount, t.value) * CASE t.kind WHEN 'single' THEN 1 WHEN 'post' THEN 1 WHEN 'reverse' THEN -1 ELSE 0 END AS posted,
        CASE WHEN t.kind = 'pending' THEN t.amount WHEN t.kind IN ('post', 'void') THEN -h.amount ELSE 0 END AS pending
      FROM ${BOOKS} t LEFT JOIN transfers h ON h.id = t.hold
      WHERE t.kind <> 'refused'
    ), sides AS (
      SELECT debit AS id, posted AS dp, pending AS dn, 0::bigint AS cp, 0::bigint AS cn FROM moved
      UNION ALL SELECT credit, 0, 0, posted, pending FROM moved
      UNION ALL SELECT account_id, debits, 0, credits, 0 FROM closing_balances
    ), folded AS (
      SELECT id, sum(dp) AS dp, sum(dn) AS dn, sum(cp) AS cp, sum(cn) AS cn FROM sides GROUP BY id
    )
    SELECT coalesce(a.id, f.id) AS account, a.debits_posted, f.dp, a.credits_posted, f.cp
    FROM ${TOTALS} a FULL JOIN folded f ON f.id = a.id
    WHERE a.id IS NULL OR a.debits_posted <> coalesce(f.dp, 0) OR a.debits_pending <> coalesce(f.dn, 0)
      OR a.credits_posted <> coalesce(f.cp, 0) OR a.credits_pending <> coalesce(f.cn, 0)`,

  'I4 no ceiling is crossed, and consumption is the floored aggregate': `
    SELECT a.id, a.kind, b.capped FROM accounts a JOIN balances b ON b.id = a.id
    WHERE (b.capped AND b.debits_posted + b.debits_pending > b.credits_posted)
      OR a.kind = 'meter' AND b.debits_posted IS DISTINCT FROM greatest(b.aggregate, 0)
      OR (a.kind = 'meter') = (b.aggregate IS NULL)
      OR least(b.debits_posted, b.debits_pending, b.credits_posted, b.credits_pending) < 0`,

  'I4 aggregates are those of the events': `
    WITH counted AS (
      SELECT debit AS id, sum(value) AS total, sum(${EVENTS_OF}) AS signed, max(value) AS highest
      FROM ${BOOKS} t WHERE value IS NOT NULL AND kind <> 'refused' GROUP BY debit
    ), events AS (
      SELECT a.id, m.aggregation, b.aggregate, coalesce(t.total, 0) + coalesce(c.events_total, 0) AS total,
        (coalesce(t.signed, 0) + coalesce(c.events_signed, 0)) * 10 ^ m.scale AS signed,
        greatest(t.highest, c.events_highest, 0) AS highest,
        (coalesce(u.members, 0) + coalesce(c.members, 0)) * 10 ^ m.scale AS members
      FROM accounts a JOIN balances b ON b.id = a.id JOIN meters m ON m.id = a.meter_id LEFT JOIN counted t ON t.id = a.id
      LEFT JOIN closing_balances c ON c.account_id = a.id
      LEFT JOIN (SELECT account_id, count(*) AS members FROM members GROUP BY account_id) u ON u.account_id = a.id
      WHERE a.kind = 'meter'
    )
    SELECT e.id, e.aggregation, e.aggregate FROM events e
    WHERE e.aggregate IS DISTINCT FROM CASE e.aggregation WHEN 'sum' THEN e.total WHEN 'count' THEN e.signed WHEN 'max' THEN e.highest
      WHEN 'unique' THEN e.members ELSE e.aggregate END`,

  'I5 an account belongs to somebody, and has its totals once': `
    SELECT coalesce(a.id, b.id) AS account, a.kind, count(*) FROM accounts a FULL JOIN ${TOTALS} b ON b.id = a.id
    GROUP BY a.id, b.id, a.kind
    HAVING a.id IS NULL OR b.id IS NULL OR count(*) > 1 OR bool_or(b.of_actor <> (a.kind IN ('meter', 'payment')) OR b.slot <> a.slot)`,

  'I5 an id counts once in 30 days': `
    SELECT id, at, before FROM (
      SELECT id, at, lag(at) OVER (PARTITION BY id ORDER BY at) AS before FROM ${BOOKS} b
      WHERE id IN (SELECT id FROM transfers_archive)
    ) t WHERE at < before + interval '30 days'`,

  'I5 a hold is resolved at most once': `
    SELECT hold FROM transfers WHERE hold IS NOT NULL GROUP BY hold HAVING count(*) > 1
    UNION ALL SELECT t.hold FROM transfers t LEFT JOIN transfers h ON h.id = t.hold AND h.kind = 'pending'
      WHERE t.hold IS NOT NULL AND h.id IS NULL`,

  'I8 events of an object are numbered without a gap': `
    SELECT e.object_id, e.mode, count(*), max(e.sequence), c.dropped
    FROM events e LEFT JOIN event_closings c ON c.object_id = e.object_id GROUP BY e.object_id, e.mode, c.dropped
    HAVING count(*) + coalesce(c.dropped, 0) <> max(e.sequence) OR c.dropped IS NULL AND min(e.sequence) <> 1`,

  'I8 events of an object ascend in time': `
    SELECT object_id, sequence, at, before
    FROM (SELECT *, lag(at) OVER (PARTITION BY object_id, mode ORDER BY sequence) AS before FROM events) e WHERE at <= before`,

  'I8 every meter has told what its state says': `
    SELECT c.customer_id, c.meter_id, c.sequence FROM customer_meters c
    LEFT JOIN (
      SELECT account_id, data ->> 'meterId' AS meter_id, max(sequence) AS told FROM events
      WHERE object_type = 'ENTITLEMENT' GROUP BY 1, 2
    ) e ON e.account_id = c.customer_id AND e.meter_id = c.meter_id::text
    LEFT JOIN event_closings g ON g.customer_id = c.customer_id AND g.meter_id = c.meter_id
    WHERE c.sequence <> coalesce(e.told, g.dropped, 0)`,
};
