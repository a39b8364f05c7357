-- What an organisation sets for itself, in each mode: a test key must not reach what live invoices say and live dunning does.
CREATE TABLE organisation_settings (
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  -- Null: the name that it was registered with.
  name text,
  timezone text NOT NULL DEFAULT 'UTC',
  seller jsonb NOT NULL DEFAULT '{}',
  -- Days after the first payment of a debt failed.
  retry_days integer[] NOT NULL DEFAULT '{1,3,7,13,20}',
  block_after_days integer NOT NULL DEFAULT 14,
  expire_after_days integer NOT NULL DEFAULT 21,
  event_sequence bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (organisation_id, mode),
  CONSTRAINT organisation_settings_retried_before_expiry CHECK (0 < ALL (retry_days) AND expire_after_days > ALL (retry_days)),
  CONSTRAINT organisation_settings_blocked_by_expiry CHECK (0 < block_after_days AND block_after_days <= expire_after_days)
);
INSERT INTO organisation_settings (organisation_id, mode, updated_at)
  SELECT id, unnest(enum_range(NULL::mode)), created_at FROM organisations;

-- Tags, and custom fields, which are tags with a value. What they are on is never deleted.
CREATE TABLE annotations (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  kind text NOT NULL,
  object_type text NOT NULL,
  object_id uuid NOT NULL,
  -- Whose the object is, for the events.
  customer_id uuid,
  name text NOT NULL,
  value text,
  created_at timestamptz NOT NULL,
  CONSTRAINT annotations_kind_known CHECK (kind IN ('tag', 'custom_field')),
  CONSTRAINT annotations_field_has_value CHECK ((kind = 'custom_field') = (value IS NOT NULL)),
  CONSTRAINT annotations_object_known CHECK (object_type IN ('customer', 'subscription', 'invoice')),
  CONSTRAINT annotations_name_once UNIQUE (object_id, kind, name)
);
CREATE INDEX annotations_listed ON annotations (organisation_id, mode, kind, id);
CREATE INDEX annotations_by_name ON annotations (organisation_id, mode, kind, name, id);

-- Where a customer is billed, as invoices print it.
ALTER TABLE customers ADD COLUMN billing_address jsonb;

-- An organisation is one object in both modes, and has events in each: whoever hears of one mode must see no gap.
ALTER TABLE events DROP CONSTRAINT events_sequence_once,
  ADD CONSTRAINT events_sequence_once UNIQUE (object_id, mode, sequence);
