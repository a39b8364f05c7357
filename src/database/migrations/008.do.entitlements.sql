-- What a product gives of a feature. A subscription of the product turns each into a grant; the ledger keeps those by itself.
CREATE TABLE entitlements (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  product_id uuid NOT NULL REFERENCES products,
  meter_id uuid NOT NULL REFERENCES meters,
  type text NOT NULL,
  -- Scaled like the meter's quantities. Null: unlimited, or a feature that one has or has not.
  amount bigint,
  reset_interval text NOT NULL,
  overage_allowed boolean NOT NULL,
  rollover_max bigint,
  rollover_periods integer,
  priority integer NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT entitlements_feature_once UNIQUE (product_id, meter_id),
  CONSTRAINT entitlements_type_known CHECK (type IN ('metered', 'boolean')),
  CONSTRAINT entitlements_reset_known
    CHECK (reset_interval IN ('never', 'hour', 'day', 'week', 'month', 'quarter', 'year')),
  CONSTRAINT entitlements_amount_not_negative CHECK (amount >= 0),
  CONSTRAINT entitlements_boolean_is_plain
    CHECK (type = 'metered' OR (amount IS NULL AND reset_interval = 'never' AND NOT overage_allowed)),
  CONSTRAINT entitlements_rollover_whole CHECK ((rollover_max IS NULL) = (rollover_periods IS NULL)),
  CONSTRAINT entitlements_rollover_of_what_resets
    CHECK (rollover_max IS NULL OR (amount IS NOT NULL AND reset_interval <> 'never'))
);
CREATE INDEX entitlements_of_meter ON entitlements (meter_id);
