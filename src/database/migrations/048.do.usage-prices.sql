-- Usage that is sold in arrears.

-- What a product asks for usage of a feature beyond its allowance. Never changed but for its status.
CREATE TABLE usage_prices (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  product_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  currency text NOT NULL,
  model text NOT NULL,
  -- What the model needs: unit amounts in 10^-12 of the major unit, other amounts in the smallest coin, quantities scaled like the meter's; all
  -- of them as text, since JSON numbers are not exact.
  tariff jsonb NOT NULL,
  -- In the smallest coin, for each span.
  minimum_amount bigint,
  maximum_amount bigint,
  status text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT usage_prices_pkey PRIMARY KEY (id),
  CONSTRAINT usage_prices_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT usage_prices_product_id_fkey FOREIGN KEY (product_id) REFERENCES products(id),
  CONSTRAINT usage_prices_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters(id),
  CONSTRAINT usage_prices_model_known CHECK (model IN ('per_unit', 'graduated', 'volume', 'package')),
  CONSTRAINT usage_prices_status_known CHECK (status IN ('active', 'archived')),
  CONSTRAINT usage_prices_minimum_fits CHECK (minimum_amount >= 0 AND maximum_amount >= 0 AND (minimum_amount <= maximum_amount) IS NOT FALSE)
);
CREATE UNIQUE INDEX usage_prices_active_once ON usage_prices (product_id, meter_id, currency) WHERE status = 'active';
CREATE INDEX usage_prices_of_product ON usage_prices (product_id, id);
CREATE INDEX usage_prices_of_meter ON usage_prices (meter_id) WHERE status = 'active';

-- A stretch of time in which a customer's usage of a meter is sold by one price. Aggregates are those of its period's events before it begins and
-- before it ends; what is past the limit in the one and not in the other is billed.
CREATE TABLE usage_spans (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  usage_price_id uuid NOT NULL,
  -- The account of its period.
  account_id uuid NOT NULL,
  started_at timestamptz NOT NULL,
  -- Null while it runs.
  ended_at timestamptz,
  -- With which it ended. Null: unlimited, or it runs.
  quantity_limit bigint,
  opening_aggregate bigint NOT NULL,
  opening_latest_at timestamptz,
  opening_latest_id uuid,
  closing_aggregate bigint,
  closing_latest_at timestamptz,
  closing_latest_id uuid,
  -- All spans of one line of an invoice have the same.
  billed_as uuid,
  -- Whether anything can still happen to it: what the actor keeps in memory.
  live boolean NOT NULL,
  CONSTRAINT usage_spans_pkey PRIMARY KEY (slot, id),
  CONSTRAINT usage_spans_has_length CHECK (ended_at > started_at),
  CONSTRAINT usage_spans_closed_is_counted CHECK ((ended_at IS NULL) = (closing_aggregate IS NULL)),
  CONSTRAINT usage_spans_billed_is_closed CHECK (billed_as IS NULL OR ended_at IS NOT NULL)
) WITH (fillfactor=70);
CREATE INDEX usage_spans_live ON usage_spans (slot, customer_id) WHERE live;
CREATE INDEX usage_spans_of_subscription ON usage_spans (subscription_id, started_at);
CREATE INDEX usage_spans_billed_as ON usage_spans (billed_as) WHERE billed_as IS NOT NULL;

-- What a customer's subscriptions share.
CREATE TABLE billing_accounts (
  slot smallint NOT NULL,
  customer_id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- What ended subscriptions left, by currency.
  credit jsonb NOT NULL,
  spend_cap jsonb,
  CONSTRAINT billing_accounts_pkey PRIMARY KEY (slot, customer_id)
) WITH (fillfactor=70);

ALTER TABLE grants ADD COLUMN usage_price_id uuid, ADD COLUMN charges boolean NOT NULL DEFAULT false;

-- Usage that was billed, as long as an event of it may still come.
ALTER TABLE subscriptions ADD COLUMN usage jsonb NOT NULL DEFAULT '[]';

ALTER TABLE invoices DROP CONSTRAINT invoices_reason_known, ADD CONSTRAINT invoices_reason_known CHECK
  (billing_reason IN ('purchase', 'subscription_create', 'subscription_cycle', 'subscription_update', 'subscription_resume', 'usage', 'manual'));
