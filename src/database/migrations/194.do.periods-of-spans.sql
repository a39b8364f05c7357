-- A usage price sells in one period of its meter at most once, however often a change cut it: what it asks at least is for its share
-- of that period.
ALTER TABLE usage_spans
  -- Its period, as it was to be when the span opened. Null of spans of before: they are whole.
  ADD COLUMN period_start timestamptz,
  ADD COLUMN period_end timestamptz;

-- In place of flush_usage_spans, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_sold_spans AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, subscription_id uuid,
  usage_price_id uuid, account_id uuid, period_start timestamptz, period_end timestamptz, started_at timestamptz,
  ended_at timestamptz, quantity_limit bigint, opening_aggregate bigint, opening_latest_at timestamptz,
  opening_latest_id uuid, closing_aggregate bigint, closing_latest_at timestamptz, closing_latest_id uuid,
  billed_as uuid, live boolean
);
