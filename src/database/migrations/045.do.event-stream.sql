-- The stream of events reads one organisation's in the order of their positions. So a position says whose it is, and those who read are told
-- when new ones were given.

-- A step of the relay that began before would write a row that does not say it.
LOCK TABLE event_relay IN ACCESS EXCLUSIVE MODE;

ALTER TABLE event_fanouts
  -- Of a row with a position. NULL for a sample, which no stream has.
  ADD COLUMN organisation_id uuid,
  ADD COLUMN mode mode;

/* All of these, in this order, or none. The relay is locked by the caller. How many deliveries that makes. */
CREATE OR REPLACE FUNCTION pass_events(chosen event_queue[]) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_mergejoin = off AS $$
DECLARE
  owed bigint;
  known bigint;
  told bigint;
BEGIN
  WITH passing AS MATERIALIZED (
    SELECT c.*, r.position + c.nth AS position
    FROM event_relay r, unnest(chosen) WITH ORDINALITY AS c (organisation_id, place, event_id, written_at, nth)
  ), made AS (
    INSERT INTO deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    SELECT uuidv7(), o.endpoint_id, o.event_id, o.type, o.status, now(), p.written_at
    FROM passing p CROSS JOIN LATERAL owed_to(chosen[p.nth]) o ORDER BY p.position
    RETURNING event_id, endpoint_id, status
  ), counted AS (
    INSERT INTO event_fanouts (event_id, owed, position, written_at, organisation_id, mode)
    SELECT e.id, coalesce(m.owed, 0), p.position, p.written_at, e.organisation_id, e.mode
    FROM passing p JOIN events e ON e.id = p.event_id
    LEFT JOIN (SELECT event_id, count(*) AS owed FROM made GROUP BY event_id) m ON m.event_id = p.event_id
    RETURNING organisation_id, mode
  ), gone AS (
    DELETE FROM event_queue q USING passing p WHERE q.organisation_id = p.organisation_id AND q.place = p.place
  ), moved AS (
    UPDATE event_relay SET position = position + cardinality(chosen)
  )
  SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM counted),
    (SELECT count(pg_notify('tollhouse_deliveries', endpoint_id::text))
      FROM (SELECT DISTINCT endpoint_id FROM made WHERE status = 'pending') due)
    -- A step is of 50 organisations at most, and a message may have 8,000 bytes.
    + (SELECT count(pg_notify('tollhouse_positions', whose))
      FROM (SELECT string_agg(DISTINCT organisation_id || ' ' || mode, ',') AS whose FROM counted) news)
  INTO owed, known, told;
  IF known <> cardinality(chosen) THEN
    RAISE EXCEPTION 'an event that is queued is not there';
  END IF;
  RETURN owed;
END $$;
