-- What is sold.

CREATE TABLE products (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  status text NOT NULL,
  metadata jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Over all organisations: a buy link names its product by the slug alone.
  CONSTRAINT products_slug_once UNIQUE (slug),
  CONSTRAINT products_status_known CHECK (status IN ('active', 'archived', 'unpublished'))
);
CREATE INDEX products_listed ON products (organisation_id, mode, id);

CREATE TABLE prices (
  id uuid PRIMARY KEY,
  product_id uuid NOT NULL REFERENCES products,
  -- In units of the currency's smallest coin, here and below.
  amount bigint NOT NULL,
  currency text NOT NULL,
  type text NOT NULL,
  interval text,
  interval_count integer,
  trial_days integer,
  status text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT prices_amount_not_negative CHECK (amount >= 0),
  CONSTRAINT prices_status_known CHECK (status IN ('active', 'archived')),
  CONSTRAINT prices_recur_by_interval
    CHECK ((type = 'recurring') = (interval IS NOT NULL) AND (interval IS NULL) = (interval_count IS NULL))
);
CREATE INDEX prices_of_product ON prices (product_id);

CREATE TABLE discounts (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  code text NOT NULL,
  percent_off numeric,
  amount_off bigint,
  currency text,
  max_redemptions integer,
  -- Payments that were made with it or are under way.
  redemptions integer NOT NULL,
  expires_at timestamptz,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT discounts_one_kind CHECK (num_nonnulls(percent_off, amount_off) = 1),
  CONSTRAINT discounts_percent_in_range CHECK (percent_off > 0 AND percent_off <= 100),
  CONSTRAINT discounts_amount_has_currency CHECK ((amount_off IS NULL) = (currency IS NULL) AND amount_off > 0),
  CONSTRAINT discounts_within_redemptions CHECK (redemptions >= 0 AND redemptions <= coalesce(max_redemptions, redemptions))
);
-- A buyer types it: case does not matter.
CREATE UNIQUE INDEX discounts_code_once ON discounts (organisation_id, mode, lower(code)) WHERE deleted_at IS NULL;

-- A buyer is matched to a customer by its address.
CREATE INDEX customers_by_email ON customers (organisation_id, mode, lower(email));

-- Sessions on the hosted page.
CREATE TABLE checkouts (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  token text NOT NULL,
  product_id uuid NOT NULL REFERENCES products,
  -- A buy link leaves who buys to the page.
  source text NOT NULL,
  type text NOT NULL,
  status text NOT NULL,
  customer_email text,
  customer_name text,
  external_customer_id text,
  client_reference_id text,
  metadata jsonb NOT NULL,
  success_url text,
  cancel_url text,
  discount_id uuid REFERENCES discounts,
  price_id uuid NOT NULL REFERENCES prices,
  -- Whether the merchant chose the currency, so that the buyer may not.
  currency_pinned boolean NOT NULL,
  subtotal bigint NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  -- The attempt under way, or the one that paid.
  payment_id uuid,
  attempts integer NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  paid_at timestamptz,
  CONSTRAINT checkouts_token_once UNIQUE (token),
  CONSTRAINT checkouts_status_known CHECK (status IN ('active', 'processing', 'paid', 'expired', 'canceled')),
  CONSTRAINT checkouts_source_known CHECK (source IN ('api', 'buy_link')),
  CONSTRAINT checkouts_paid_by_payment CHECK ((status = 'paid') = (paid_at IS NOT NULL) AND (status <> 'paid' OR payment_id IS NOT NULL)),
  CONSTRAINT checkouts_processing_a_payment CHECK (status <> 'processing' OR payment_id IS NOT NULL),
  CONSTRAINT checkouts_amount_within_subtotal CHECK (amount >= 0 AND amount <= subtotal)
);
CREATE INDEX checkouts_listed ON checkouts (organisation_id, mode, id);

-- The numbers of an organisation's invoices: no gap, so a row and not a sequence.
CREATE TABLE invoice_counters (
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (organisation_id, mode)
);

