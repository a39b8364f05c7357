-- Events are told after the commit that wrote them: that one only queues them, and a relay passes them on in steps of a bounded size.

-- In the order in which whoever writes events takes them, and before anything else: a server of before serves on meanwhile.
LOCK TABLE events, event_fanouts, webhook_endpoints IN ACCESS EXCLUSIVE MODE;

-- The order of what happens to whom: of events as they are written, and of endpoints as they are made. No clock has a say in it.
CREATE SEQUENCE event_order;

-- One for each event that is not passed yet.
CREATE TABLE event_queue (
  organisation_id uuid NOT NULL,
  place bigint NOT NULL DEFAULT nextval('event_order'),
  event_id uuid NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, place)
) WITH (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);

-- Those that cannot be passed, each alone: an operator hears of them, and says when they are tried again.
CREATE TABLE event_faults (
  event_id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL,
  place bigint NOT NULL,
  written_at timestamptz NOT NULL,
  failed_at timestamptz NOT NULL,
  error text NOT NULL
);

-- One row, which whoever passes events on has locked: the position of the last one, and whose turn it was last.
CREATE TABLE event_relay (
  position bigint NOT NULL,
  turn uuid NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);

-- One for each event that was passed. A sample is sent and not passed on: it has no position. What was told before gets its own, up to 0,
-- in 024. A server of before knows of neither column when it replays.
ALTER TABLE event_fanouts
  ADD COLUMN position bigint,
  ADD COLUMN written_at timestamptz NOT NULL DEFAULT '-infinity';
INSERT INTO event_relay VALUES (0, '00000000-0000-0000-0000-000000000000');

-- An endpoint is owed what is written after it.
ALTER TABLE webhook_endpoints ADD COLUMN place bigint NOT NULL DEFAULT nextval('event_order');

DROP TRIGGER events_fan_out ON events;
DROP FUNCTION fan_out_events();

/* In the transaction of the events. A sample is for one endpoint, and whoever asked for it is shown what became of it. */
CREATE FUNCTION queue_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  told bigint;
BEGIN
  INSERT INTO event_queue (organisation_id, event_id) SELECT organisation_id, id FROM fresh WHERE endpoint_id IS NULL;
  IF FOUND THEN
    PERFORM pg_notify('tollhouse_events', '');
  END IF;
  IF EXISTS (SELECT FROM fresh WHERE endpoint_id IS NOT NULL) THEN
    WITH made AS (
      INSERT INTO deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
      SELECT uuidv7(), w.id, e.id, e.type, CASE WHEN w.status = 'enabled' THEN 'pending' ELSE 'held' END, now(), now()
      FROM fresh e JOIN webhook_endpoints w ON w.id = e.endpoint_id AND w.deleted_at IS NULL
      RETURNING event_id, endpoint_id
    ), counted AS (
      INSERT INTO event_fanouts (event_id, owed, written_at)
      SELECT e.id, count(m.event_id), now() FROM fresh e LEFT JOIN made m ON m.event_id = e.id
      WHERE e.endpoint_id IS NOT NULL GROUP BY e.id
    )
    SELECT count(pg_notify('tollhouse_deliveries', m.endpoint_id::text)) INTO told
    FROM (SELECT DISTINCT endpoint_id FROM made) m;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER events_queued AFTER INSERT ON events REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION queue_events();

/* Who is owed an event, as things are. A function, so that it is planned for one event: never from the endpoints to all events. */
CREATE FUNCTION owed_to(queued event_queue) RETURNS TABLE (event_id uuid, type text, endpoint_id uuid, status text)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT e.id, e.type, w.id, CASE WHEN w.status = 'enabled' THEN 'pending' ELSE 'held' END
  FROM events e JOIN organisations o ON o.id = e.organisation_id
  JOIN webhook_endpoints w ON w.mode = e.mode AND w.deleted_at IS NULL AND w.place < queued.place
    AND (w.organisation_id = e.organisation_id OR w.group_id = o.group_id)
    AND (w.event_types @> ARRAY[e.type] OR w.event_types = '{*}')
  WHERE e.id = queued.event_id;
END $$;

