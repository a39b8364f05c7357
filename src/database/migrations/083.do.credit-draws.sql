-- Credits: periods of members that a pool pays for, and what a pool holds for what is reserved of them. Written with the flushes of
-- the customer's actor.
CREATE TABLE pooled_periods (
  slot smallint NOT NULL,
  -- The account of the member's period.
  account_id uuid NOT NULL,
  -- Scaled credits for a scaled unit beyond the period's limit.
  rate bigint NOT NULL,
  CONSTRAINT pooled_periods_pkey PRIMARY KEY (slot, account_id),
  CONSTRAINT pooled_periods_rate_positive CHECK (rate > 0)
);
CREATE TYPE flush_pooled_periods AS (slot smallint, account_id uuid, rate bigint);

-- The account of a member's period, where it is what the pool holds for it.
ALTER TABLE reservations ADD COLUMN member_account_id uuid;
-- Of a member: what was to pay for it.
ALTER TABLE reservations ADD COLUMN paid_by jsonb;

-- In place of flush_reservations, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_holds AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, account_id uuid, member_account_id uuid,
  hold_id uuid, extensions integer, amount bigint, status text, committed bigint, late boolean, created_at timestamptz,
  expires_at timestamptz, resolved_at timestamptz, balance_after bigint, fingerprint bigint, paid_by jsonb, parts jsonb
);
