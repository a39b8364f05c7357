-- Who is told of events, and what each of them is owed. PostgreSQL is the truth for what is due; the queues carry only tickets.

-- One row: what tells this installation from others that share a Redis with it.
CREATE TABLE installation (
  id uuid NOT NULL
);
INSERT INTO installation VALUES (uuidv7());

CREATE TABLE webhook_endpoints (
  id uuid PRIMARY KEY,
  organisation_id uuid REFERENCES organisations,
  group_id uuid REFERENCES groups,
  mode mode NOT NULL,
  url text NOT NULL,
  -- Types by name, or '*' alone.
  event_types text[] NOT NULL,
  description text,
  status text NOT NULL,
  -- Why it was disabled other than by its owner.
  disabled_reason text,
  -- Encrypted. The previous one signs along until then.
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- How it fares: failures since the last success, since when nothing but failures, deliveries given up since then, and until
  -- when only a probe is sent.
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  exhausted integer NOT NULL DEFAULT 0,
  paused_until timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT webhook_endpoints_belong_to_one CHECK (num_nonnulls(organisation_id, group_id) = 1),
  CONSTRAINT webhook_endpoints_status_known CHECK (status IN ('enabled', 'disabled')),
  CONSTRAINT webhook_endpoints_want_something CHECK (cardinality(event_types) > 0)
);
CREATE INDEX webhook_endpoints_of_organisation ON webhook_endpoints (organisation_id, mode) WHERE deleted_at IS NULL;
CREATE INDEX webhook_endpoints_of_group ON webhook_endpoints (group_id, mode) WHERE deleted_at IS NULL;

-- One for each event and endpoint that matched when the event was committed.
CREATE TABLE deliveries (
  id uuid PRIMARY KEY,
  endpoint_id uuid NOT NULL REFERENCES webhook_endpoints,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL,
  -- Attempts that count against the schedule, and when the first of them was made: no later one than 24 hours after it.
  attempts integer NOT NULL DEFAULT 0,
  first_at timestamptz,
  -- When it is due next; while a worker has it, when that worker has lost it at the latest.
  next_at timestamptz NOT NULL,
  -- The worker that has it: a result counts only from that one.
  worker uuid,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  CONSTRAINT deliveries_status_known CHECK (status IN ('pending', 'delivered', 'held', 'exhausted')),
  CONSTRAINT deliveries_sent_while_pending CHECK (worker IS NULL OR status = 'pending')
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX deliveries_once ON deliveries (event_id, endpoint_id);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_at) WHERE status = 'pending';
CREATE INDEX deliveries_listed ON deliveries (endpoint_id, id);
CREATE INDEX deliveries_in_flight ON deliveries (worker) WHERE worker IS NOT NULL;
-- What was tried and waits: whose day is over is not looked for among what was never tried.
CREATE INDEX deliveries_retried ON deliveries (first_at) WHERE status = 'pending' AND first_at IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (endpoint_id) WHERE status = 'held';

CREATE TABLE delivery_attempts (
  delivery_id uuid NOT NULL,
  at timestamptz NOT NULL,
  status_code smallint,
  error text,
  duration_ms integer NOT NULL,
  address inet,
  -- The first bytes of the answer, as text.
  response_head text,
  PRIMARY KEY (delivery_id, at)
);

-- Workers that are alive say so every second. Whoever is silent for too long is struck off, and what it had is due again.
CREATE TABLE delivery_workers (
  id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL
);

-- How many endpoints an event was owed to when it was committed: deliveries are counted against it.
CREATE TABLE event_fanouts (
  event_id uuid PRIMARY KEY,
  owed integer NOT NULL
);

-- Set on a sample, which is for that endpoint alone.
ALTER TABLE events ADD COLUMN endpoint_id uuid;

/* Fans out whatever wrote the events, in its own transaction, and wakes the workers when that commits. */
CREATE FUNCTION fan_out_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  told bigint;
BEGIN
  WITH made AS (
    INSERT INTO deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    SELECT uuidv7(), w.id, e.id, e.type, CASE WHEN w.status = 'enabled' THEN 'pending' ELSE 'held' END, now(), now()
    FROM fresh e
    JOIN organisations o ON o.id = e.organisation_id
    JOIN webhook_endpoints w ON w.mode = e.mode AND w.deleted_at IS NULL
      AND (w.organisation_id = e.organisation_id OR w.group_id = o.group_id)
      AND CASE WHEN e.endpoint_id IS NULL THEN w.event_types @> ARRAY[e.type] OR w.event_types = '{*}'
        ELSE w.id = e.endpoint_id END
    RETURNING event_id, endpoint_id
  ), counted AS (
    INSERT INTO event_fanouts (event_id, owed) SELECT event_id, count(*) FROM made GROUP BY event_id
  )
  SELECT count(pg_notify('tollhouse_deliveries', m.endpoint_id::text)) INTO told
  FROM (SELECT DISTINCT endpoint_id FROM made) m;
  RETURN NULL;
END $$;

CREATE TRIGGER events_fan_out AFTER INSERT ON events REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION fan_out_events();
