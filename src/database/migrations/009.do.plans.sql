-- Allowances of subscriptions: each has its own periods, several may be live on one meter, and they may be suspended.

ALTER TABLE grants
  ADD COLUMN cycle_anchor timestamptz,
  ADD COLUMN reset_count integer,
  ADD COLUMN cycle_zone text,
  -- When it is next given anew: the end of its present period.
  ADD COLUMN renews_at timestamptz,
  ADD COLUMN suspended text,
  ADD COLUMN is_boolean boolean NOT NULL DEFAULT false;
ALTER TABLE grants ALTER COLUMN is_boolean DROP DEFAULT;

-- Until now the one allowance of a meter had the meter's cycle, and one of the future would have begun with itself.
UPDATE grants g SET
  cycle_anchor = coalesce(
    (SELECT c.cycle_anchor FROM customer_meters c
     WHERE g.started AND g.ended_at IS NULL AND c.slot = g.slot AND c.customer_id = g.customer_id AND c.meter_id = g.meter_id),
    g.effective_at),
  reset_count = 1,
  cycle_zone = 'UTC',
  renews_at =
    (SELECT c.period_end FROM customer_meters c
     WHERE g.started AND g.ended_at IS NULL AND c.slot = g.slot AND c.customer_id = g.customer_id AND c.meter_id = g.meter_id)
WHERE g.reset_interval IS NOT NULL;

ALTER TABLE grants
  ADD CONSTRAINT grants_recur_in_a_cycle CHECK (num_nonnulls(reset_interval, reset_count, cycle_anchor, cycle_zone) IN (0, 4)),
  ADD CONSTRAINT grants_renew_where_they_recur CHECK (renews_at IS NULL OR reset_interval IS NOT NULL),
  ADD CONSTRAINT grants_live_allowance_renews
    CHECK (reset_interval IS NULL OR NOT started OR ended_at IS NOT NULL OR renews_at IS NOT NULL),
  ADD CONSTRAINT grants_suspension_known CHECK (suspended IN ('paused', 'blocked'));
CREATE INDEX grants_of_subscription ON grants (subscription_id) WHERE subscription_id IS NOT NULL;

-- The leading allowance's.
ALTER TABLE customer_meters DROP COLUMN cycle_anchor, DROP COLUMN cycle_interval;
