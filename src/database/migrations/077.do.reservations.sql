-- Units of a meter that are held for work whose cost is learned afterwards. Each is written with the flushes of its customer's actor.
CREATE TABLE reservations (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  -- The account of the period in which it was made.
  account_id uuid NOT NULL,
  -- The pending transfer that holds its units: another one after each extension of the amount.
  hold_id uuid NOT NULL,
  extensions integer NOT NULL,
  amount bigint NOT NULL,
  status text NOT NULL,
  -- What the work came to; it may be above the amount.
  committed bigint NOT NULL,
  -- Committed after it had expired.
  late boolean NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  resolved_at timestamptz,
  -- What was left when it was committed or released, for a repeated call; null for no limit.
  balance_after bigint,
  fingerprint bigint,
  -- Which grants pay for it, as of the last checkpoint.
  parts jsonb NOT NULL,
  CONSTRAINT reservations_pkey PRIMARY KEY (slot, id),
  CONSTRAINT reservations_status_known CHECK (status IN ('open', 'committed', 'released', 'expired')),
  CONSTRAINT reservations_amount_positive CHECK (amount > 0),
  CONSTRAINT reservations_committed_is_used CHECK (committed >= 0 AND (committed = 0 OR status = 'committed')),
  CONSTRAINT reservations_late_is_committed CHECK (NOT late OR status = 'committed'),
  CONSTRAINT reservations_resolved_at_a_time CHECK ((status = 'open') = (resolved_at IS NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX reservations_by_id ON reservations (id);
CREATE INDEX reservations_open ON reservations (customer_id, meter_id) WHERE status = 'open';

CREATE TYPE flush_reservations AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, account_id uuid, hold_id uuid,
  extensions integer, amount bigint, status text, committed bigint, late boolean, created_at timestamptz, expires_at timestamptz,
  resolved_at timestamptz, balance_after bigint, fingerprint bigint, parts jsonb
);

-- How many events a transfer of usage stands for; null: one, or one less by a correction.
ALTER TABLE transfers ADD COLUMN events bigint;
ALTER TABLE transfers_archive ADD COLUMN events bigint;
-- A commit on a meter that counts is as many events as its units. The table has what waits to be added to the bins.
ALTER TABLE usage_deltas ALTER COLUMN events TYPE bigint[];

-- A reservation that was refused is a denial too.
ALTER TABLE denials DROP CONSTRAINT denials_kind_known;
ALTER TABLE denials ADD CONSTRAINT denials_kind_known CHECK (kind IN ('check', 'consume', 'track', 'reserve')) NOT VALID;
ALTER TABLE denials VALIDATE CONSTRAINT denials_kind_known;
