-- Tries of customers to replace their payment method: which processor is asked about one, also after another account was connected, and
-- for whom it keeps the method where the customer does not come back from its page.
CREATE TABLE method_attempts (
  -- Its key at the processor.
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  mode mode NOT NULL,
  customer_id uuid NOT NULL REFERENCES customers (id),
  -- As payments name it.
  processor text NOT NULL,
  created_at timestamptz NOT NULL
);
