-- Outside a transaction: what was told before 023 was passed then, in the order of its time. There may be much of it, and others write
-- meanwhile: what is queued is not of it. What a start that was killed left is done again.
INSERT INTO event_fanouts (event_id, owed, position)
  SELECT e.id, 0, CASE WHEN e.endpoint_id IS NULL
    THEN row_number() OVER (PARTITION BY e.endpoint_id IS NULL ORDER BY e.at, e.id) - count(*) OVER (PARTITION BY e.endpoint_id IS NULL) END
  FROM events e
  WHERE NOT EXISTS (SELECT FROM event_queue q WHERE q.event_id = e.id)
    AND NOT EXISTS (SELECT FROM event_fanouts f WHERE f.event_id = e.id AND (f.position IS NOT NULL OR e.endpoint_id IS NOT NULL))
  ON CONFLICT (event_id) DO UPDATE SET position = excluded.position;
DROP INDEX IF EXISTS event_fanouts_position_once;
CREATE UNIQUE INDEX CONCURRENTLY event_fanouts_position_once ON event_fanouts (position);