/* All of these, in this order, or none. The relay is locked by the caller. How many deliveries that makes. */
CREATE FUNCTION pass_events(chosen event_queue[]) RETURNS bigint LANGUAGE plpgsql
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
    INSERT INTO event_fanouts (event_id, owed, position, written_at)
    SELECT e.id, coalesce(m.owed, 0), p.position, p.written_at
    FROM passing p JOIN events e ON e.id = p.event_id
    LEFT JOIN (SELECT event_id, count(*) AS owed FROM made GROUP BY event_id) m ON m.event_id = p.event_id
    RETURNING 1
  ), gone AS (
    DELETE FROM event_queue q USING passing p WHERE q.organisation_id = p.organisation_id AND q.place = p.place
  ), moved AS (
    UPDATE event_relay SET position = position + cardinality(chosen)
  )
  SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM counted),
    (SELECT count(pg_notify('tollhouse_deliveries', endpoint_id::text))
      FROM (SELECT DISTINCT endpoint_id FROM made WHERE status = 'pending') due)
  INTO owed, known, told;
  IF known <> cardinality(chosen) THEN
    RAISE EXCEPTION 'an event that is queued is not there';
  END IF;
  RETURN owed;
END $$;

/*
 * One step: organisations take turns, each with its oldest events first, until so many events or so many rows are chosen. No row
 * comes back where another relay has the step. It is one statement, so that whoever asks may die or freeze and locks nothing.
 *
 * What fails is tried again one by one, and what fails alone is set aside; where it is not the events' fault, the step fails.
 */
CREATE FUNCTION relay_events(events_max integer, rows_max integer)
RETURNS TABLE (passed bigint, made bigint, failed uuid[], why text, more boolean) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_mergejoin = off AS $$
DECLARE
  nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  nobodys_fault CONSTANT text := '^(08|25|40|53|55|57|58)';
  turns_max CONSTANT integer := 50;
  last_turn uuid;
  budget integer := rows_max;
  chosen event_queue[] := '{}';
  alone event_queue;
  candidate record;
BEGIN
  passed := 0;
  made := 0;
  failed := '{}';
  more := EXISTS (SELECT FROM event_queue);
  -- So that to look costs nothing: a lock is written down.
  IF NOT more THEN
    RETURN NEXT;
    RETURN;
  END IF;
  SELECT r.turn INTO last_turn FROM event_relay r FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  LOOP
    FOR candidate IN
      WITH RECURSIVE turns AS (
        (SELECT q.organisation_id, 1 AS nth FROM event_queue q WHERE q.organisation_id > last_turn ORDER BY q.organisation_id LIMIT 1)
        UNION ALL
        SELECT next.organisation_id, t.nth + 1
        FROM turns t CROSS JOIN LATERAL (
          SELECT q.organisation_id FROM event_queue q WHERE q.organisation_id > t.organisation_id ORDER BY q.organisation_id LIMIT 1
        ) next
        WHERE t.nth < turns_max
      )
      SELECT own.q AS event, own.nth
      FROM turns t CROSS JOIN LATERAL (
        SELECT q, row_number() OVER (ORDER BY q.place) AS nth FROM event_queue q
        WHERE q.organisation_id = t.organisation_id ORDER BY q.place
        LIMIT greatest(1, events_max / (SELECT count(*) FROM turns))
      ) own
      ORDER BY own.nth, t.organisation_id
    LOOP
      alone := candidate.event;
      BEGIN
        budget := budget - 1 - (SELECT count(*) FROM owed_to(alone));
      EXCEPTION WHEN OTHERS THEN
        IF SQLSTATE ~ nobodys_fault THEN
          RAISE;
        END IF;
        -- It will be set aside below.
        budget := budget - 1;
      END;
      EXIT WHEN budget < 0 AND chosen <> '{}';
      chosen := chosen || alone;
      IF candidate.nth = 1 THEN
        last_turn := alone.organisation_id;
      END IF;
    END LOOP;
    EXIT WHEN chosen <> '{}' OR last_turn = nobody;
    -- Everybody has had a turn: from the first one on.
    last_turn := nobody;
  END LOOP;
  IF chosen <> '{}' THEN
    BEGIN
      made := pass_events(chosen);
      passed := cardinality(chosen);
    EXCEPTION WHEN OTHERS THEN
      IF SQLSTATE ~ nobodys_fault THEN
        RAISE;
      END IF;
      FOREACH alone IN ARRAY chosen LOOP
        BEGIN
          made := made + pass_events(ARRAY[alone]);
          passed := passed + 1;
        EXCEPTION WHEN OTHERS THEN
          IF SQLSTATE ~ nobodys_fault THEN
            RAISE;
          END IF;
          why := SQLERRM;
          failed := failed || alone.event_id;
          INSERT INTO event_faults (event_id, organisation_id, place, written_at, failed_at, error)
            VALUES (alone.event_id, alone.organisation_id, alone.place, alone.written_at, now(), SQLERRM);
          DELETE FROM event_queue q WHERE q.organisation_id = alone.organisation_id AND q.place = alone.place;
        END;
      END LOOP;
    END;
    UPDATE event_relay SET turn = last_turn;
  END IF;
  more := EXISTS (SELECT FROM event_queue);
  RETURN NEXT;
END $$;
