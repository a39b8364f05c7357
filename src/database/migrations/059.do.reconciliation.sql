-- Accounts at processors, compared with these books.

-- A comparison of what an account lists of a window of time with what is here. It is read page by page; whoever holds the row goes on
-- behind its cursor.
CREATE TABLE reconciliation_runs (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES processor_accounts (id),
  -- By the processor's clock.
  since timestamptz NOT NULL,
  until timestamptz NOT NULL CHECK (until > since),
  -- By the organisation's, which may be ahead in test mode.
  ours_since timestamptz NOT NULL,
  ours_until timestamptz NOT NULL,
  -- Which list is being read, and behind which row; null from its first on.
  step text NOT NULL,
  cursor text,
  -- Rows of the processor that were compared, and those that are not of this service.
  compared bigint NOT NULL DEFAULT 0,
  not_ours bigint NOT NULL DEFAULT 0,
  begun_at timestamptz NOT NULL,
  finished_at timestamptz,
  -- Free again at held_until, so that a killed process keeps nothing.
  holder uuid,
  held_until timestamptz,
  failures integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(),
  -- Why the last attempt failed. With finished_at: given up.
  error text
);
CREATE UNIQUE INDEX reconciliation_runs_open ON reconciliation_runs (account_id) WHERE finished_at IS NULL;
CREATE INDEX reconciliation_runs_of_account ON reconciliation_runs (account_id, begun_at);

CREATE TABLE reconciliation_differences (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES processor_accounts (id),
  subject text NOT NULL CHECK (subject IN ('charge', 'refund', 'dispute')),
  -- Our id of the subject, where we have one; else the processor's.
  key text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('missing', 'extra', 'amount', 'currency', 'state')),
  -- The processor's id of the subject, where it has one.
  reference text,
  payment_id uuid,
  -- What each side says.
  ours text,
  theirs text,
  found_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- Since when it is not seen any more.
  resolved_at timestamptz,
  -- An operator knows of it.
  accepted_at timestamptz
);
CREATE UNIQUE INDEX reconciliation_differences_open ON reconciliation_differences (account_id, subject, key, kind)
  WHERE resolved_at IS NULL;

-- What the balance of an account was moved by for us: what each charge brought and what it cost.
CREATE TABLE processor_transactions (
  account_id uuid NOT NULL REFERENCES processor_accounts (id),
  -- As the processor names it.
  id text NOT NULL,
  subject text NOT NULL CHECK (subject IN ('charge', 'refund', 'dispute')),
  -- The processor's id of the subject.
  reference text NOT NULL,
  payment_id uuid NOT NULL,
  refund_id uuid,
  -- In the currency of the balance, in the processor's units.
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  currency text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX processor_transactions_of_payment ON processor_transactions (payment_id, subject);
CREATE INDEX processor_transactions_of_refund ON processor_transactions (refund_id) WHERE refund_id IS NOT NULL;
CREATE INDEX processor_transactions_by_reference ON processor_transactions (account_id, reference);

CREATE TABLE payouts (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  mode mode NOT NULL,
  account_id uuid NOT NULL REFERENCES processor_accounts (id),
  -- As the processor names it.
  payout text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  arrival_on date NOT NULL,
  created_at timestamptz NOT NULL,
  -- Whether the processor says what is in it.
  itemised boolean NOT NULL,
  -- What its transactions come to, as far as they are read: behind the cursor, until summed_at.
  gross bigint NOT NULL DEFAULT 0,
  fees bigint NOT NULL DEFAULT 0,
  refunds bigint NOT NULL DEFAULT 0,
  disputes bigint NOT NULL DEFAULT 0,
  other bigint NOT NULL DEFAULT 0,
  count bigint NOT NULL DEFAULT 0,
  cursor text,
  summed_at timestamptz,
  UNIQUE (account_id, payout)
);
CREATE INDEX payouts_listed ON payouts (organisation_id, mode, created_at, id);
CREATE INDEX payouts_to_sum ON payouts (account_id, id) WHERE itemised AND summed_at IS NULL;
CREATE INDEX payouts_moving ON payouts (account_id, created_at) WHERE status IN ('pending', 'in_transit');
