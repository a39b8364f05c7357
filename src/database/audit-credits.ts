// The audit of credits (beyond.md 4): what a pool has paid and holds follows from the totals of its
// members, here once more in SQL.
//
// Left out, because it cannot be derived: what a pool paid in months whose transfers are dropped.
import { BOOKS } from '../../ledger/store/audit.ts';

/** Periods of members that a pool pays for, with the units beyond their limit, used and reserved. */
const PERIODS = `(
  SELECT p.slot, p.account_id, p.rate, a.customer_id, a.meter_id, a.kind,
    CASE WHEN u.unlimited THEN 0 ELSE greatest(b.debits_posted - b.credits_posted, 0) END AS used,
    CASE WHEN u.unlimited THEN 0 ELSE greatest(b.debits_posted + b.debits_pending - b.credits_posted, 0)
      - greatest(b.debits_posted - b.credits_posted, 0) END AS held
  FROM pooled_periods p
  LEFT JOIN accounts a ON a.slot = p.slot AND a.id = p.account_id
  LEFT JOIN balances b ON b.slot = p.slot AND b.id = p.account_id
  CROSS JOIN LATERAL (SELECT EXISTS (
    SELECT FROM grants g JOIN customer_meters c ON c.slot = g.slot AND c.customer_id = g.customer_id AND c.meter_id = g.meter_id
    WHERE g.slot = a.slot AND g.customer_id = a.customer_id AND g.meter_id = a.meter_id AND g.ended_at IS NULL AND g.started
      AND g.amount IS NULL AND g.suspended IS NULL AND c.period_start = a.period_start) AS unlimited) u)`;

/** Credits that a pool has used for a period of a member. */
const DRAWS = `(
  SELECT t.*, (t.answer ->> 'drawnFor')::uuid AS drawn_for FROM ${BOOKS} t WHERE t.answer ? 'drawnFor')`;

/** The invariants of credits: a name, and a query that returns no row at any moment. */
export const CREDIT_CHECKS: Readonly<Record<string, string>> = {
  'a pool has paid what its members used beyond their limits': `
    SELECT p.account_id AS account, p.rate, p.used, d.paid FROM ${PERIODS} p
    LEFT JOIN (SELECT drawn_for, sum(value) AS paid FROM ${DRAWS} d GROUP BY 1) d ON d.drawn_for = p.account_id
    WHERE p.rate * p.used <> coalesce(d.paid, 0) AND NOT EXISTS (
      SELECT FROM closing_balances c JOIN accounts a ON a.id = c.account_id
      WHERE a.customer_id = p.customer_id AND a.meter_id <> p.meter_id)`,

  'a pool holds what is reserved of its members beyond their limits': `
    SELECT p.account_id AS account, p.rate, p.held AS units, v.held FROM ${PERIODS} p
    LEFT JOIN (SELECT member_account_id, sum(amount) AS held FROM reservations WHERE status = 'open' GROUP BY 1) v
      ON v.member_account_id = p.account_id
    WHERE p.rate * p.held <> coalesce(v.held, 0)`,

  'what a pool pays or holds is for a period of a member of the same customer': `
    SELECT o.what, o.id, o.for_account FROM (
      SELECT 'draw' AS what, d.id, d.debit AS account_id, d.drawn_for AS for_account FROM ${DRAWS} d
      UNION ALL
      SELECT 'hold', id, account_id, member_account_id FROM reservations WHERE member_account_id IS NOT NULL
    ) o LEFT JOIN ${PERIODS} p ON p.account_id = o.for_account LEFT JOIN accounts a ON a.id = o.account_id
    WHERE p.kind IS DISTINCT FROM 'meter' OR (a.customer_id, a.kind) IS DISTINCT FROM (p.customer_id, p.kind) OR a.meter_id = p.meter_id
    UNION ALL
    SELECT 'period', account_id, NULL FROM ${PERIODS} p WHERE kind IS DISTINCT FROM 'meter'`,
};
