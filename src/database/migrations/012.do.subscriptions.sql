-- Subscriptions. The customer's actor writes them, in its flushes.

CREATE TABLE subscriptions (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  bundle_id uuid NOT NULL,
  product_id uuid NOT NULL,
  price_id uuid NOT NULL,
  plan_name text NOT NULL,
  price_list_name text NOT NULL,
  unit_amount bigint NOT NULL,
  currency text NOT NULL,
  interval text NOT NULL,
  interval_count integer NOT NULL,
  quantity integer NOT NULL,
  payment_link_id uuid,
  payment_link_token text,
  client_reference_id text,
  metadata jsonb NOT NULL,
  status text NOT NULL,
  overdue text NOT NULL,
  -- Period n runs from anchor + n intervals, in the zone; n is -1 in a trial.
  anchor_at timestamptz NOT NULL,
  zone text NOT NULL,
  period_index integer NOT NULL,
  period_start timestamptz NOT NULL,
  period_end timestamptz NOT NULL,
  -- What a whole one of the current period costs the customer.
  period_price bigint NOT NULL,
  trial_end timestamptz,
  cancel_at timestamptz,
  canceled_at timestamptz,
  ended_at timestamptz,
  paused_at timestamptz,
  resumes_at timestamptz,
  keep_invoices boolean NOT NULL,
  -- Unpaid invoices, what waits for a payment, what is owed to the customer.
  open jsonb NOT NULL,
  waiting jsonb,
  credit bigint NOT NULL,
  sequence bigint NOT NULL,
  event_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  -- Whether anything can still happen to it: what the actor keeps in memory.
  live boolean NOT NULL,
  PRIMARY KEY (slot, id),
  CONSTRAINT subscriptions_status_known CHECK (status IN ('active', 'paused', 'canceled')),
  CONSTRAINT subscriptions_overdue_known CHECK (overdue IN ('clear', 'warning', 'blocked')),
  CONSTRAINT subscriptions_period_has_length CHECK (period_end > period_start),
  CONSTRAINT subscriptions_end_is_final CHECK ((status = 'canceled') = (ended_at IS NOT NULL)),
  CONSTRAINT subscriptions_credit_not_negative CHECK (credit >= 0)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX subscriptions_by_id ON subscriptions (id);
CREATE INDEX subscriptions_live ON subscriptions (slot, customer_id) WHERE live;
CREATE INDEX subscriptions_of_customer ON subscriptions (customer_id, id);
CREATE INDEX subscriptions_listed ON subscriptions (organisation_id, mode, id);

ALTER TABLE alarms DROP CONSTRAINT alarms_kind_known;
ALTER TABLE alarms ADD CONSTRAINT alarms_kind_known CHECK (kind IN ('meter', 'payment', 'subscription'));

-- What is owed may follow from a payment or from a subscription.
ALTER TABLE followups
  ALTER COLUMN payment_id DROP NOT NULL,
  ADD COLUMN subscription_id uuid,
  ADD COLUMN customer_id uuid,
  ADD CONSTRAINT followups_one_subject CHECK (num_nonnulls(payment_id, subscription_id) = 1);
CREATE INDEX followups_of_subscription ON followups (subscription_id) WHERE subscription_id IS NOT NULL;

-- The ids of what is charged by itself are derived: they do not ascend with time.
DROP INDEX payments_listed, payments_of_checkout, payments_of_customer;
CREATE INDEX payments_listed ON payments (organisation_id, mode, created_at, id);
CREATE INDEX payments_of_checkout ON payments (checkout_id, created_at, id) WHERE checkout_id IS NOT NULL;
CREATE INDEX payments_of_customer ON payments (customer_id, created_at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX payments_of_subscription ON payments (subscription_id, created_at, id) WHERE subscription_id IS NOT NULL;
CREATE INDEX payments_of_invoice ON payments (invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX invoices_of_subscription ON invoices (subscription_id, created_at) WHERE subscription_id IS NOT NULL;

-- A recurring checkout starts a subscription; its terms are those of the price that was paid.
ALTER TABLE checkouts ADD COLUMN subscription_id uuid;
