-- How far the time of an organisation's test mode is ahead of the wall clock. No row: it is not.
CREATE TABLE test_clocks (
  organisation_id uuid PRIMARY KEY REFERENCES organisations,
  ahead_ms bigint NOT NULL,
  CONSTRAINT test_clocks_ahead CHECK (ahead_ms >= 0)
);

-- Whose time an alarm's due_at is.
ALTER TABLE alarms ADD COLUMN organisation_id uuid, ADD COLUMN mode mode;
UPDATE alarms a SET organisation_id = p.organisation_id, mode = p.mode
  FROM payments p WHERE a.kind = 'payment' AND p.slot = a.slot AND p.id = a.actor_id;
UPDATE alarms a SET organisation_id = c.organisation_id, mode = c.mode
  FROM customers c WHERE a.kind <> 'payment' AND c.id = a.actor_id;
ALTER TABLE alarms ALTER COLUMN organisation_id SET NOT NULL, ALTER COLUMN mode SET NOT NULL;
CREATE INDEX alarms_of_test_clock ON alarms (organisation_id, due_at) WHERE mode = 'test';

-- What a crash left behind is told by the wall clock; `at` is the organisation's.
ALTER TABLE followups ADD COLUMN written_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX followups_left_behind ON followups (written_at);
