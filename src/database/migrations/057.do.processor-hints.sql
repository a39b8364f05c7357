-- What a processor said has changed. Nothing is applied from it: the processor is asked again.
CREATE TABLE processor_hints (
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  mode mode NOT NULL,
  -- The processor's id of its event, which it may send more than once.
  event_id text NOT NULL CHECK (length(event_id) BETWEEN 1 AND 255),
  -- The account that sent it, as payments name it.
  processor text NOT NULL,
  about text NOT NULL CHECK (about IN ('charge', 'refund', 'dispute')),
  subject text NOT NULL CHECK (length(subject) BETWEEN 1 AND 64),
  received_at timestamptz NOT NULL DEFAULT now(),
  -- Whoever asks puts the next try off first: nobody else asks meanwhile.
  tries integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(),
  -- When the processor was asked, or asking was given up.
  settled_at timestamptz,
  PRIMARY KEY (organisation_id, mode, event_id)
);
CREATE INDEX processor_hints_open ON processor_hints (organisation_id, mode, next_at) WHERE settled_at IS NULL;

-- For commands that give a processor our address.
ALTER TABLE installation ADD COLUMN base_url text;
