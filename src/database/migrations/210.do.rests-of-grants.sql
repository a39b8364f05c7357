-- When a subscription's grants were suspended, as moments: while they are they cover nothing, also of what is settled late. Suspensions
-- that ended before this release are not known; one that goes on counts since it began for what is settled from now on.
ALTER TABLE grants ADD COLUMN rests jsonb;

-- What a plan has covered of usage of before it was as large: it was below 0 in `spent`, which had no place for it beside another one's use.
ALTER TABLE grants ADD COLUMN grown bigint NOT NULL DEFAULT 0;

-- In place of flush_placed_grants, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_resting_grants AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, source text, amount bigint, used bigint,
  spent bigint, grown bigint, cut jsonb, rests jsonb, started_at timestamptz, started_in integer, ended_in integer, effective_at timestamptz, priority integer, overage_allowed boolean,
  usage_price_id uuid, charges boolean, cycle_anchor timestamptz, reset_interval text, reset_count integer, cycle_zone text,
  rollover_max bigint, rollover_periods integer, started boolean, expires_at timestamptz, renews_at timestamptz, suspended text,
  is_boolean boolean, product_id uuid, subscription_id uuid, reason text, created_at timestamptz, ended_at timestamptz, ended_how text
);
