-- Usage may be sold before and after a change in one millisecond: spans of it have an order, and one may have no length. The new constraint
-- says less than the old one, so no row is looked at.
ALTER TABLE usage_spans ADD COLUMN place smallint NOT NULL DEFAULT 0;
-- The place of its end among the boundaries of that millisecond (stretch_marks). Null of spans of before.
ALTER TABLE usage_spans ADD COLUMN ended_in smallint;
ALTER TABLE usage_spans DROP CONSTRAINT usage_spans_has_length;
ALTER TABLE usage_spans ADD CONSTRAINT usage_spans_ends_after_start CHECK (ended_at >= started_at) NOT VALID;

-- In place of flush_sold_spans, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_placed_spans AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, subscription_id uuid, usage_price_id uuid,
  account_id uuid, period_start timestamptz, period_end timestamptz, started_at timestamptz, place smallint, ended_at timestamptz, ended_in smallint,
  quantity_limit bigint, opening_aggregate bigint, opening_latest_at timestamptz, opening_latest_id uuid, closing_aggregate bigint,
  closing_latest_at timestamptz, closing_latest_id uuid, billed_as uuid, live boolean
);
