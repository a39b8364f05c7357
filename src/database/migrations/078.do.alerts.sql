-- Alerts: thresholds of a meter that a merchant wants to hear of.
CREATE TABLE alerts (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  meter_id uuid NOT NULL REFERENCES meters,
  -- Null: for each customer.
  customer_id uuid REFERENCES customers,
  type text NOT NULL,
  -- Scaled: a quantity like the meter's, a percentage with four decimals.
  threshold bigint NOT NULL,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  -- By the wall clock: when the customers are to be looked at next, or the actor of the customer is to be told that it was deleted.
  -- Null: that is done.
  look_at timestamptz,
  -- Of one for each customer: the last that was looked at.
  looked_through uuid,
  CONSTRAINT alerts_type_known CHECK (type IN ('usage', 'usage_percentage', 'remaining', 'remaining_percentage')),
  CONSTRAINT alerts_threshold_not_negative CHECK (threshold >= 0)
);
CREATE UNIQUE INDEX alerts_once ON alerts (meter_id, customer_id, type, threshold) NULLS NOT DISTINCT WHERE deleted_at IS NULL;
CREATE INDEX alerts_listed ON alerts (organisation_id, mode, id) WHERE deleted_at IS NULL;
CREATE INDEX alerts_of_customer ON alerts (customer_id, id) WHERE customer_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX alerts_for_all ON alerts (organisation_id) WHERE customer_id IS NULL AND deleted_at IS NULL;
CREATE INDEX alerts_to_look_at ON alerts (look_at) WHERE look_at IS NOT NULL;

-- The alerts that have fired and were not taken back: of each its id, and the id of the event that told of it or null. Written by the
-- flush of the usage that reached them.
ALTER TABLE customer_meters ADD COLUMN fired jsonb NOT NULL DEFAULT '[]';

-- In place of flush_customer_meters, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_meter_states AS (
  slot smallint, customer_id uuid, meter_id uuid, period_start timestamptz, period_end timestamptz, allocated bigint,
  first_grant_at timestamptz, ever_expired boolean, exhausted boolean, sequence bigint, event_at timestamptz, fired jsonb
);
