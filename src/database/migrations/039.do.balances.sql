-- Who an account belongs to never changes; its totals change with each flush. So they have a table of their own, whose rows are small.
LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE;

-- The totals of accounts that belong to an actor: of kind meter and payment.
CREATE TABLE balances (
  -- What a flush changes is side by side: the log has less to say. Each is below 10^16: a decision that would leave that range is
  -- refused before it is written (ledger/kernel/quantity.ts, money.ts), and what overflows here is refused as well.
  debits_posted bigint NOT NULL,
  -- Of a meter alone: before the floor.
  aggregate bigint,
  updated_at timestamptz,
  credits_posted bigint NOT NULL,
  debits_pending bigint NOT NULL,
  credits_pending bigint NOT NULL,
  id uuid NOT NULL,
  period_end timestamptz,
  latest_at timestamptz,
  latest_id uuid,
  slot smallint NOT NULL,
  -- Whether debits, pending ones too, may not exceed posted credits: the ceiling, held here whatever the actor believed.
  capped boolean NOT NULL,
  -- All rules in one, because PostgreSQL reads each CHECK from its text for each statement: no total is negative; consumption is the
  -- floored aggregate; the ceiling.
  CONSTRAINT balances_sound CHECK (least(debits_posted, debits_pending, credits_posted, credits_pending) >= 0
    AND (aggregate IS NULL OR debits_posted = greatest(aggregate, bigint '0'))
    AND NOT (capped AND debits_posted + debits_pending > credits_posted))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);

-- The totals of the other sides, of which each node has its own: of kind usage, grants and clearing. They sum what all customers of an
-- organisation do, so a bigint is not enough, and any of them may be negative: a node may take back what another one gave.
CREATE TABLE node_balances (
  debits_posted numeric NOT NULL,
  credits_posted numeric NOT NULL,
  debits_pending numeric NOT NULL,
  credits_pending numeric NOT NULL,
  id uuid NOT NULL
) WITH (fillfactor = 90);

INSERT INTO balances (slot, id, debits_posted, debits_pending, credits_posted, credits_pending, aggregate, updated_at, period_end,
  latest_at, latest_id, capped)
SELECT slot, id, debits_posted, debits_pending, credits_posted, credits_pending, CASE kind WHEN 'meter' THEN aggregate END, updated_at,
  period_end, latest_at, latest_id, capped
FROM accounts WHERE kind IN ('meter', 'payment');
ALTER TABLE balances ADD PRIMARY KEY (slot, id);

INSERT INTO node_balances (id, debits_posted, debits_pending, credits_posted, credits_pending)
SELECT id, debits_posted, debits_pending, credits_posted, credits_pending FROM accounts WHERE kind NOT IN ('meter', 'payment');
ALTER TABLE node_balances ADD PRIMARY KEY (id);

ALTER TABLE accounts
  DROP COLUMN debits_posted,
  DROP COLUMN debits_pending,
  DROP COLUMN credits_posted,
  DROP COLUMN credits_pending,
  DROP COLUMN aggregate,
  DROP COLUMN updated_at,
  DROP COLUMN period_end,
  DROP COLUMN latest_at,
  DROP COLUMN latest_id,
  DROP COLUMN capped,
  RESET (fillfactor, autovacuum_vacuum_scale_factor);

-- The fence of each flush asks for both (ledger/store/flush-sql.ts): nothing is written under a number that cannot be.
ALTER TABLE nodes DROP CONSTRAINT nodes_id_positive, DROP CONSTRAINT nodes_numbered;
