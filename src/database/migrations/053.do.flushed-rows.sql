-- What a flush writes of a table, as the type of one parameter that has all of its rows. PostgreSQL reads it in binary; a JSON
-- document of them cost six times as much.
--
-- The attributes are the columns that the release writes, in its order (ledger/store). A release whose columns differ makes types
-- of its own, as the nodes of the one before it write with these until they are replaced.

CREATE TYPE flush_accounts AS (
  id uuid, slot smallint, organisation_id uuid, mode mode, kind account_kind, customer_id uuid, meter_id uuid, currency text,
  period_start timestamptz
);
CREATE TYPE flush_balances AS (
  id uuid, debits_posted bigint, debits_pending bigint, credits_posted bigint, credits_pending bigint, slot smallint,
  aggregate bigint, latest_at timestamptz, latest_id uuid, period_end timestamptz, updated_at timestamptz, capped boolean
);
CREATE TYPE flush_sides AS (
  id uuid, debits_posted bigint, debits_pending bigint, credits_posted bigint, credits_pending bigint
);
CREATE TYPE flush_members AS (
  slot smallint, account_id uuid, member bigint
);
CREATE TYPE flush_grants AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, source text, amount bigint, used bigint,
  spent bigint, effective_at timestamptz, priority integer, overage_allowed boolean, usage_price_id uuid, charges boolean,
  cycle_anchor timestamptz, reset_interval text, reset_count integer, cycle_zone text, rollover_max bigint, rollover_periods integer,
  started boolean, expires_at timestamptz, renews_at timestamptz, suspended text, is_boolean boolean, product_id uuid,
  subscription_id uuid, reason text, created_at timestamptz, ended_at timestamptz, ended_how text
);
CREATE TYPE flush_customer_meters AS (
  slot smallint, customer_id uuid, meter_id uuid, period_start timestamptz, period_end timestamptz, allocated bigint,
  first_grant_at timestamptz, ever_expired boolean, exhausted boolean, sequence bigint, event_at timestamptz
);
CREATE TYPE flush_alarms AS (
  slot smallint, actor_id uuid, subject_id uuid, due_at timestamptz, kind text, organisation_id uuid, mode mode
);
CREATE TYPE flush_events AS (
  id uuid, organisation_id uuid, mode mode, type text, object_type text, object_id uuid, account_id uuid, sequence bigint,
  at timestamptz, data jsonb
);
CREATE TYPE flush_payments AS (
  slot smallint, id uuid, status text, invoice_id uuid, customer_id uuid, processor_reference text, method jsonb, failure_code text,
  failure_message text, asks integer, ask_at timestamptz, sequence bigint, event_at timestamptz, paid_at timestamptz
);
CREATE TYPE flush_refunds AS (
  slot smallint, id uuid, payment_id uuid, organisation_id uuid, mode mode, amount bigint, currency text, status text, reason text,
  failure_reason text, processor_reference text, asks integer, ask_at timestamptz, created_at timestamptz, settled_at timestamptz,
  answered jsonb
);
CREATE TYPE flush_subscriptions AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, bundle_id uuid, product_id uuid, price_id uuid,
  plan_name text, price_list_name text, unit_amount bigint, currency text, "interval" text, interval_count integer, quantity integer,
  payment_link_id uuid, payment_link_token text, client_reference_id text, metadata jsonb, status text, overdue text,
  anchor_at timestamptz, zone text, period_index integer, period_start timestamptz, period_end timestamptz, period_price bigint,
  trial_end timestamptz, cancel_at timestamptz, canceled_at timestamptz, ended_at timestamptz, paused_at timestamptz,
  resumes_at timestamptz, keep_invoices boolean, open jsonb, waiting jsonb, credit bigint, usage jsonb, sequence bigint,
  event_at timestamptz, created_at timestamptz, live boolean
);
CREATE TYPE flush_usage_spans AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, subscription_id uuid,
  usage_price_id uuid, account_id uuid, started_at timestamptz, ended_at timestamptz, quantity_limit bigint,
  opening_aggregate bigint, opening_latest_at timestamptz, opening_latest_id uuid, closing_aggregate bigint,
  closing_latest_at timestamptz, closing_latest_id uuid, billed_as uuid, live boolean
);
CREATE TYPE flush_billing_accounts AS (
  slot smallint, customer_id uuid, organisation_id uuid, mode mode, credit jsonb, spend_cap jsonb
);
CREATE TYPE flush_followups AS (
  slot smallint, id uuid, kind text, payment_id uuid, subscription_id uuid, customer_id uuid, data jsonb, at timestamptz
);
CREATE TYPE flush_handovers AS (
  slot smallint, node smallint
);
