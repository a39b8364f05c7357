-- What the Stripe adapter has asked Stripe for, by our keys: a row is there before Stripe is asked, and its id before anybody can pay.

CREATE TABLE stripe_charges (
  -- Our payment's id, or that of a verification.
  key text COLLATE "C" PRIMARY KEY,
  -- The account, as payments name it.
  account text NOT NULL,
  -- A Checkout Session that charges or that only saves, or a PaymentIntent without its buyer; null where it was given up before it came.
  kind text,
  currency text,
  -- Stripe's id of it; null while no answer has come.
  stripe_id text,
  -- The PaymentIntent or SetupIntent, once there is one.
  intent text,
  state text NOT NULL,
  -- Why it was declined, where Stripe's objects do not say so.
  code text,
  created_at timestamptz NOT NULL,
  CONSTRAINT stripe_charges_kind_known CHECK (kind IN ('session', 'setup', 'intent')),
  -- The state of a charge under way is Stripe's: only what it may not become is written here.
  CONSTRAINT stripe_charges_state_known CHECK (state IN ('open', 'canceled', 'declined')),
  CONSTRAINT stripe_charges_complete CHECK (state = 'canceled' OR num_nonnulls(kind, currency) = 2),
  CONSTRAINT stripe_charges_declined_for CHECK ((state = 'declined') = (code IS NOT NULL))
);
-- One object of Stripe's is one charge; webhooks name it.
CREATE UNIQUE INDEX stripe_charges_by_intent ON stripe_charges (account, intent) WHERE intent IS NOT NULL;

CREATE TABLE stripe_refunds (
  -- Our refund's id.
  key text COLLATE "C" PRIMARY KEY,
  charge_key text COLLATE "C" NOT NULL REFERENCES stripe_charges,
  amount bigint NOT NULL,
  -- null while no answer has come.
  stripe_id text,
  -- Why Stripe made none.
  declined text,
  created_at timestamptz NOT NULL,
  CONSTRAINT stripe_refunds_amount_positive CHECK (amount > 0),
  CONSTRAINT stripe_refunds_one_outcome CHECK (num_nonnulls(stripe_id, declined) <= 1)
);
