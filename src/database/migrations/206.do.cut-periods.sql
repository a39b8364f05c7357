-- What was used of an allowance in periods that a change to another interval has cut short, and when each would have ended: it counts
-- until then. Null: nothing.
ALTER TABLE grants ADD COLUMN cut jsonb;

-- In place of flush_grants, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_cut_grants AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, source text, amount bigint, used bigint,
  spent bigint, cut jsonb, effective_at timestamptz, priority integer, overage_allowed boolean, usage_price_id uuid, charges boolean,
  cycle_anchor timestamptz, reset_interval text, reset_count integer, cycle_zone text, rollover_max bigint, rollover_periods integer,
  started boolean, expires_at timestamptz, renews_at timestamptz, suspended text, is_boolean boolean, product_id uuid,
  subscription_id uuid, reason text, created_at timestamptz, ended_at timestamptz, ended_how text
);
