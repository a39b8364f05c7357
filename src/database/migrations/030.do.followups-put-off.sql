-- A follow-up that fails is tried again later and later, and after an hour only when an operator says so.

ALTER TABLE followups
  ADD COLUMN tries integer NOT NULL DEFAULT 0,
  ADD COLUMN failing_since timestamptz,
  ADD COLUMN next_at timestamptz,
  ADD COLUMN dead_at timestamptz,
  -- Why, without anything of a row.
  ADD COLUMN error text;
CREATE INDEX followups_failing ON followups (failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX followups_dead ON followups (payment_id, subscription_id) WHERE dead_at IS NOT NULL;
