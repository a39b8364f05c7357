// The audit of grants: what they have used, left and covered adds up to the limit of the period that runs.

/** How much of a grant `g` may be used: of what rolled over, what the plan of now lets. */
const SIZE = `least(g.amount, CASE g.source WHEN 'rollover' THEN g.rollover_max END)`;

/** Meters of customers with the account of the period that runs. A node of the release before has kept parts of holds apart. */
const RUNNING = `(
  SELECT c.slot, c.customer_id, c.meter_id, a.id AS account, b.credits_posted AS granted, b.debits_posted + b.debits_pending AS used,
    c.allocated + coalesce((
      SELECT sum((p -> 'amount' ->> '$')::numeric) FROM reservations v CROSS JOIN LATERAL jsonb_array_elements(v.parts) p
      WHERE v.slot = a.slot AND v.account_id = a.id AND v.status = 'open'), 0) AS settled
  FROM customer_meters c
  JOIN accounts a ON a.slot = c.slot AND a.customer_id = c.customer_id AND a.meter_id = c.meter_id AND a.kind = 'meter'
    AND a.period_start = c.period_start
  JOIN balances b ON b.slot = a.slot AND b.id = a.id)`;

/** The invariants of grants: a name, and a query that returns no row at any moment. */
export const GRANT_CHECKS: Readonly<Record<string, string>> = {
  'grants have covered no more than what is used and held': `
    SELECT r.account, r.settled, r.used FROM ${RUNNING} r WHERE r.settled > r.used OR r.settled < 0`,

  'the limit is what grants have left and what they have covered': `
    SELECT r.account, r.granted, r.settled, g.left AS left FROM ${RUNNING} r JOIN LATERAL (
      SELECT coalesce(sum(CASE WHEN g.amount IS NULL THEN -g.used ELSE greatest(${SIZE} - g.used, 0) END), 0) AS left FROM grants g
      WHERE g.slot = r.slot AND g.customer_id = r.customer_id AND g.meter_id = r.meter_id AND g.started AND g.ended_at IS NULL
    ) g ON true WHERE r.granted <> r.settled + g.left`,
};
