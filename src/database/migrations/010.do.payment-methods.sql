-- What a customer pays with when it is not there: the name by which its processor knows the instrument, and what may be shown of it.
CREATE TABLE payment_methods (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  customer_id uuid NOT NULL REFERENCES customers,
  processor text NOT NULL,
  saved text NOT NULL,
  type text NOT NULL,
  brand text,
  last4 text NOT NULL,
  -- The last month in which a card is good.
  exp_month smallint,
  exp_year smallint,
  created_at timestamptz NOT NULL,
  -- Since when it is not charged any more.
  detached_at timestamptz,
  CONSTRAINT payment_methods_saved_once UNIQUE (customer_id, processor, saved),
  CONSTRAINT payment_methods_type_known CHECK (type IN ('card', 'bank_debit')),
  CONSTRAINT payment_methods_expire_in_a_month
    CHECK ((exp_month IS NULL) = (exp_year IS NULL) AND exp_month BETWEEN 1 AND 12)
);
CREATE INDEX payment_methods_default ON payment_methods (customer_id, created_at) WHERE detached_at IS NULL;

-- An instrument is saved by the charge that its buyer made, and later charges name that one.
ALTER TABLE sandbox_charges
  DROP CONSTRAINT sandbox_charges_amount_positive,
  -- The charge that saved what is charged here; its own key where it is the one that does.
  ADD COLUMN mandate text COLLATE "C" REFERENCES sandbox_charges,
  -- How later charges to it go.
  ADD COLUMN off_session text,
  ADD COLUMN expiry jsonb,
  ADD COLUMN forgotten_at timestamptz,
  ADD CONSTRAINT sandbox_charges_amount_not_negative CHECK (amount >= 0),
  ADD CONSTRAINT sandbox_charges_free_to_save CHECK (amount > 0 OR mandate IS NOT DISTINCT FROM key),
  ADD CONSTRAINT sandbox_charges_saved_for_later CHECK ((off_session IS NOT NULL) = (mandate IS NOT DISTINCT FROM key)),
  ADD CONSTRAINT sandbox_charges_forgets_what_it_saved CHECK (forgotten_at IS NULL OR off_session IS NOT NULL);