CREATE TABLE invoices (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  -- Null until it is finalised.
  number text,
  status text NOT NULL,
  currency text NOT NULL,
  subtotal bigint NOT NULL,
  discount_total bigint NOT NULL,
  tax_total bigint NOT NULL,
  total bigint NOT NULL,
  amount_paid bigint NOT NULL,
  amount_refunded bigint NOT NULL,
  billing_reason text NOT NULL,
  customer_id uuid,
  subscription_id uuid,
  checkout_id uuid,
  payment_id uuid,
  period_start timestamptz,
  period_end timestamptz,
  issued_at timestamptz,
  due_at timestamptz,
  paid_at timestamptz,
  lines jsonb NOT NULL,
  -- As they were when it was issued.
  seller jsonb NOT NULL,
  buyer jsonb NOT NULL,
  event_sequence bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT invoices_number_once UNIQUE (organisation_id, mode, number),
  CONSTRAINT invoices_status_known CHECK (status IN ('draft', 'open', 'paid', 'void', 'uncollectible')),
  CONSTRAINT invoices_add_up CHECK (total = subtotal - discount_total + tax_total AND total >= 0),
  CONSTRAINT invoices_refunds_within_paid CHECK (amount_refunded >= 0 AND amount_refunded <= amount_paid)
);
-- Their ids follow from what they bill, so they do not ascend.
CREATE INDEX invoices_listed ON invoices (organisation_id, mode, created_at, id);
CREATE INDEX invoices_of_payment ON invoices (payment_id);
CREATE INDEX invoices_of_customer ON invoices (customer_id, created_at) WHERE customer_id IS NOT NULL;

-- Payments. The row is made with the attempt; from then on the payment's actor writes it, in its flushes.

CREATE TABLE payments (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  transaction_type text NOT NULL,
  checkout_id uuid,
  checkout_token text,
  product_id uuid,
  subscription_id uuid,
  invoice_id uuid,
  customer_id uuid,
  customer_email text,
  customer_name text,
  external_customer_id text,
  client_reference_id text,
  metadata jsonb NOT NULL,
  -- 1 for the first try to be paid for the same thing.
  attempt integer NOT NULL,
  processor text NOT NULL,
  processor_reference text,
  method jsonb,
  failure_code text,
  failure_message text,
  -- How often the processor was asked what became of it, and when to ask again; null where there is nothing to ask.
  asks integer NOT NULL,
  ask_at timestamptz,
  sequence bigint NOT NULL,
  event_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  paid_at timestamptz,
  PRIMARY KEY (slot, id),
  CONSTRAINT payments_status_known CHECK (status IN ('requires_action', 'processing', 'succeeded', 'partially_refunded',
    'refunded', 'failed', 'errored', 'canceled'))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX payments_by_id ON payments (id);
CREATE INDEX payments_listed ON payments (organisation_id, mode, id);
CREATE INDEX payments_of_checkout ON payments (checkout_id, id);
CREATE INDEX payments_of_customer ON payments (customer_id, id) WHERE customer_id IS NOT NULL;

CREATE TABLE refunds (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  payment_id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  reason text NOT NULL,
  failure_reason text,
  processor_reference text,
  asks integer NOT NULL,
  ask_at timestamptz,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  -- What its caller was told first, so that a retry is told the same; null until then.
  answered jsonb,
  PRIMARY KEY (slot, id),
  CONSTRAINT refunds_status_known CHECK (status IN ('pending', 'succeeded', 'failed')),
  CONSTRAINT refunds_amount_positive CHECK (amount > 0),
  CONSTRAINT refunds_failure_has_reason CHECK ((status = 'failed') = (failure_reason IS NOT NULL)),
  CONSTRAINT refunds_settled_at_a_time CHECK ((status = 'pending') = (settled_at IS NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX refunds_by_id ON refunds (id);
CREATE INDEX refunds_of_payment ON refunds (slot, payment_id, id);
-- An actor in memory knows what can still change.
CREATE INDEX refunds_open ON refunds (slot, payment_id) WHERE ask_at IS NOT NULL;

-- What a flush made true and others must still hear of: done after it, once each, swept up after a crash.
CREATE TABLE followups (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  payment_id uuid NOT NULL,
  data jsonb NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (slot, id)
);
CREATE INDEX followups_of_payment ON followups (payment_id);

-- An account holds one asset: a meter's unit or a currency.
ALTER TYPE account_kind ADD VALUE 'payment';
ALTER TYPE account_kind ADD VALUE 'clearing';
ALTER TABLE accounts
  ALTER COLUMN meter_id DROP NOT NULL,
  ADD COLUMN currency text,
  ADD CONSTRAINT accounts_one_asset CHECK (num_nonnulls(meter_id, currency) = 1),
  ADD CONSTRAINT accounts_capped_not_negative CHECK (NOT capped
    OR (debits_posted >= 0 AND debits_pending >= 0 AND credits_posted >= 0 AND credits_pending >= 0));

-- Whose: a meter of a customer, or a payment.
ALTER TABLE alarms ADD COLUMN kind text NOT NULL DEFAULT 'meter';
DROP INDEX alarms_due;
CREATE INDEX alarms_due ON alarms (kind, due_at);
ALTER TABLE alarms ADD CONSTRAINT alarms_kind_known CHECK (kind IN ('meter', 'payment'));

CREATE INDEX events_listed ON events (organisation_id, mode, at DESC, id DESC);
