/** The invariants of deliveries: a name, and a query that returns no row at any moment. */
export const WEBHOOK_CHECKS: Readonly<Record<string, string>> = {
  'an event waits for the relay, was passed, or is set aside': `
    SELECT coalesce(e.id, r.event_id) AS event, r.times
    FROM events e FULL JOIN (
      SELECT event_id, count(*) AS times FROM (
        SELECT event_id FROM event_queue UNION ALL SELECT event_id FROM event_fanouts UNION ALL SELECT event_id FROM event_faults
      ) u GROUP BY event_id
    ) r ON r.event_id = e.id
    WHERE e.id IS NULL OR r.times IS DISTINCT FROM 1`,

  'a position says whose event it is, and a sample has none': `
    SELECT e.id AS event, f.position, f.organisation_id, f.mode FROM event_fanouts f JOIN events e ON e.id = f.event_id
    WHERE (f.position IS NULL) <> (e.endpoint_id IS NOT NULL)
      OR f.organisation_id IS DISTINCT FROM CASE WHEN e.endpoint_id IS NULL THEN e.organisation_id END
      OR f.mode IS DISTINCT FROM CASE WHEN e.endpoint_id IS NULL THEN e.mode END`,

  'what is owed of an event is delivered, pending, held or exhausted': `
    SELECT coalesce(f.event_id, d.event_id) AS event, f.owed, d.delivered, d.pending, d.held, d.exhausted
    FROM event_fanouts f FULL JOIN (
      SELECT event_id, count(*) FILTER (WHERE status = 'delivered') AS delivered,
        count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'held') AS held,
        count(*) FILTER (WHERE status = 'exhausted') AS exhausted
      FROM deliveries GROUP BY event_id
    ) d ON d.event_id = f.event_id
    WHERE f.owed IS DISTINCT FROM coalesce(d.delivered + d.pending + d.held + d.exhausted, 0)`,

  'a delivery is of an event that its endpoint may hear of': `
    SELECT d.id AS delivery, e.id AS event, w.id AS endpoint, e.type, d.event_type, e.mode, w.mode AS endpoint_mode
    FROM deliveries d LEFT JOIN events e ON e.id = d.event_id LEFT JOIN organisations o ON o.id = e.organisation_id
    LEFT JOIN webhook_endpoints w ON w.id = d.endpoint_id
      AND (w.organisation_id = e.organisation_id OR w.group_id = o.group_id OR EXISTS (
        SELECT FROM groups_left g WHERE g.organisation_id = e.organisation_id AND g.group_id = w.group_id))
    WHERE e.id IS NULL OR w.id IS NULL OR (e.type, e.mode) <> (d.event_type, w.mode) OR e.endpoint_id <> w.id`,

  // Only endpoints that have not changed since, and organisations that were in the group by then.
  // The times are those of machines: `at` may be that of a test clock. The minute allows for a
  // commit during the change, and for clocks that differ.
  'an endpoint is owed every event that it subscribed to': `
    SELECT e.id AS event, w.id AS endpoint, e.type FROM events e JOIN event_fanouts f ON f.event_id = e.id
    JOIN organisations o ON o.id = e.organisation_id
    JOIN webhook_endpoints w ON w.mode = e.mode AND (w.organisation_id = e.organisation_id OR w.group_id = o.group_id)
      AND (w.event_types @> ARRAY[e.type] OR w.event_types = '{*}')
    LEFT JOIN deliveries d ON d.event_id = e.id AND d.endpoint_id = w.id
    WHERE e.endpoint_id IS NULL AND d.id IS NULL AND w.deleted_at IS NULL AND
      f.written_at > greatest(w.updated_at, CASE WHEN w.group_id IS NOT NULL THEN o.group_since END) + interval '1 minute'
      AND e.at >= coalesce((SELECT since FROM retention WHERE kind = 'deliveries'), '-infinity')`,

  'a delivery is what its attempts made it': `
    SELECT coalesce(d.id, a.delivery_id) AS delivery, d.status, d.attempts, a.made, a.accepted, d.first_at, d.settled_at
    FROM deliveries d FULL JOIN (
      SELECT delivery_id, count(*) AS made, bool_or(coalesce(status_code BETWEEN 200 AND 299, false)) AS accepted,
        min(at) AS first_at
      FROM delivery_attempts GROUP BY delivery_id
    ) a ON a.delivery_id = d.id
    WHERE d.id IS NULL OR d.attempts > coalesce(a.made, 0) OR (d.attempts > 0) <> (d.first_at IS NOT NULL)
      OR d.first_at < a.first_at OR d.status = 'delivered' AND a.accepted IS NOT TRUE
      OR CASE d.status WHEN 'pending' THEN d.settled_at IS NOT NULL WHEN 'held' THEN false ELSE d.settled_at IS NULL END`,
};
