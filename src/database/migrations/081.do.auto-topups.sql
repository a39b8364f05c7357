-- Automatic top-ups: a meter of a customer that is topped up once its level is below a threshold.

CREATE TABLE auto_topups (
  slot smallint NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- Null: it was removed. The row stays, as its number goes into the ids of payments.
  settings jsonb,
  zone text NOT NULL,
  -- Charges that were ordered, ever, and those of them that were captured.
  ordered integer NOT NULL,
  captures integer NOT NULL,
  -- The one that is under way.
  charge jsonb,
  -- In a row, and when it is tried again.
  declines integer NOT NULL,
  retry_at timestamptz,
  -- Whether another method was stored since the charge was ordered.
  again boolean NOT NULL,
  refused text,
  limited_until timestamptz,
  method_id uuid,
  last_payment_id uuid,
  -- Captures in the day, the week and the month of the last one.
  captured jsonb,
  updated_at timestamptz NOT NULL,
  CONSTRAINT auto_topups_pkey PRIMARY KEY (slot, customer_id, meter_id),
  CONSTRAINT auto_topups_refused_known CHECK (refused IN ('declined', 'authentication_required', 'no_payment_method')),
  CONSTRAINT auto_topups_counted CHECK (captures >= 0 AND captures <= ordered AND declines >= 0)
) WITH (fillfactor=70);
CREATE INDEX auto_topups_of_customer ON auto_topups (customer_id);
CREATE INDEX auto_topups_of_meter ON auto_topups (meter_id);

CREATE TYPE flush_auto_topups AS (
  slot smallint, customer_id uuid, meter_id uuid, organisation_id uuid, mode mode, settings jsonb, zone text, ordered integer,
  captures integer, charge jsonb, declines integer, retry_at timestamptz, again boolean, refused text, limited_until timestamptz,
  method_id uuid, last_payment_id uuid, captured jsonb, updated_at timestamptz
);

-- The meter that it tops up by itself. Its grant has the same id.
ALTER TABLE payments ADD COLUMN meter_id uuid;
CREATE INDEX payments_of_meter ON payments (customer_id, meter_id) WHERE meter_id IS NOT NULL;

CREATE TYPE new_payments_2 AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, status text, amount bigint, currency text, transaction_type text,
  checkout_id uuid, checkout_token text, product_id uuid, subscription_id uuid, meter_id uuid, invoice_id uuid, customer_id uuid,
  customer_email text, customer_name text, external_customer_id text, client_reference_id text, metadata jsonb, attempt integer,
  processor text, asks integer, ask_at timestamptz, sequence bigint, event_at timestamptz, created_at timestamptz
);

-- Of a payment, of a subscription, or of a customer alone.
ALTER TABLE followups DROP CONSTRAINT followups_one_subject, ADD CONSTRAINT followups_one_subject CHECK
  (num_nonnulls(payment_id, subscription_id) <= 1 AND coalesce(payment_id, subscription_id, customer_id) IS NOT NULL);
CREATE INDEX followups_of_customer ON followups (customer_id) WHERE payment_id IS NULL AND subscription_id IS NULL;

ALTER TABLE invoices DROP CONSTRAINT invoices_reason_known, ADD CONSTRAINT invoices_reason_known CHECK
  (billing_reason IN ('purchase', 'subscription_create', 'subscription_cycle', 'subscription_update', 'subscription_resume', 'usage', 'manual',
    'auto_topup'));
