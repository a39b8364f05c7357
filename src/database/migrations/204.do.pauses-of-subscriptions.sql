-- Paused time has no share of what a usage price asks at least, nor of a level. A pause that goes on is told by the status.
-- Pauses that were over before are not known: what they were billed stays.
ALTER TABLE subscriptions
  -- In which time it was paused, by the millisecond: those that are over.
  ADD COLUMN pauses jsonb;

-- In place of flush_subscribed, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_pausable AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, bundle_id uuid, product_id uuid, price_id uuid,
  plan_name text, price_list_name text, unit_amount bigint, currency text, "interval" text, interval_count integer, quantity integer,
  payment_link_id uuid, payment_link_token text, client_reference_id text, metadata jsonb, status text, overdue text,
  anchor_at timestamptz, zone text, period_index integer, period_start timestamptz, period_end timestamptz, period_price bigint,
  trial_end timestamptz, cancel_at timestamptz, canceled_at timestamptz, ended_at timestamptz, paused_at timestamptz,
  resumes_at timestamptz, keep_invoices boolean, pauses jsonb, open jsonb, waiting jsonb, credit bigint, given_back jsonb,
  discount jsonb, usage jsonb, sequence bigint,
  event_at timestamptz, created_at timestamptz, live boolean
);
