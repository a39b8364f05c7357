-- Rows that no actor governs: each has a small repository in src/records.

CREATE TABLE groups (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE organisations (
  id uuid PRIMARY KEY,
  group_id uuid REFERENCES groups,
  name text NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TYPE mode AS ENUM ('test', 'live');

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  organisation_id uuid REFERENCES organisations,
  group_id uuid REFERENCES groups,
  mode mode NOT NULL,
  -- SHA-256 of the whole key. The key itself is shown once and never stored.
  hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  CONSTRAINT api_keys_hash_once UNIQUE (hash),
  CONSTRAINT api_keys_belong_to_one CHECK (num_nonnulls(organisation_id, group_id) = 1)
);
CREATE INDEX api_keys_of_organisation ON api_keys (organisation_id);

CREATE TYPE aggregation AS ENUM ('sum', 'count', 'max', 'last', 'unique');

CREATE TABLE meters (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  description text,
  event_name text NOT NULL,
  aggregation aggregation NOT NULL,
  value_property text,
  unique_property text,
  unit text,
  scale smallint NOT NULL,
  metadata jsonb NOT NULL,
  status text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT meters_scale_in_range CHECK (scale BETWEEN 0 AND 9),
  CONSTRAINT meters_status_known CHECK (status IN ('active', 'archived')),
  CONSTRAINT meters_unique_has_property CHECK (aggregation <> 'unique' OR unique_property IS NOT NULL)
);
-- A deleted meter keeps its history and gives its slug back.
CREATE UNIQUE INDEX meters_slug_once ON meters (organisation_id, mode, slug) WHERE deleted_at IS NULL;
CREATE INDEX meters_by_event_name ON meters (organisation_id, mode, event_name) WHERE deleted_at IS NULL;

CREATE TABLE customers (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  external_customer_id text,
  email text,
  name text,
  metadata jsonb NOT NULL,
  event_sequence bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT customers_external_id_once UNIQUE (organisation_id, mode, external_customer_id)
);
CREATE INDEX customers_listed ON customers (organisation_id, mode, id);

-- Answers of requests that came with an Idempotency-Key and whose effect is not a transfer (decisions 4).
CREATE TABLE idempotency (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  operation text NOT NULL,
  key_hash bytea NOT NULL,
  request_hash bytea NOT NULL,
  status smallint NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT idempotency_once PRIMARY KEY (organisation_id, mode, operation, key_hash)
);

-- The ledger. Every table that a flush writes carries its slot. See ledger/README.md for the invariants.

CREATE TABLE nodes (
  id smallint PRIMARY KEY,
  -- Who holds the seat now: one value for each start of a process.
  holder uuid NOT NULL,
  address text,
  epoch bigint NOT NULL,
  seq bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT nodes_id_positive CHECK (id > 0)
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);

CREATE TABLE slots (
  slot smallint PRIMARY KEY,
  node smallint REFERENCES nodes,
  CONSTRAINT slots_in_range CHECK (slot BETWEEN 0 AND 1023)
);
INSERT INTO slots (slot) SELECT generate_series(0, 1023);

CREATE TYPE account_kind AS ENUM ('meter', 'usage', 'grants');

CREATE TABLE accounts (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  customer_id uuid,
  meter_id uuid NOT NULL,
  debits_posted bigint NOT NULL,
  debits_pending bigint NOT NULL,
  credits_posted bigint NOT NULL,
  credits_pending bigint NOT NULL,
  aggregate bigint NOT NULL,
  latest_at timestamptz,
  latest_id uuid,
  period_start timestamptz,
  period_end timestamptz,
  updated_at timestamptz,
  kind account_kind NOT NULL,
  mode mode NOT NULL,
  slot smallint NOT NULL,
  -- Whether debits, pending ones too, may not exceed posted credits: the ceiling, held here whatever the actor believed.
  capped boolean NOT NULL,
  PRIMARY KEY (slot, id),
  CONSTRAINT accounts_totals_not_negative
    -- Of the other sides only the sum over all nodes has a sign: one node may take back what another one gave.
    CHECK (kind <> 'meter'
      OR (debits_posted >= 0 AND debits_pending >= 0 AND credits_posted >= 0 AND credits_pending >= 0)),
  CONSTRAINT accounts_within_ceiling CHECK (NOT capped OR debits_posted + debits_pending <= credits_posted),
  CONSTRAINT accounts_consumption_is_floored
    CHECK (kind <> 'meter' OR debits_posted = greatest(aggregate, 0))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);
CREATE INDEX accounts_of_customer ON accounts (slot, customer_id, meter_id, period_start)
  WHERE customer_id IS NOT NULL;

CREATE TYPE transfer_kind AS ENUM ('single', 'reverse', 'pending', 'post', 'void', 'refused');
CREATE TYPE reason AS ENUM ('ok', 'unlimited', 'overage_allowed', 'boolean', 'insufficient_balance', 'not_entitled',
  'subscription_paused', 'blocked', 'expired');

CREATE TABLE transfers (
  -- Derived from the caller's idempotency key where there is one: this constraint is what makes a key count once. It spans all
  -- slots, because a key's scope is the organisation and mode, not the customer (decisions 4).
  id uuid NOT NULL,
  debit uuid NOT NULL,
  credit uuid NOT NULL,
  amount bigint NOT NULL,
  at timestamptz NOT NULL,
  -- Usage only: the caller's event and the answer that it got.
  value bigint,
  event_at timestamptz,
  consumed_after bigint,
  limit_after bigint,
  fingerprint bigint,
  hold uuid,
  kind transfer_kind NOT NULL,
  reason reason,
  slot smallint NOT NULL,
  node smallint NOT NULL,
  -- Admitted only because it fits: see transfers_within_limit.
  guarded boolean NOT NULL,
  metadata jsonb,
  -- The rest of the answer, where a retry must get it to the byte.
  answer jsonb,
  CONSTRAINT transfers_id_once PRIMARY KEY (id),
  CONSTRAINT transfers_within_limit CHECK (NOT guarded OR consumed_after <= coalesce(limit_after, consumed_after)),
  CONSTRAINT transfers_two_sides CHECK (debit <> credit),
  CONSTRAINT transfers_amount_not_negative CHECK (amount >= 0),
  CONSTRAINT transfers_resolve_a_hold CHECK ((kind IN ('post', 'void')) = (hold IS NOT NULL)),
  CONSTRAINT transfers_usage_is_answered CHECK ((value IS NULL) = (reason IS NULL))
) WITH (autovacuum_vacuum_insert_scale_factor = 0.5);
-- A hold resolves at most once, whoever tries.
CREATE UNIQUE INDEX transfers_hold_once ON transfers (hold) WHERE hold IS NOT NULL;

-- What the actor of a customer knows of one meter besides the accounts' totals.
CREATE TABLE customer_meters (
  slot smallint NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  period_start timestamptz NOT NULL,
  period_end timestamptz,
  cycle_anchor timestamptz,
  cycle_interval text,
  allocated bigint NOT NULL,
  first_grant_at timestamptz,
  ever_expired boolean NOT NULL,
  exhausted boolean NOT NULL,
  sequence bigint NOT NULL,
  event_at timestamptz NOT NULL,
  PRIMARY KEY (slot, customer_id, meter_id)
) WITH (fillfactor = 70);

CREATE TABLE grants (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  source text NOT NULL,
  amount bigint,
  used bigint NOT NULL,
  effective_at timestamptz NOT NULL,
  expires_at timestamptz,
  priority integer NOT NULL,
  overage_allowed boolean NOT NULL,
  reset_interval text,
  rollover_max bigint,
  rollover_periods integer,
  started boolean NOT NULL,
  product_id uuid,
  subscription_id uuid,
  reason text,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  ended_how text,
  PRIMARY KEY (slot, id),
  CONSTRAINT grants_used_within_amount CHECK (used >= 0 AND (amount IS NULL OR used <= amount)),
  CONSTRAINT grants_end_has_reason CHECK ((ended_at IS NULL) = (ended_how IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX grants_live ON grants (slot, customer_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX grants_by_id ON grants (id);
CREATE INDEX grants_of_meter ON grants (meter_id) WHERE ended_at IS NULL;

-- Members that a unique meter has counted in a period.
CREATE TABLE members (
  slot smallint NOT NULL,
  account_id uuid NOT NULL,
  member bigint NOT NULL,
  PRIMARY KEY (slot, account_id, member)
);

-- What time alone will change next, one row for each subject of an actor.
CREATE TABLE alarms (
  slot smallint NOT NULL,
  actor_id uuid NOT NULL,
  subject_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (slot, actor_id, subject_id)
);
CREATE INDEX alarms_due ON alarms (due_at);

-- The outbox: written by the flush or transaction that made it true.
CREATE TABLE events (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  type text NOT NULL,
  object_type text NOT NULL,
  object_id uuid NOT NULL,
  account_id uuid,
  sequence bigint NOT NULL,
  at timestamptz NOT NULL,
  data jsonb NOT NULL,
  CONSTRAINT events_sequence_once UNIQUE (object_id, sequence)
);

-- Fails the statement that calls it: a flush that would break an invariant leaves nothing behind.
CREATE FUNCTION refuse_flush(message text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', message USING ERRCODE = 'TL001';
END $$;
