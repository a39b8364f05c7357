-- What the present period of a subscription is worth.
ALTER TABLE subscriptions
  -- What had been given back of the present period when the plan last changed.
  ADD COLUMN given_back jsonb,
  -- Of a signup with a trial, until the first period is billed.
  ADD COLUMN discount jsonb;

-- In place of flush_subscriptions, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_subscribed AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, bundle_id uuid, product_id uuid, price_id uuid,
  plan_name text, price_list_name text, unit_amount bigint, currency text, "interval" text, interval_count integer, quantity integer,
  payment_link_id uuid, payment_link_token text, client_reference_id text, metadata jsonb, status text, overdue text,
  anchor_at timestamptz, zone text, period_index integer, period_start timestamptz, period_end timestamptz, period_price bigint,
  trial_end timestamptz, cancel_at timestamptz, canceled_at timestamptz, ended_at timestamptz, paused_at timestamptz,
  resumes_at timestamptz, keep_invoices boolean, open jsonb, waiting jsonb, credit bigint, given_back jsonb,
  discount jsonb, usage jsonb, sequence bigint,
  event_at timestamptz, created_at timestamptz, live boolean
);
