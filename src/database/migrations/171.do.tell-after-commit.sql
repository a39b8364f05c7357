-- Who waits for events and deliveries is told after the commit (src/platform/postgres/tell.ts). A NOTIFY in a transaction takes one lock
-- for all databases of the server until its commit has ended, which a synchronous standby makes long: all nodes committed one by one.

/* In the transaction of the events. A sample is for one endpoint, and whoever asked for it is shown what became of it. */
CREATE OR REPLACE FUNCTION queue_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  INSERT INTO event_queue (organisation_id, event_id) SELECT organisation_id, id FROM fresh WHERE endpoint_id IS NULL;
  IF EXISTS (SELECT FROM fresh WHERE endpoint_id IS NOT NULL) THEN
    WITH made AS (
      INSERT INTO deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
      SELECT uuidv7(), w.id, e.id, e.type, CASE WHEN w.status = 'enabled' THEN 'pending' ELSE 'held' END, now(), now()
      FROM fresh e JOIN webhook_endpoints w ON w.id = e.endpoint_id AND w.deleted_at IS NULL
      RETURNING event_id, endpoint_id
    )
    INSERT INTO event_fanouts (event_id, owed, written_at)
    SELECT e.id, count(m.event_id), now() FROM fresh e LEFT JOIN made m ON m.event_id = e.id
    WHERE e.endpoint_id IS NOT NULL GROUP BY e.id;
  END IF;
  RETURN NULL;
END $$;

DROP FUNCTION relay_events(integer, integer);
DROP FUNCTION pass_events(event_queue[]);

/* All of these, in this order, or none. The relay is locked by the caller. How many deliveries that makes, which endpoints have
   something due, and whose events got positions. */
CREATE FUNCTION pass_events(chosen event_queue[], OUT owed bigint, OUT due uuid[], OUT news text[])
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_mergejoin TO 'off'
AS $$
DECLARE
  known bigint;
