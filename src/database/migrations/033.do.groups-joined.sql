-- An organisation joins a group after it was made, or leaves it. The audit knows what group endpoints were owed when.

ALTER TABLE organisations
  -- null: it has been what it is since the organisation was made.
  ADD COLUMN group_since timestamptz;

CREATE TABLE groups_left (
  organisation_id uuid NOT NULL REFERENCES organisations,
  group_id uuid NOT NULL REFERENCES groups,
  -- For the last time.
  left_at timestamptz NOT NULL,
  PRIMARY KEY (organisation_id, group_id)
);

ALTER TABLE installation
  -- What the last server that started calls itself, for commands that print links. null: none has said so.
  ADD COLUMN app_url text;
