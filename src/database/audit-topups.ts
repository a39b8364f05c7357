import { CHARGED } from './audit-payments.ts';

/**
 * The invariants of automatic top-ups: a name, and a query that returns no row at any moment. A grant
 * has the id of the payment that it was paid by.
 */
export const TOPUP_CHECKS: Readonly<Record<string, string>> = {
  // The customer's actor may not have heard of a capture that is settling.
  'a top-up that was captured has its grant, and none has one without': `${CHARGED}
    SELECT p.id AS payment, p.status, p.customer_id AS customer, p.meter_id AS meter, g.id AS granted, g.source
    FROM charged p LEFT JOIN grants g ON g.id = p.id
    WHERE CASE WHEN p.meter_id IS NULL THEN g.id IS NOT NULL
      WHEN g.id IS NULL THEN p.captured AND NOT p.settling
      ELSE NOT p.captured OR (g.customer_id, g.meter_id, g.organisation_id, g.mode, g.source)
        IS DISTINCT FROM (p.customer_id, p.meter_id, p.organisation_id, p.mode, 'top_up') END`,

  'an automatic top-up counts its charges and captures': `${CHARGED}, counted AS (
      SELECT customer_id, meter_id, count(*) AS charges, count(*) FILTER (WHERE captured) AS captured,
        count(*) FILTER (WHERE captured AND settling) AS settling, count(*) FILTER (WHERE open) AS open
      FROM charged WHERE meter_id IS NOT NULL GROUP BY customer_id, meter_id
    )
    SELECT coalesce(t.customer_id, c.customer_id) AS customer, coalesce(t.meter_id, c.meter_id) AS meter, t.ordered, c.charges,
      t.captures, c.captured, c.settling, c.open
    FROM auto_topups t FULL JOIN counted c ON c.customer_id = t.customer_id AND c.meter_id = t.meter_id
    WHERE t.customer_id IS NULL OR coalesce(c.charges, 0) > t.ordered OR c.open > 1
      OR t.captures NOT BETWEEN coalesce(c.captured - c.settling, 0) AND coalesce(c.captured, 0)`,

  'a charge of a top-up is the one under way, and is being decided': `${CHARGED}
    SELECT t.customer_id AS customer, t.meter_id AS meter, t.charge ->> 'paymentId' AS charge, p.id AS payment, p.status
    FROM auto_topups t FULL JOIN (SELECT * FROM charged WHERE meter_id IS NOT NULL AND (open OR settling)) p
      ON (p.customer_id, p.meter_id, p.id::text) = (t.customer_id, t.meter_id, t.charge ->> 'paymentId')
    WHERE CASE WHEN t.customer_id IS NULL THEN p.open
      WHEN p.id IS NULL THEN t.charge ->> 'paymentId' IS NOT NULL AND NOT EXISTS (SELECT FROM followups f
        WHERE f.kind = 'top_up' AND f.customer_id = t.customer_id AND f.data ->> 'paymentId' = t.charge ->> 'paymentId') END`,

  'an automatic top-up rings when it is due': `
    SELECT t.customer_id AS customer, t.meter_id AS meter, t.retry_at, t.limited_until, l.due_at
    FROM auto_topups t LEFT JOIN alarms l ON l.kind = 'meter' AND l.slot = t.slot AND l.actor_id = t.customer_id AND l.subject_id = t.meter_id
    WHERE (t.settings ->> 'enabled')::boolean AND t.charge ->> 'paymentId' IS NULL AND t.refused IS NULL
      AND least(t.retry_at, t.limited_until) IS NOT NULL AND (l.due_at <= least(t.retry_at, t.limited_until)) IS NOT TRUE`,
};