BEGIN
  WITH passing AS MATERIALIZED (
    SELECT c.*, r.position + c.nth AS position
    FROM event_relay r, unnest(chosen) WITH ORDINALITY AS c (organisation_id, place, event_id, written_at, nth)
  ), heard AS MATERIALIZED (
    -- Organisations with an endpoint. To ask for each event of the others cost a third of passing it.
    SELECT o.id FROM (SELECT DISTINCT p.organisation_id FROM passing p) own JOIN organisations o ON o.id = own.organisation_id
    WHERE EXISTS (SELECT FROM webhook_endpoints w WHERE w.organisation_id = o.id AND w.deleted_at IS NULL)
      OR EXISTS (SELECT FROM webhook_endpoints w WHERE w.group_id = o.group_id AND w.deleted_at IS NULL)
  ), made AS (
    INSERT INTO deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    SELECT uuidv7(), o.endpoint_id, o.event_id, o.type, o.status, now(), p.written_at
    FROM (SELECT * FROM passing WHERE organisation_id IN (SELECT id FROM heard)) p
    CROSS JOIN LATERAL owed_to(chosen[p.nth]) o ORDER BY p.position
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
    ARRAY(SELECT DISTINCT endpoint_id FROM made WHERE status = 'pending'),
    ARRAY(SELECT DISTINCT organisation_id || ' ' || mode FROM counted)
  INTO owed, known, due, news;
  IF known <> cardinality(chosen) THEN
    RAISE EXCEPTION 'an event that is queued is not there';
  END IF;
END $$;

/* One step: organisations take turns, each with its oldest events first, until so many events or so many rows are chosen. No row
   comes back where another relay has the step. It is one statement, so that whoever asks may die or freeze and locks nothing.
   What fails is tried again one by one, and what fails alone is set aside; where it is not the events' fault, the step fails. */
CREATE FUNCTION relay_events(events_max integer, rows_max integer)
 RETURNS TABLE(passed bigint, made bigint, failed uuid[], why text, more boolean, due uuid[], news text[])
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_mergejoin TO 'off'
AS $$
DECLARE
  nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  nobodys_fault CONSTANT text := '^(08|25|40|53|55|57|58)';
  turns_max CONSTANT integer := 50;
  last_turn uuid;
  next_turn uuid;
  chosen event_queue[];
  alone event_queue;
  step record;
BEGIN
  passed := 0;
  made := 0;
  failed := '{}';
  due := '{}';
  news := '{}';
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
    BEGIN
      WITH RECURSIVE turns AS (
        (SELECT q.organisation_id, 1 AS nth FROM event_queue q WHERE q.organisation_id > last_turn ORDER BY q.organisation_id LIMIT 1)
        UNION ALL
        SELECT next.organisation_id, t.nth + 1
        FROM turns t CROSS JOIN LATERAL (
          SELECT q.organisation_id FROM event_queue q WHERE q.organisation_id > t.organisation_id ORDER BY q.organisation_id LIMIT 1
        ) next
        WHERE t.nth < turns_max
      ), candidates AS MATERIALIZED (
        SELECT own.q AS event, own.nth, t.organisation_id, e.mode, e.type
        FROM turns t CROSS JOIN LATERAL (
          SELECT q, row_number() OVER (ORDER BY q.place) AS nth FROM event_queue q
          WHERE q.organisation_id = t.organisation_id ORDER BY q.place
          LIMIT greatest(1, events_max / (SELECT count(*) FROM turns))
        ) own
        -- OFFSET 0: it is looked up for each of them, never read from all events.
        LEFT JOIN LATERAL (SELECT e.mode, e.type FROM events e WHERE e.id = (own.q).event_id OFFSET 0) e ON true
      ), kinds AS MATERIALIZED (
        -- Endpoints that came after an event are counted too: a step may be smaller than it could be.
        SELECT k.*, (
          SELECT count(*) FROM organisations o JOIN webhook_endpoints w ON w.mode = k.mode AND w.deleted_at IS NULL
            AND (w.organisation_id = o.id OR w.group_id = o.group_id) AND (w.event_types @> ARRAY[k.type] OR w.event_types = '{*}')
          WHERE o.id = k.organisation_id) AS owed
        FROM (SELECT DISTINCT c.organisation_id, c.mode, c.type FROM candidates c WHERE c.type IS NOT NULL) k
      ), counted AS (
        SELECT c.event, c.nth, c.organisation_id, row_number() OVER step AS position, sum(1 + coalesce(k.owed, 0)) OVER step AS size
        FROM candidates c
        LEFT JOIN kinds k ON k.organisation_id = c.organisation_id AND k.mode = c.mode AND k.type = c.type
        WINDOW step AS (ORDER BY c.nth, c.organisation_id)
      )
      SELECT array_agg(c.event ORDER BY c.position), (array_agg(c.organisation_id ORDER BY c.position DESC) FILTER (WHERE c.nth = 1))[1]
      INTO chosen, next_turn
      FROM counted c WHERE c.size <= rows_max OR c.position = 1;
    EXCEPTION WHEN OTHERS THEN
      IF SQLSTATE ~ nobodys_fault THEN
        RAISE;
      END IF;
      -- One of them cannot be read. In steps of one it is found.
      SELECT ARRAY[q], q.organisation_id INTO chosen, next_turn
      FROM event_queue q WHERE q.organisation_id > last_turn ORDER BY q.organisation_id, q.place LIMIT 1;
    END;
    EXIT WHEN chosen IS NOT NULL OR last_turn = nobody;
    -- Everybody has had a turn: from the first one on.
    last_turn := nobody;
  END LOOP;
  IF chosen IS NOT NULL THEN
    BEGIN
      SELECT * INTO step FROM pass_events(chosen);
      made := step.owed;
      due := step.due;
      news := step.news;
      passed := cardinality(chosen);
    EXCEPTION WHEN OTHERS THEN
      IF SQLSTATE ~ nobodys_fault THEN
        RAISE;
      END IF;
      FOREACH alone IN ARRAY chosen LOOP
        BEGIN
          SELECT * INTO step FROM pass_events(ARRAY[alone]);
          made := made + step.owed;
          due := due || step.due;
          news := news || step.news;
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
    UPDATE event_relay SET turn = next_turn;
  END IF;
  more := EXISTS (SELECT FROM event_queue);
  RETURN NEXT;
END $$;
