-- Checkouts that are asked for at the same time are opened by one statement.

-- How much room an owner has for open checkouts. Counting them for each new one would read all of them. So they are counted where the room
-- is used up; until then what expires or is paid only leaves more of it than this says.
CREATE TABLE checkout_rooms (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  source text NOT NULL,
  -- The bound by which they were counted.
  open_max integer NOT NULL,
  -- So many more may be opened before they are counted again.
  room integer NOT NULL,
  PRIMARY KEY (organisation_id, mode, source),
  CONSTRAINT checkout_rooms_not_negative CHECK (room >= 0)
) WITH (fillfactor = 50);

/* All that it locks is free again when it ends, so a caller that dies or freezes delays nobody. `keys` names the checkouts that come with an
Idempotency-Key, each with its answer. Those that are not opened come back: `key_taken` where another call holds the key or was answered,
`full` where the owner has no room. There is no bound where `most` is 0. */
CREATE FUNCTION open_checkouts(wanted jsonb, keys jsonb, most integer) RETURNS TABLE (checkout_id uuid, reason text) LANGUAGE plpgsql AS $$
DECLARE
  taken uuid[];
  refused uuid[] := '{}';
  asked checkouts[];
BEGIN
  taken := ARRAY(SELECT k.id FROM jsonb_to_recordset(keys) AS k (id uuid, lock bigint) WHERE NOT pg_try_advisory_xact_lock(k.lock));
  taken := taken || ARRAY(
    SELECT k.id FROM jsonb_to_recordset(keys) AS k (id uuid, organisation_id uuid, mode mode, operation text, key_hash bytea)
    JOIN idempotency i USING (organisation_id, mode, operation, key_hash));
  asked := ARRAY(SELECT w FROM jsonb_populate_recordset(NULL::checkouts, wanted) w WHERE w.id <> ALL (taken));
  -- Who only comes too late for its key does not wait for those who write.
  IF cardinality(asked) = 0 THEN
    RETURN QUERY SELECT unnest(taken), 'key_taken';
    RETURN;
  END IF;
  IF most > 0 THEN
    -- The rooms are locked, by everybody in the same order.
    INSERT INTO checkout_rooms AS r
    SELECT DISTINCT a.organisation_id, a.mode, a.source, most, 0 FROM unnest(asked) a ORDER BY 1, 2, 3
    ON CONFLICT (organisation_id, mode, source) DO UPDATE
      SET room = CASE r.open_max WHEN most THEN r.room ELSE 0 END, open_max = most;
    UPDATE checkout_rooms r SET room = greatest(0, most - (
      SELECT count(*) FROM (
        SELECT FROM checkouts c
        WHERE c.organisation_id = r.organisation_id AND c.mode = r.mode AND c.status = 'active' AND c.expires_at > o.now
          AND c.source = r.source
        LIMIT most) counted))
    FROM (SELECT a.organisation_id, a.mode, a.source, count(*) AS asked, max(a.created_at) AS now FROM unnest(asked) a GROUP BY 1, 2, 3) o
    WHERE r.organisation_id = o.organisation_id AND r.mode = o.mode AND r.source = o.source AND r.room < o.asked;
    refused := ARRAY(
      SELECT a.id FROM (
        SELECT u.*, row_number() OVER (PARTITION BY u.organisation_id, u.mode, u.source ORDER BY u.ordinality) AS place
        FROM unnest(asked) WITH ORDINALITY u) a
      JOIN checkout_rooms r USING (organisation_id, mode, source) WHERE a.place > r.room);
    UPDATE checkout_rooms r SET room = r.room - o.opened
    FROM (SELECT a.organisation_id, a.mode, a.source, count(*) AS opened FROM unnest(asked) a WHERE a.id <> ALL (refused) GROUP BY 1, 2, 3) o
    WHERE r.organisation_id = o.organisation_id AND r.mode = o.mode AND r.source = o.source;
  END IF;
  INSERT INTO checkouts SELECT a.* FROM unnest(asked) a WHERE a.id <> ALL (refused);
  INSERT INTO idempotency
  SELECT k.organisation_id, k.mode, k.operation, k.key_hash, k.request_hash, k.status, k.body, k.created_at
  FROM jsonb_to_recordset(keys) AS k (id uuid, organisation_id uuid, mode mode, operation text, key_hash bytea, request_hash bytea,
    status smallint, body text, created_at timestamptz)
  WHERE k.id <> ALL (taken || refused);
  RETURN QUERY SELECT unnest(taken), 'key_taken' UNION ALL SELECT unnest(refused), 'full';
END $$;
