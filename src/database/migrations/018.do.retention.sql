-- The books beyond the window in which an idempotency key counts once: usage and grants, by the month in which they were decided.
-- No index: nothing looks a row up there, the audit reads all of them, and a month is dropped whole.
CREATE TABLE transfers_archive (
  LIKE transfers INCLUDING CONSTRAINTS,
  -- A hold and what resolves it stay together where the constraints are, and so does whatever moves money.
  CONSTRAINT transfers_archive_without_holds CHECK (kind IN ('single', 'reverse', 'refused'))
) PARTITION BY RANGE (at);

-- What the transfers that are gone moved on an account; written by the transaction that drops them.
CREATE TABLE closing_balances (
  account_id uuid PRIMARY KEY,
  debits numeric NOT NULL DEFAULT 0,
  credits numeric NOT NULL DEFAULT 0,
  -- What the aggregate follows from: the sum of the events' values, their count with signs, the highest, and who was counted.
  events_total numeric NOT NULL DEFAULT 0,
  events_signed bigint NOT NULL DEFAULT 0,
  events_highest bigint NOT NULL DEFAULT 0,
  members bigint NOT NULL DEFAULT 0,
  CONSTRAINT closing_balances_members_not_negative CHECK (members >= 0)
);

-- How many events are gone of what a customer has of a meter.
CREATE TABLE event_closings (
  object_id uuid PRIMARY KEY,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  dropped bigint NOT NULL,
  CONSTRAINT event_closings_of_something CHECK (dropped > 0)
);

-- What of each kind is kept: from then on all of it. What is older may be gone.
CREATE TABLE retention (
  kind text PRIMARY KEY,
  since timestamptz NOT NULL
);
