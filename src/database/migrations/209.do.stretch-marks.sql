-- What a period had counted before something changed what may be used: by these an event that comes late is settled as one that came
-- in time. Of periods before this release nothing is kept: what is late in them counts as it did.
CREATE TABLE stretch_marks (
  slot smallint NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  -- Of the boundary: the period had counted `aggregate` before it.
  started_at timestamptz NOT NULL,
  -- Among the boundaries of this millisecond, where something was used between them.
  place integer NOT NULL,
  account_id uuid NOT NULL,
  aggregate bigint NOT NULL,
  -- At the start of a period: what was used before of the grants that go on. Null: nothing.
  carried jsonb,
  PRIMARY KEY (slot, customer_id, meter_id, started_at, place, account_id)
);

-- Since when the stretch of now runs, and what its period had counted before. Null: since the period began.
ALTER TABLE customer_meters ADD COLUMN stretch_start timestamptz, ADD COLUMN stretch_place integer,
  ADD COLUMN stretch_aggregate bigint;

-- When it was credited, and the places of that and of its end among the boundaries of their milliseconds. Null: not known.
ALTER TABLE grants ADD COLUMN started_at timestamptz, ADD COLUMN started_in integer, ADD COLUMN ended_in integer;
ALTER TABLE reservations ADD COLUMN place integer;

CREATE TYPE flush_stretch_marks AS (
  slot smallint, customer_id uuid, meter_id uuid, started_at timestamptz, place integer, account_id uuid, aggregate bigint, carried jsonb
);

-- In place of flush_meter_states, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_settled_meters AS (
  slot smallint, customer_id uuid, meter_id uuid, period_start timestamptz, period_end timestamptz, allocated bigint,
  stretch_start timestamptz, stretch_place integer, stretch_aggregate bigint, first_grant_at timestamptz, ever_expired boolean, exhausted boolean,
  sequence bigint, event_at timestamptz, fired jsonb
);

-- In place of flush_cut_grants.
CREATE TYPE flush_placed_grants AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, source text, amount bigint, used bigint,
  spent bigint, cut jsonb, started_at timestamptz, started_in integer, ended_in integer, effective_at timestamptz, priority integer, overage_allowed boolean,
  usage_price_id uuid, charges boolean, cycle_anchor timestamptz, reset_interval text, reset_count integer, cycle_zone text,
  rollover_max bigint, rollover_periods integer, started boolean, expires_at timestamptz, renews_at timestamptz, suspended text,
  is_boolean boolean, product_id uuid, subscription_id uuid, reason text, created_at timestamptz, ended_at timestamptz, ended_how text
);

-- In place of flush_holds.
CREATE TYPE flush_placed_holds AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, account_id uuid, member_account_id uuid,
  hold_id uuid, extensions integer, amount bigint, status text, committed bigint, late boolean, created_at timestamptz, place integer,
  expires_at timestamptz, resolved_at timestamptz, balance_after bigint, fingerprint bigint, paid_by jsonb, parts jsonb
);
