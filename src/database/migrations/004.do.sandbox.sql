-- The sandbox processor's own books: what a real one keeps on its side. No row of ours refers to them.

CREATE TABLE sandbox_charges (
  key text COLLATE "C" PRIMARY KEY,
  status text NOT NULL,
  -- What it becomes, and when; no time where that is up to the buyer.
  next_status text,
  next_at timestamptz,
  -- Null where it was given up before it had come.
  amount bigint,
  currency text,
  -- Type, brand and last four digits; never the number.
  method jsonb,
  -- How refunds of it go, and what they have taken of its amount: those that failed since are counted back where it is read.
  refunds text NOT NULL,
  refunded bigint NOT NULL DEFAULT 0,
  failure_code text,
  failure_message text,
  -- Where the bank sends the buyer who was asked to confirm.
  return_url text,
  created_at timestamptz NOT NULL,
  CONSTRAINT sandbox_charges_status_known
    CHECK (status IN ('succeeded', 'pending', 'requires_action', 'declined', 'canceled')),
  CONSTRAINT sandbox_charges_next_known CHECK (next_status IN ('succeeded', 'declined')),
  CONSTRAINT sandbox_charges_refunds_known CHECK (refunds IN ('succeed', 'settle', 'fail_late')),
  CONSTRAINT sandbox_charges_amount_positive CHECK (amount > 0),
  CONSTRAINT sandbox_charges_complete
    CHECK (status = 'canceled' OR num_nonnulls(amount, currency) = 2 AND (status = 'declined' OR method IS NOT NULL)),
  CONSTRAINT sandbox_charges_pending_until CHECK (status <> 'pending' OR num_nonnulls(next_status, next_at) = 2),
  CONSTRAINT sandbox_charges_action_leads
    CHECK (status <> 'requires_action' OR num_nonnulls(next_status, return_url) = 2 AND next_at IS NULL),
  CONSTRAINT sandbox_charges_declined_for
    CHECK ('declined' NOT IN (status, coalesce(next_status, '')) OR num_nonnulls(failure_code, failure_message) = 2)
);

CREATE TABLE sandbox_refunds (
  key text COLLATE "C" PRIMARY KEY,
  charge_key text COLLATE "C" NOT NULL REFERENCES sandbox_charges,
  amount bigint NOT NULL,
  status text NOT NULL,
  next_status text,
  next_at timestamptz,
  failure text,
  created_at timestamptz NOT NULL,
  CONSTRAINT sandbox_refunds_status_known CHECK (status IN ('succeeded', 'pending', 'declined')),
  CONSTRAINT sandbox_refunds_next_known CHECK (next_status IN ('succeeded', 'declined')),
  CONSTRAINT sandbox_refunds_amount_positive CHECK (amount > 0),
  CONSTRAINT sandbox_refunds_next_at_a_time CHECK ((next_status IS NULL) = (next_at IS NULL)),
  CONSTRAINT sandbox_refunds_pending_until CHECK (status <> 'pending' OR next_status IS NOT NULL),
  CONSTRAINT sandbox_refunds_declined_for
    CHECK ('declined' NOT IN (status, coalesce(next_status, '')) OR failure IS NOT NULL)
);
CREATE INDEX sandbox_refunds_failing ON sandbox_refunds (charge_key) WHERE next_status = 'declined';
