// The audit of alerts (beyond.md 5).

/** What meters say to have fired. */
const FIRED = `
  fired AS (
    SELECT c.customer_id, c.meter_id, (f ->> 'id')::uuid AS alert_id, (f ->> 'eventId')::uuid AS event_id
    FROM customer_meters c CROSS JOIN LATERAL jsonb_array_elements(c.fired) f
  )`;

/** The invariants of alerts: a name, and a query that returns no row at any moment. */
export const ALERT_CHECKS: Readonly<Record<string, string>> = {
  'an alert that has fired is of that meter, and of that customer or of each': `
    WITH ${FIRED}
    SELECT f.*, count(*) AS times FROM fired f
    LEFT JOIN customers c ON c.id = f.customer_id
    LEFT JOIN alerts a ON a.id = f.alert_id AND a.meter_id = f.meter_id AND coalesce(a.customer_id, f.customer_id) = f.customer_id
      AND (a.organisation_id, a.mode) = (c.organisation_id, c.mode)
    GROUP BY f.customer_id, f.meter_id, f.alert_id, f.event_id, a.id HAVING a.id IS NULL OR count(*) > 1`,

  // Retention may have dropped the first events of a meter.
  'an alert that has fired was told by its event, and not taken back since': `
    WITH ${FIRED}
    SELECT f.* FROM fired f
    LEFT JOIN event_closings g ON g.customer_id = f.customer_id AND g.meter_id = f.meter_id
    LEFT JOIN events e ON e.id = f.event_id AND e.type = 'alert.triggered' AND e.account_id = f.customer_id
      AND (e.data ->> 'alertId')::uuid = f.alert_id
    WHERE f.event_id IS NOT NULL AND (
      (e.id IS NULL AND g.object_id IS NULL)
      OR EXISTS (SELECT FROM events b WHERE b.object_id = e.object_id AND b.mode = e.mode AND b.sequence > e.sequence
        AND b.type LIKE 'alert.%' AND (b.data ->> 'alertId')::uuid = f.alert_id))`,
};
