-- The schema that the migrations make, in one file to read: types, tables, functions, triggers. Only a test
-- runs it. `bun run schema` writes it from the migrations, comments too; a test fails when it is not theirs.

CREATE TYPE mode AS ENUM ('test', 'live');
CREATE TYPE aggregation AS ENUM ('sum', 'count', 'max', 'last', 'unique');
CREATE TYPE account_kind AS ENUM ('meter', 'usage', 'grants', 'payment', 'clearing');
CREATE TYPE transfer_kind AS ENUM ('single', 'reverse', 'pending', 'post', 'void', 'refused');
CREATE TYPE reason AS ENUM ('ok', 'unlimited', 'overage_allowed', 'boolean', 'insufficient_balance', 'not_entitled', 'subscription_paused', 'blocked', 'expired', 'spend_cap');
CREATE TYPE flush_accounts AS (id uuid, slot smallint, organisation_id uuid, mode mode, kind account_kind, customer_id uuid, meter_id uuid, currency text, period_start timestamptz);
CREATE TYPE flush_balances AS (id uuid, debits_posted bigint, debits_pending bigint, credits_posted bigint, credits_pending bigint, slot smallint, aggregate bigint, latest_at timestamptz, latest_id uuid, period_end timestamptz, updated_at timestamptz, capped boolean);
CREATE TYPE flush_sides AS (id uuid, debits_posted bigint, debits_pending bigint, credits_posted bigint, credits_pending bigint);
CREATE TYPE flush_members AS (slot smallint, account_id uuid, member bigint);
CREATE TYPE flush_grants AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, source text, amount bigint, used bigint, spent bigint, effective_at timestamptz, priority integer, overage_allowed boolean, usage_price_id uuid, charges boolean, cycle_anchor timestamptz, reset_interval text, reset_count integer, cycle_zone text, rollover_max bigint, rollover_periods integer, started boolean, expires_at timestamptz, renews_at timestamptz, suspended text, is_boolean boolean, product_id uuid, subscription_id uuid, reason text, created_at timestamptz, ended_at timestamptz, ended_how text);
CREATE TYPE flush_customer_meters AS (slot smallint, customer_id uuid, meter_id uuid, period_start timestamptz, period_end timestamptz, allocated bigint, first_grant_at timestamptz, ever_expired boolean, exhausted boolean, sequence bigint, event_at timestamptz);
CREATE TYPE flush_alarms AS (slot smallint, actor_id uuid, subject_id uuid, due_at timestamptz, kind text, organisation_id uuid, mode mode);
CREATE TYPE flush_events AS (id uuid, organisation_id uuid, mode mode, type text, object_type text, object_id uuid, account_id uuid, sequence bigint, at timestamptz, data jsonb);
CREATE TYPE flush_payments AS (slot smallint, id uuid, status text, invoice_id uuid, customer_id uuid, processor_reference text, method jsonb, failure_code text, failure_message text, asks integer, ask_at timestamptz, sequence bigint, event_at timestamptz, paid_at timestamptz);
CREATE TYPE flush_refunds AS (slot smallint, id uuid, payment_id uuid, organisation_id uuid, mode mode, amount bigint, currency text, status text, reason text, failure_reason text, processor_reference text, asks integer, ask_at timestamptz, created_at timestamptz, settled_at timestamptz, answered jsonb);
CREATE TYPE flush_subscriptions AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, bundle_id uuid, product_id uuid, price_id uuid, plan_name text, price_list_name text, unit_amount bigint, currency text, "interval" text, interval_count integer, quantity integer, payment_link_id uuid, payment_link_token text, client_reference_id text, metadata jsonb, status text, overdue text, anchor_at timestamptz, zone text, period_index integer, period_start timestamptz, period_end timestamptz, period_price bigint, trial_end timestamptz, cancel_at timestamptz, canceled_at timestamptz, ended_at timestamptz, paused_at timestamptz, resumes_at timestamptz, keep_invoices boolean, open jsonb, waiting jsonb, credit bigint, usage jsonb, sequence bigint, event_at timestamptz, created_at timestamptz, live boolean);
CREATE TYPE flush_usage_spans AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, subscription_id uuid, usage_price_id uuid, account_id uuid, started_at timestamptz, ended_at timestamptz, quantity_limit bigint, opening_aggregate bigint, opening_latest_at timestamptz, opening_latest_id uuid, closing_aggregate bigint, closing_latest_at timestamptz, closing_latest_id uuid, billed_as uuid, live boolean);
CREATE TYPE flush_billing_accounts AS (slot smallint, customer_id uuid, organisation_id uuid, mode mode, credit jsonb, spend_cap jsonb);
CREATE TYPE flush_followups AS (slot smallint, id uuid, kind text, payment_id uuid, subscription_id uuid, customer_id uuid, data jsonb, at timestamptz);
CREATE TYPE flush_handovers AS (slot smallint, node smallint);
CREATE TYPE new_payments AS (slot smallint, id uuid, organisation_id uuid, mode mode, status text, amount bigint, currency text, transaction_type text, checkout_id uuid, checkout_token text, product_id uuid, subscription_id uuid, invoice_id uuid, customer_id uuid, customer_email text, customer_name text, external_customer_id text, client_reference_id text, metadata jsonb, attempt integer, processor text, asks integer, ask_at timestamptz, sequence bigint, event_at timestamptz, created_at timestamptz);
CREATE TYPE new_invoices AS (id uuid, organisation_id uuid, mode mode, status text, currency text, subtotal bigint, discount_total bigint, total bigint, amount_paid bigint, billing_reason text, customer_id uuid, subscription_id uuid, checkout_id uuid, payment_id uuid, period_start timestamptz, period_end timestamptz, due_at timestamptz, paid_at timestamptz, lines jsonb, attempts integer, buyer jsonb, created_at timestamptz, event_id uuid, event_data jsonb);
CREATE TYPE new_sandbox_charges AS (key text, status text, next_status text, next_at timestamptz, amount bigint, currency text, method jsonb, expiry jsonb, refunds text, failure_code text, failure_message text, return_url text, mandate text, off_session text, created_at timestamptz);
CREATE TYPE flush_disputes AS (slot smallint, id uuid, payment_id uuid, organisation_id uuid, mode mode, reference text, amount bigint, currency text, reason text, status text, hold uuid, held bigint, charged_back bigint, moves integer, asks integer, ask_at timestamptz, opened_at timestamptz, closed_at timestamptz);
-- `new_sandbox_charges` is that of the release before, whose nodes may still write with it.
CREATE TYPE new_sandbox_charges_2 AS (key text, status text, next_status text, next_at timestamptz, amount bigint, currency text, method jsonb, expiry jsonb, refunds text, dispute text, dispute_ends_at timestamptz, failure_code text, failure_message text, return_url text, mandate text, off_session text, created_at timestamptz);
CREATE TYPE flush_reservations AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, account_id uuid, hold_id uuid, extensions integer, amount bigint, status text, committed bigint, late boolean, created_at timestamptz, expires_at timestamptz, resolved_at timestamptz, balance_after bigint, fingerprint bigint, parts jsonb);
-- In place of flush_customer_meters, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_meter_states AS (slot smallint, customer_id uuid, meter_id uuid, period_start timestamptz, period_end timestamptz, allocated bigint, first_grant_at timestamptz, ever_expired boolean, exhausted boolean, sequence bigint, event_at timestamptz, fired jsonb);
CREATE TYPE flush_auto_topups AS (slot smallint, customer_id uuid, meter_id uuid, organisation_id uuid, mode mode, settings jsonb, zone text, ordered integer, captures integer, charge jsonb, declines integer, retry_at timestamptz, again boolean, refused text, limited_until timestamptz, method_id uuid, last_payment_id uuid, captured jsonb, updated_at timestamptz);
CREATE TYPE new_payments_2 AS (slot smallint, id uuid, organisation_id uuid, mode mode, status text, amount bigint, currency text, transaction_type text, checkout_id uuid, checkout_token text, product_id uuid, subscription_id uuid, meter_id uuid, invoice_id uuid, customer_id uuid, customer_email text, customer_name text, external_customer_id text, client_reference_id text, metadata jsonb, attempt integer, processor text, asks integer, ask_at timestamptz, sequence bigint, event_at timestamptz, created_at timestamptz);
CREATE TYPE flush_pooled_periods AS (slot smallint, account_id uuid, rate bigint);
-- In place of flush_reservations, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_holds AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, account_id uuid, member_account_id uuid, hold_id uuid, extensions integer, amount bigint, status text, committed bigint, late boolean, created_at timestamptz, expires_at timestamptz, resolved_at timestamptz, balance_after bigint, fingerprint bigint, paid_by jsonb, parts jsonb);
-- In place of flush_subscriptions, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_subscribed AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, bundle_id uuid, product_id uuid, price_id uuid, plan_name text, price_list_name text, unit_amount bigint, currency text, "interval" text, interval_count integer, quantity integer, payment_link_id uuid, payment_link_token text, client_reference_id text, metadata jsonb, status text, overdue text, anchor_at timestamptz, zone text, period_index integer, period_start timestamptz, period_end timestamptz, period_price bigint, trial_end timestamptz, cancel_at timestamptz, canceled_at timestamptz, ended_at timestamptz, paused_at timestamptz, resumes_at timestamptz, keep_invoices boolean, open jsonb, waiting jsonb, credit bigint, given_back jsonb, discount jsonb, usage jsonb, sequence bigint, event_at timestamptz, created_at timestamptz, live boolean);
CREATE TYPE flush_usage_corrections AS (slot smallint, account_id uuid, quarter timestamptz, corrections bigint);
-- In place of flush_usage_spans, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_sold_spans AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, subscription_id uuid, usage_price_id uuid, account_id uuid, period_start timestamptz, period_end timestamptz, started_at timestamptz, ended_at timestamptz, quantity_limit bigint, opening_aggregate bigint, opening_latest_at timestamptz, opening_latest_id uuid, closing_aggregate bigint, closing_latest_at timestamptz, closing_latest_id uuid, billed_as uuid, live boolean);
-- In place of flush_subscribed, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_pausable AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, bundle_id uuid, product_id uuid, price_id uuid, plan_name text, price_list_name text, unit_amount bigint, currency text, "interval" text, interval_count integer, quantity integer, payment_link_id uuid, payment_link_token text, client_reference_id text, metadata jsonb, status text, overdue text, anchor_at timestamptz, zone text, period_index integer, period_start timestamptz, period_end timestamptz, period_price bigint, trial_end timestamptz, cancel_at timestamptz, canceled_at timestamptz, ended_at timestamptz, paused_at timestamptz, resumes_at timestamptz, keep_invoices boolean, pauses jsonb, open jsonb, waiting jsonb, credit bigint, given_back jsonb, discount jsonb, usage jsonb, sequence bigint, event_at timestamptz, created_at timestamptz, live boolean);
-- In place of flush_grants, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_cut_grants AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, source text, amount bigint, used bigint, spent bigint, cut jsonb, effective_at timestamptz, priority integer, overage_allowed boolean, usage_price_id uuid, charges boolean, cycle_anchor timestamptz, reset_interval text, reset_count integer, cycle_zone text, rollover_max bigint, rollover_periods integer, started boolean, expires_at timestamptz, renews_at timestamptz, suspended text, is_boolean boolean, product_id uuid, subscription_id uuid, reason text, created_at timestamptz, ended_at timestamptz, ended_how text);
CREATE TYPE flush_stretch_marks AS (slot smallint, customer_id uuid, meter_id uuid, started_at timestamptz, place integer, account_id uuid, aggregate bigint, carried jsonb);
-- In place of flush_meter_states, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_settled_meters AS (slot smallint, customer_id uuid, meter_id uuid, period_start timestamptz, period_end timestamptz, allocated bigint, stretch_start timestamptz, stretch_place integer, stretch_aggregate bigint, first_grant_at timestamptz, ever_expired boolean, exhausted boolean, sequence bigint, event_at timestamptz, fired jsonb);
-- In place of flush_cut_grants.
CREATE TYPE flush_placed_grants AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, source text, amount bigint, used bigint, spent bigint, cut jsonb, started_at timestamptz, started_in integer, ended_in integer, effective_at timestamptz, priority integer, overage_allowed boolean, usage_price_id uuid, charges boolean, cycle_anchor timestamptz, reset_interval text, reset_count integer, cycle_zone text, rollover_max bigint, rollover_periods integer, started boolean, expires_at timestamptz, renews_at timestamptz, suspended text, is_boolean boolean, product_id uuid, subscription_id uuid, reason text, created_at timestamptz, ended_at timestamptz, ended_how text);
-- In place of flush_holds.
CREATE TYPE flush_placed_holds AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, account_id uuid, member_account_id uuid, hold_id uuid, extensions integer, amount bigint, status text, committed bigint, late boolean, created_at timestamptz, place integer, expires_at timestamptz, resolved_at timestamptz, balance_after bigint, fingerprint bigint, paid_by jsonb, parts jsonb);
-- In place of flush_placed_grants, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_resting_grants AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, source text, amount bigint, used bigint, spent bigint, grown bigint, cut jsonb, rests jsonb, started_at timestamptz, started_in integer, ended_in integer, effective_at timestamptz, priority integer, overage_allowed boolean, usage_price_id uuid, charges boolean, cycle_anchor timestamptz, reset_interval text, reset_count integer, cycle_zone text, rollover_max bigint, rollover_periods integer, started boolean, expires_at timestamptz, renews_at timestamptz, suspended text, is_boolean boolean, product_id uuid, subscription_id uuid, reason text, created_at timestamptz, ended_at timestamptz, ended_how text);
-- In place of flush_sold_spans, with which the nodes of the release before write until they are replaced.
CREATE TYPE flush_placed_spans AS (slot smallint, id uuid, organisation_id uuid, mode mode, customer_id uuid, meter_id uuid, subscription_id uuid, usage_price_id uuid, account_id uuid, period_start timestamptz, period_end timestamptz, started_at timestamptz, place smallint, ended_at timestamptz, ended_in smallint, quantity_limit bigint, opening_aggregate bigint, opening_latest_at timestamptz, opening_latest_id uuid, closing_aggregate bigint, closing_latest_at timestamptz, closing_latest_id uuid, billed_as uuid, live boolean);

-- The order of what happens to whom: of events as they are written, and of endpoints as they are made. No clock has a say in it.
CREATE SEQUENCE event_order AS bigint START 1 INCREMENT 1;

CREATE TABLE groups (
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT groups_pkey PRIMARY KEY (id)
);

CREATE TABLE organisations (
  id uuid NOT NULL,
  group_id uuid,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  -- null: it has been what it is since the organisation was made.
  group_since timestamptz,
  -- Without a second factor a member may enrol one, and nothing else.
  requires_second_factor boolean DEFAULT false NOT NULL,
  -- A refund above it, in live mode, needs a second factor that was given shortly before. In the major unit of any currency.
  refund_step_up_amount text DEFAULT '100.00'::text NOT NULL,
  CONSTRAINT organisations_pkey PRIMARY KEY (id),
  CONSTRAINT organisations_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id),
  CONSTRAINT organisations_refund_step_up_amount_decimal CHECK (refund_step_up_amount ~ '^[0-9]{1,12}(\.[0-9]{1,4})?$'::text)
);

CREATE TABLE api_keys (
  id uuid NOT NULL,
  organisation_id uuid,
  group_id uuid,
  mode mode NOT NULL,
  -- SHA-256 of the whole key. The key itself is shown once and never stored.
  hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  name text,
  scope text DEFAULT 'all'::text NOT NULL,
  -- The end of the key, for people to tell it from others. Of a key that is older than this column only the hash is known.
  last4 text,
  -- The key that made this one; null for the command line. That key may be gone.
  created_by uuid,
  -- The member who made it; null for a key and for the command line. The user may have left.
  created_by_user uuid,
  -- The one that took its place the last time it was rotated, and answers for what this one made.
  replaced_by uuid,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_hash_once UNIQUE (hash),
  CONSTRAINT api_keys_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id),
  CONSTRAINT api_keys_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT api_keys_belong_to_one CHECK (num_nonnulls(organisation_id, group_id) = 1),
  CONSTRAINT api_keys_last4_fits CHECK (last4 ~ '^[0-9A-Za-z]{4}$'::text),
  CONSTRAINT api_keys_name_fits CHECK (char_length(name) >= 1 AND char_length(name) <= 255),
  CONSTRAINT api_keys_of_groups_do_all CHECK (group_id IS NULL OR scope = 'all'::text),
  CONSTRAINT api_keys_scope_known CHECK (scope = ANY (ARRAY['all'::text, 'read'::text, 'metering'::text]))
);
CREATE INDEX api_keys_of_organisation ON api_keys (organisation_id);
CREATE INDEX api_keys_replaced ON api_keys (replaced_by) WHERE replaced_by IS NOT NULL;

CREATE TABLE meters (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  description text,
  event_name text NOT NULL,
  aggregation aggregation NOT NULL,
  value_property text,
  unique_property text,
  unit text,
  scale smallint NOT NULL,
  metadata jsonb NOT NULL,
  status text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  carry boolean DEFAULT false NOT NULL,
  CONSTRAINT meters_pkey PRIMARY KEY (id),
  CONSTRAINT meters_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT meters_carry_a_level CHECK (NOT carry OR aggregation = 'last'::aggregation),
  CONSTRAINT meters_scale_in_range CHECK (scale >= 0 AND scale <= 9),
  CONSTRAINT meters_status_known CHECK (status = ANY (ARRAY['active'::text, 'archived'::text])),
  CONSTRAINT meters_unique_has_property CHECK (aggregation <> 'unique'::aggregation OR unique_property IS NOT NULL)
);
CREATE INDEX meters_by_event_name ON meters (organisation_id, mode, event_name) WHERE deleted_at IS NULL;
CREATE INDEX meters_listed ON meters (organisation_id, mode, id) WHERE deleted_at IS NULL;
-- A deleted meter keeps its history and gives its slug back.
CREATE UNIQUE INDEX meters_slug_once ON meters (organisation_id, mode, slug) WHERE deleted_at IS NULL;

CREATE TABLE customers (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  external_customer_id text,
  email text,
  name text,
  metadata jsonb NOT NULL,
  event_sequence bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  billing_address jsonb,
  self_named boolean DEFAULT false NOT NULL,
  CONSTRAINT customers_pkey PRIMARY KEY (id),
  CONSTRAINT customers_external_id_once UNIQUE (organisation_id, mode, external_customer_id),
  CONSTRAINT customers_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id)
);
-- A buyer is matched to a customer by its address.
CREATE INDEX customers_by_email ON customers (organisation_id, mode, lower(email)) WHERE NOT self_named;
CREATE INDEX customers_listed ON customers (organisation_id, mode, id);
CREATE INDEX customers_listed_by_email ON customers (organisation_id, mode, lower(email) text_pattern_ops, id);

-- Answers of requests with an Idempotency-Key, of those whose effect is not a transfer.
CREATE TABLE idempotency (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  operation text NOT NULL,
  key_hash bytea NOT NULL,
  request_hash bytea NOT NULL,
  status smallint NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT idempotency_once PRIMARY KEY (organisation_id, mode, operation, key_hash)
);

CREATE TABLE nodes (
  id smallint NOT NULL,
  -- Who holds the seat now: one value for each start of a process.
  holder uuid NOT NULL,
  address text,
  epoch bigint NOT NULL,
  seq bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  leaving boolean NOT NULL,
  halted boolean DEFAULT false NOT NULL,
  keeps_bins boolean NOT NULL,
  counts_corrections boolean NOT NULL,
  CONSTRAINT nodes_pkey PRIMARY KEY (id)
) WITH (fillfactor=10, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_scale_factor=0);

CREATE TABLE slots (
  slot smallint NOT NULL,
  node smallint,
  CONSTRAINT slots_pkey PRIMARY KEY (slot),
  CONSTRAINT slots_node_fkey FOREIGN KEY (node) REFERENCES nodes(id),
  CONSTRAINT slots_in_range CHECK (slot >= 0 AND slot <= 1023)
);

CREATE TABLE accounts (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  customer_id uuid,
  meter_id uuid,
  period_start timestamptz,
  kind account_kind NOT NULL,
  mode mode NOT NULL,
  slot smallint NOT NULL,
  currency text,
  CONSTRAINT accounts_pkey PRIMARY KEY (slot, id),
  CONSTRAINT accounts_one_asset CHECK (num_nonnulls(meter_id, currency) = 1)
);
CREATE INDEX accounts_of_customer ON accounts (slot, customer_id, meter_id, period_start) WHERE customer_id IS NOT NULL;

CREATE TABLE transfers (
  -- Derived from the caller's key where there is one: transfers_id_once makes the key of a usage
  -- count once for its customer, transfers_refund_once that of a refund for its organisation.
  id uuid NOT NULL,
  debit uuid NOT NULL,
  credit uuid NOT NULL,
  amount bigint,
  at timestamptz NOT NULL,
  -- Usage only: the caller's event and the answer that it got.
  value bigint,
  event_at timestamptz,
  consumed_after bigint,
  limit_after bigint,
  fingerprint bigint,
  hold uuid,
  kind transfer_kind NOT NULL,
  reason reason,
  slot smallint NOT NULL,
  node smallint NOT NULL,
  -- Admitted only because it fits: see transfers_within_limit.
  guarded boolean NOT NULL,
  metadata jsonb,
  -- The rest of the answer, where a retry must get it to the byte.
  answer jsonb,
  sold boolean,
  unbinned boolean DEFAULT true,
  events bigint,
  CONSTRAINT transfers_id_once PRIMARY KEY (id, slot),
  -- Two sides; an amount that is not negative; a hold where one is resolved, and only there; usage has an answer, and what was
  -- admitted because it fits, fits.
  CONSTRAINT transfers_sound CHECK (debit <> credit AND COALESCE(amount, value, '-1'::integer::bigint) >= 0 AND (kind = ANY (ARRAY['post'::transfer_kind, 'void'::transfer_kind])) = (hold IS NOT NULL) AND (value IS NULL) = (reason IS NULL) AND NOT (guarded AND consumed_after > limit_after))
) WITH (autovacuum_vacuum_insert_scale_factor=0.5);
CREATE INDEX transfers_by_time ON transfers USING brin (COALESCE(event_at, at) timestamptz_minmax_multi_ops, debit uuid_bloom_ops (n_distinct_per_range='1500'), credit uuid_bloom_ops (n_distinct_per_range='100')) WITH (pages_per_range='32', autosummarize='on');
-- A hold resolves at most once, whoever tries.
CREATE UNIQUE INDEX transfers_hold_once ON transfers (hold, slot) WHERE hold IS NOT NULL;
CREATE UNIQUE INDEX transfers_refund_once ON transfers (id) WHERE value IS NULL AND (kind = ANY (ARRAY['pending'::transfer_kind, 'refused'::transfer_kind]));
CREATE INDEX transfers_sold ON transfers (debit, COALESCE(event_at, at), id) WHERE sold;

-- What the actor of a customer knows of one meter besides the accounts' totals.
CREATE TABLE customer_meters (
  slot smallint NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  period_start timestamptz NOT NULL,
  period_end timestamptz,
  allocated bigint NOT NULL,
  first_grant_at timestamptz,
  ever_expired boolean NOT NULL,
  exhausted boolean NOT NULL,
  sequence bigint NOT NULL,
  event_at timestamptz NOT NULL,
  fired jsonb DEFAULT '[]'::jsonb NOT NULL,
  stretch_start timestamptz,
  stretch_place integer,
  stretch_aggregate bigint,
  CONSTRAINT customer_meters_pkey PRIMARY KEY (slot, customer_id, meter_id)
) WITH (fillfactor=70);

CREATE TABLE grants (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  source text NOT NULL,
  amount bigint,
  used bigint NOT NULL,
  effective_at timestamptz NOT NULL,
  expires_at timestamptz,
  priority integer NOT NULL,
  overage_allowed boolean NOT NULL,
  reset_interval text,
  rollover_max bigint,
  rollover_periods integer,
  started boolean NOT NULL,
  product_id uuid,
  subscription_id uuid,
  reason text,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  ended_how text,
  cycle_anchor timestamptz,
  reset_count integer,
  cycle_zone text,
  -- When it is next given anew: the end of its present period.
  renews_at timestamptz,
  suspended text,
  is_boolean boolean NOT NULL,
  spent bigint NOT NULL,
  usage_price_id uuid,
  charges boolean DEFAULT false NOT NULL,
  cut jsonb,
  started_at timestamptz,
  started_in integer,
  ended_in integer,
  rests jsonb,
  grown bigint DEFAULT 0 NOT NULL,
  CONSTRAINT grants_pkey PRIMARY KEY (slot, id),
  CONSTRAINT grants_end_has_reason CHECK ((ended_at IS NULL) = (ended_how IS NULL)),
  CONSTRAINT grants_live_allowance_renews CHECK (reset_interval IS NULL OR NOT started OR ended_at IS NOT NULL OR renews_at IS NOT NULL),
  CONSTRAINT grants_recur_in_a_cycle CHECK (num_nonnulls(reset_interval, reset_count, cycle_anchor, cycle_zone) = ANY (ARRAY[0, 4])),
  CONSTRAINT grants_renew_where_they_recur CHECK (renews_at IS NULL OR reset_interval IS NOT NULL),
  CONSTRAINT grants_suspension_known CHECK (suspended = ANY (ARRAY['paused'::text, 'blocked'::text])),
  CONSTRAINT grants_used_within_amount CHECK (used >= 0 AND (amount IS NULL OR used <= amount))
) WITH (fillfactor=70);
CREATE UNIQUE INDEX grants_by_id ON grants (id);
CREATE INDEX grants_ended ON grants (slot, customer_id, meter_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX grants_live ON grants (slot, customer_id) WHERE ended_at IS NULL;
CREATE INDEX grants_of_meter ON grants (meter_id) WHERE ended_at IS NULL;
CREATE INDEX grants_of_subscription ON grants (subscription_id) WHERE subscription_id IS NOT NULL;

-- Members that a unique meter has counted in a period.
CREATE TABLE members (
  slot smallint NOT NULL,
  account_id uuid NOT NULL,
  member bigint NOT NULL,
  CONSTRAINT members_pkey PRIMARY KEY (slot, account_id, member)
);

-- What time alone will change next, one row for each subject of an actor.
CREATE TABLE alarms (
  slot smallint NOT NULL,
  actor_id uuid NOT NULL,
  subject_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  kind text DEFAULT 'meter'::text NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  CONSTRAINT alarms_pkey PRIMARY KEY (slot, actor_id, subject_id),
  CONSTRAINT alarms_kind_known CHECK (kind = ANY (ARRAY['meter'::text, 'payment'::text, 'subscription'::text]))
);
CREATE INDEX alarms_due ON alarms (kind, due_at);
CREATE INDEX alarms_of_test_clock ON alarms (organisation_id, due_at) WHERE mode = 'test'::mode;

-- The outbox: written by the flush or transaction that made it true.
CREATE TABLE events (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  type text NOT NULL,
  object_type text NOT NULL,
  object_id uuid NOT NULL,
  account_id uuid,
  sequence bigint NOT NULL,
  at timestamptz NOT NULL,
  data jsonb NOT NULL,
  endpoint_id uuid,
  CONSTRAINT events_pkey PRIMARY KEY (id),
  CONSTRAINT events_sequence_once UNIQUE (object_id, mode, sequence)
);
CREATE INDEX events_by_type ON events (organisation_id, mode, type, at, id) WHERE type <> 'usage.recorded'::text;
CREATE INDEX events_listed ON events (organisation_id, mode, at DESC, id DESC);

CREATE TABLE products (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  status text NOT NULL,
  metadata jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT products_pkey PRIMARY KEY (id),
  -- Over all organisations: a buy link names its product by the slug alone.
  CONSTRAINT products_slug_once UNIQUE (slug),
  CONSTRAINT products_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT products_status_known CHECK (status = ANY (ARRAY['active'::text, 'archived'::text, 'unpublished'::text]))
);
CREATE INDEX products_by_status ON products (organisation_id, mode, status, id);
CREATE INDEX products_listed ON products (organisation_id, mode, id);
CREATE INDEX products_named ON products (organisation_id, mode, lower(name) text_pattern_ops, id);

CREATE TABLE prices (
  id uuid NOT NULL,
  product_id uuid NOT NULL,
  -- In units of the currency's smallest coin, here and below.
  amount bigint NOT NULL,
  currency text NOT NULL,
  type text NOT NULL,
  "interval" text,
  interval_count integer,
  trial_days integer,
  status text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT prices_pkey PRIMARY KEY (id),
  CONSTRAINT prices_product_id_fkey FOREIGN KEY (product_id) REFERENCES products(id),
  CONSTRAINT prices_amount_not_negative CHECK (amount >= 0),
  CONSTRAINT prices_recur_by_interval CHECK ((type = 'recurring'::text) = ("interval" IS NOT NULL) AND ("interval" IS NULL) = (interval_count IS NULL)),
  CONSTRAINT prices_status_known CHECK (status = ANY (ARRAY['active'::text, 'archived'::text]))
);
CREATE INDEX prices_of_product ON prices (product_id);

CREATE TABLE discounts (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  code text NOT NULL,
  percent_off numeric,
  amount_off bigint,
  currency text,
  max_redemptions integer,
  -- Payments that were made with it or are under way.
  redemptions integer NOT NULL,
  expires_at timestamptz,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT discounts_pkey PRIMARY KEY (id),
  CONSTRAINT discounts_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT discounts_amount_has_currency CHECK ((amount_off IS NULL) = (currency IS NULL) AND amount_off > 0),
  CONSTRAINT discounts_one_kind CHECK (num_nonnulls(percent_off, amount_off) = 1),
  CONSTRAINT discounts_percent_in_range CHECK (percent_off > 0::numeric AND percent_off <= 100::numeric),
  CONSTRAINT discounts_within_redemptions CHECK (redemptions >= 0 AND redemptions <= COALESCE(max_redemptions, redemptions))
);
-- A buyer types it: case does not matter.
CREATE UNIQUE INDEX discounts_code_once ON discounts (organisation_id, mode, lower(code)) WHERE deleted_at IS NULL;
CREATE INDEX discounts_listed ON discounts (organisation_id, mode, id) WHERE deleted_at IS NULL;

-- Sessions on the hosted page.
CREATE TABLE checkouts (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  token text NOT NULL,
  product_id uuid NOT NULL,
  -- A buy link leaves who buys to the page.
  source text NOT NULL,
  type text NOT NULL,
  status text NOT NULL,
  customer_email text,
  customer_name text,
  external_customer_id text,
  client_reference_id text,
  metadata jsonb NOT NULL,
  success_url text,
  cancel_url text,
  discount_id uuid,
  price_id uuid NOT NULL,
  -- Whether the merchant chose the currency, so that the buyer may not.
  currency_pinned boolean NOT NULL,
  subtotal bigint NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  -- The attempt under way, or the one that paid.
  payment_id uuid,
  attempts integer NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  paid_at timestamptz,
  subscription_id uuid,
  customer_id uuid,
  -- Of the attempt under way or the one that paid; null without a discount.
  redemption text,
  CONSTRAINT checkouts_pkey PRIMARY KEY (id),
  CONSTRAINT checkouts_token_once UNIQUE (token),
  CONSTRAINT checkouts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT checkouts_discount_id_fkey FOREIGN KEY (discount_id) REFERENCES discounts(id),
  CONSTRAINT checkouts_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT checkouts_price_id_fkey FOREIGN KEY (price_id) REFERENCES prices(id),
  CONSTRAINT checkouts_product_id_fkey FOREIGN KEY (product_id) REFERENCES products(id),
  CONSTRAINT checkouts_amount_within_subtotal CHECK (amount >= 0 AND amount <= subtotal),
  CONSTRAINT checkouts_paid_by_payment CHECK ((status = 'paid'::text) = (paid_at IS NOT NULL) AND (status <> 'paid'::text OR payment_id IS NOT NULL)),
  CONSTRAINT checkouts_processing_a_payment CHECK (status <> 'processing'::text OR payment_id IS NOT NULL),
  CONSTRAINT checkouts_redemption_known CHECK (redemption = ANY (ARRAY['taken'::text, 'given_back'::text, 'confirmed'::text])),
  CONSTRAINT checkouts_source_known CHECK (source = ANY (ARRAY['api'::text, 'buy_link'::text])),
  CONSTRAINT checkouts_status_known CHECK (status = ANY (ARRAY['active'::text, 'processing'::text, 'paid'::text, 'expired'::text, 'canceled'::text]))
);
CREATE INDEX checkouts_by_status ON checkouts (organisation_id, mode, status, id);
CREATE INDEX checkouts_listed ON checkouts (organisation_id, mode, id);
CREATE INDEX checkouts_open ON checkouts (organisation_id, mode, expires_at) WHERE status = 'active'::text;

-- The numbers of an organisation's invoices: no gap, so a row and not a sequence.
CREATE TABLE invoice_counters (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  last bigint NOT NULL,
  issued_at timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
  CONSTRAINT invoice_counters_pkey PRIMARY KEY (organisation_id, mode),
  CONSTRAINT invoice_counters_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id)
);

CREATE TABLE invoices (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- Null until it is finalised.
  number text,
  status text NOT NULL,
  currency text NOT NULL,
  subtotal bigint NOT NULL,
  discount_total bigint NOT NULL,
  tax_total bigint NOT NULL,
  total bigint NOT NULL,
  amount_paid bigint NOT NULL,
  amount_refunded bigint NOT NULL,
  billing_reason text NOT NULL,
  customer_id uuid,
  subscription_id uuid,
  checkout_id uuid,
  payment_id uuid,
  period_start timestamptz,
  period_end timestamptz,
  issued_at timestamptz,
  due_at timestamptz,
  paid_at timestamptz,
  lines jsonb NOT NULL,
  -- As they were when it was issued.
  seller jsonb NOT NULL,
  buyer jsonb NOT NULL,
  event_sequence bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  -- What lost disputes of its payment took.
  amount_charged_back bigint DEFAULT 0 NOT NULL,
  -- When what its change had taken was to be given back, as the change was taken back: it bought nothing. Null for all others.
  forgone_at timestamptz,
  CONSTRAINT invoices_pkey PRIMARY KEY (id),
  CONSTRAINT invoices_number_once UNIQUE (organisation_id, mode, number),
  CONSTRAINT invoices_add_up CHECK (total = (subtotal - discount_total + tax_total) AND total >= 0),
  CONSTRAINT invoices_numbered_when_issued CHECK ((number IS NULL) = (issued_at IS NULL) AND CASE status WHEN 'draft'::text THEN number IS NULL WHEN 'void'::text THEN true ELSE number IS NOT NULL END),
  CONSTRAINT invoices_paid_in_full CHECK ( CASE status WHEN 'paid'::text THEN amount_paid = total AND paid_at IS NOT NULL ELSE amount_paid = 0 AND paid_at IS NULL END),
  CONSTRAINT invoices_reason_known CHECK (billing_reason = ANY (ARRAY['purchase'::text, 'subscription_create'::text, 'subscription_cycle'::text, 'subscription_update'::text, 'subscription_resume'::text, 'usage'::text, 'manual'::text, 'auto_topup'::text])),
  CONSTRAINT invoices_refunds_within_paid CHECK (amount_refunded >= 0 AND amount_charged_back >= 0 AND (amount_refunded + amount_charged_back) <= amount_paid),
  CONSTRAINT invoices_status_known CHECK (status = ANY (ARRAY['draft'::text, 'open'::text, 'paid'::text, 'void'::text, 'uncollectible'::text]))
);
CREATE INDEX invoices_by_status ON invoices (organisation_id, mode, status, created_at, id);
-- Their ids follow from what they bill, so they do not ascend.
CREATE INDEX invoices_listed ON invoices (organisation_id, mode, created_at, id);
CREATE INDEX invoices_listed_of_customer ON invoices (customer_id, created_at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX invoices_listed_of_subscription ON invoices (subscription_id, created_at, id) WHERE subscription_id IS NOT NULL;
CREATE INDEX invoices_of_payment ON invoices (payment_id);

CREATE TABLE payments (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  transaction_type text NOT NULL,
  checkout_id uuid,
  checkout_token text,
  product_id uuid,
  subscription_id uuid,
  invoice_id uuid,
  customer_id uuid,
  customer_email text,
  customer_name text,
  external_customer_id text,
  client_reference_id text,
  metadata jsonb NOT NULL,
  -- 1 for the first try to be paid for the same thing.
  attempt integer NOT NULL,
  processor text NOT NULL,
  processor_reference text,
  method jsonb,
  failure_code text,
  failure_message text,
  -- How often the processor was asked what became of it, and when to ask again; null where there is nothing to ask.
  asks integer NOT NULL,
  ask_at timestamptz,
  sequence bigint NOT NULL,
  event_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  paid_at timestamptz,
  meter_id uuid,
  CONSTRAINT payments_pkey PRIMARY KEY (slot, id),
  CONSTRAINT payments_status_known CHECK (status = ANY (ARRAY['requires_action'::text, 'processing'::text, 'succeeded'::text, 'partially_refunded'::text, 'refunded'::text, 'failed'::text, 'errored'::text, 'canceled'::text]))
) WITH (fillfactor=70);
CREATE INDEX payments_at_processors ON payments (organisation_id, mode, processor, paid_at, id) WHERE processor <> 'sandbox'::text AND paid_at IS NOT NULL;
CREATE UNIQUE INDEX payments_by_id ON payments (id);
CREATE INDEX payments_by_status ON payments (organisation_id, mode, status, created_at, id);
CREATE INDEX payments_listed ON payments (organisation_id, mode, created_at, id);
CREATE INDEX payments_of_checkout ON payments (checkout_id, created_at, id) WHERE checkout_id IS NOT NULL;
CREATE INDEX payments_of_customer ON payments (customer_id, created_at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX payments_of_external ON payments (organisation_id, mode, external_customer_id, created_at, id) WHERE external_customer_id IS NOT NULL;
CREATE INDEX payments_of_invoice ON payments (invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX payments_of_meter ON payments (customer_id, meter_id) WHERE meter_id IS NOT NULL;
CREATE INDEX payments_of_subscription ON payments (subscription_id, created_at, id) WHERE subscription_id IS NOT NULL;
-- What the overview of a day reads: what was captured and refunded on it, and how many subscriptions are in which state.
CREATE INDEX payments_paid ON payments (organisation_id, mode, paid_at) INCLUDE (currency, amount) WHERE paid_at IS NOT NULL;

CREATE TABLE refunds (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  payment_id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  reason text NOT NULL,
  failure_reason text,
  processor_reference text,
  asks integer NOT NULL,
  ask_at timestamptz,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  -- What its caller was told first, so that a retry is told the same; null until then.
  answered jsonb,
  CONSTRAINT refunds_pkey PRIMARY KEY (slot, id),
  CONSTRAINT refunds_amount_positive CHECK (amount > 0),
  CONSTRAINT refunds_failure_has_reason CHECK ((status = 'failed'::text) = (failure_reason IS NOT NULL)),
  CONSTRAINT refunds_settled_at_a_time CHECK ((status = 'pending'::text) = (settled_at IS NULL)),
  CONSTRAINT refunds_status_known CHECK (status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))
) WITH (fillfactor=70);
CREATE INDEX refunds_at_processors ON refunds (organisation_id, mode, settled_at, id) WHERE processor_reference !~~ 'sandbox%'::text AND settled_at IS NOT NULL;
CREATE UNIQUE INDEX refunds_by_id ON refunds (id);
CREATE INDEX refunds_listed ON refunds (slot, payment_id, created_at, id);
CREATE INDEX refunds_of_payment ON refunds (slot, payment_id, id);
-- An actor in memory knows what can still change.
CREATE INDEX refunds_open ON refunds (slot, payment_id) WHERE ask_at IS NOT NULL;
CREATE INDEX refunds_settled ON refunds (organisation_id, mode, settled_at) INCLUDE (currency, amount) WHERE status = 'succeeded'::text;

-- What a flush made true and others must still hear of: done after it, once each, swept up after a crash.
CREATE TABLE followups (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  payment_id uuid,
  data jsonb NOT NULL,
  at timestamptz NOT NULL,
  subscription_id uuid,
  customer_id uuid,
  written_at timestamptz DEFAULT now() NOT NULL,
  tries integer DEFAULT 0 NOT NULL,
  failing_since timestamptz,
  next_at timestamptz,
  dead_at timestamptz,
  -- Why, without anything of a row.
  error text,
  CONSTRAINT followups_pkey PRIMARY KEY (slot, id),
  CONSTRAINT followups_one_subject CHECK (num_nonnulls(payment_id, subscription_id) <= 1 AND COALESCE(payment_id, subscription_id, customer_id) IS NOT NULL)
);
CREATE INDEX followups_dead ON followups (payment_id, subscription_id) WHERE dead_at IS NOT NULL;
CREATE INDEX followups_failing ON followups (failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX followups_left_behind ON followups (written_at);
CREATE INDEX followups_of_customer ON followups (customer_id) WHERE payment_id IS NULL AND subscription_id IS NULL;
CREATE INDEX followups_of_payment ON followups (payment_id);
CREATE INDEX followups_of_subscription ON followups (subscription_id) WHERE subscription_id IS NOT NULL;

CREATE TABLE sandbox_charges (
  key text COLLATE "C" NOT NULL,
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
  refunded bigint DEFAULT 0 NOT NULL,
  failure_code text,
  failure_message text,
  -- Where the bank sends the buyer who was asked to confirm.
  return_url text,
  created_at timestamptz NOT NULL,
  -- The charge that saved what is charged here; its own key where it is the one that does.
  mandate text COLLATE "C",
  -- How later charges to it go.
  off_session text,
  expiry jsonb,
  forgotten_at timestamptz,
  -- How a dispute of it ends, and when; null where it is not disputed. It is opened with the charge.
  dispute text,
  dispute_ends_at timestamptz,
  CONSTRAINT sandbox_charges_pkey PRIMARY KEY (key),
  CONSTRAINT sandbox_charges_mandate_fkey FOREIGN KEY (mandate) REFERENCES sandbox_charges(key),
  CONSTRAINT sandbox_charges_action_leads CHECK (status <> 'requires_action'::text OR num_nonnulls(next_status, return_url) = 2 AND next_at IS NULL),
  CONSTRAINT sandbox_charges_amount_not_negative CHECK (amount >= 0),
  CONSTRAINT sandbox_charges_complete CHECK (status = 'canceled'::text OR num_nonnulls(amount, currency) = 2 AND (status = 'declined'::text OR method IS NOT NULL)),
  CONSTRAINT sandbox_charges_confirmation_leads CHECK (status <> 'requires_confirmation'::text OR next_status IS NOT NULL AND next_at IS NULL),
  CONSTRAINT sandbox_charges_declined_for CHECK ('declined'::text <> status AND 'declined'::text <> COALESCE(next_status, ''::text) OR num_nonnulls(failure_code, failure_message) = 2),
  CONSTRAINT sandbox_charges_dispute_ends CHECK ((dispute IS NULL) = (dispute_ends_at IS NULL)),
  CONSTRAINT sandbox_charges_dispute_known CHECK (dispute = ANY (ARRAY['won'::text, 'lost'::text])),
  CONSTRAINT sandbox_charges_forgets_what_it_saved CHECK (forgotten_at IS NULL OR off_session IS NOT NULL),
  CONSTRAINT sandbox_charges_free_to_save CHECK (amount > 0 OR NOT mandate IS DISTINCT FROM key),
  CONSTRAINT sandbox_charges_next_known CHECK (next_status = ANY (ARRAY['succeeded'::text, 'declined'::text])),
  CONSTRAINT sandbox_charges_pending_until CHECK (status <> 'pending'::text OR num_nonnulls(next_status, next_at) = 2),
  CONSTRAINT sandbox_charges_refunds_known CHECK (refunds = ANY (ARRAY['succeed'::text, 'settle'::text, 'fail_late'::text])),
  CONSTRAINT sandbox_charges_saved_for_later CHECK ((off_session IS NOT NULL) = (NOT mandate IS DISTINCT FROM key)),
  CONSTRAINT sandbox_charges_status_known CHECK (status = ANY (ARRAY['succeeded'::text, 'pending'::text, 'requires_action'::text, 'requires_confirmation'::text, 'declined'::text, 'canceled'::text]))
);

CREATE TABLE sandbox_refunds (
  key text COLLATE "C" NOT NULL,
  charge_key text COLLATE "C" NOT NULL,
  amount bigint NOT NULL,
  status text NOT NULL,
  next_status text,
  next_at timestamptz,
  failure text,
  created_at timestamptz NOT NULL,
  CONSTRAINT sandbox_refunds_pkey PRIMARY KEY (key),
  CONSTRAINT sandbox_refunds_charge_key_fkey FOREIGN KEY (charge_key) REFERENCES sandbox_charges(key),
  CONSTRAINT sandbox_refunds_amount_positive CHECK (amount > 0),
  CONSTRAINT sandbox_refunds_declined_for CHECK ('declined'::text <> status AND 'declined'::text <> COALESCE(next_status, ''::text) OR failure IS NOT NULL),
  CONSTRAINT sandbox_refunds_next_at_a_time CHECK ((next_status IS NULL) = (next_at IS NULL)),
  CONSTRAINT sandbox_refunds_next_known CHECK (next_status = ANY (ARRAY['succeeded'::text, 'declined'::text])),
  CONSTRAINT sandbox_refunds_pending_until CHECK (status <> 'pending'::text OR next_status IS NOT NULL),
  CONSTRAINT sandbox_refunds_status_known CHECK (status = ANY (ARRAY['succeeded'::text, 'pending'::text, 'declined'::text]))
);
CREATE INDEX sandbox_refunds_failing ON sandbox_refunds (charge_key) WHERE next_status = 'declined'::text;

-- One row: what tells this installation from others that share a Redis with it.
CREATE TABLE installation (
  id uuid NOT NULL,
  -- What the last server that started calls itself, for commands that print links. null: none has said so.
  app_url text,
  base_url text,
  CONSTRAINT installation_pkey PRIMARY KEY (id)
);

CREATE TABLE webhook_endpoints (
  id uuid NOT NULL,
  organisation_id uuid,
  group_id uuid,
  mode mode NOT NULL,
  url text NOT NULL,
  -- Types by name, or '*' alone.
  event_types text[] NOT NULL,
  description text,
  status text NOT NULL,
  -- Why it was disabled other than by its owner.
  disabled_reason text,
  -- Encrypted. The previous one signs along until then.
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- How it fares: failures since the last success, since when nothing but failures, deliveries given up since then, and until
  -- when only a probe is sent.
  failures integer DEFAULT 0 NOT NULL,
  failing_since timestamptz,
  exhausted integer DEFAULT 0 NOT NULL,
  paused_until timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  place bigint DEFAULT nextval('event_order'::regclass) NOT NULL,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_endpoints_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id),
  CONSTRAINT webhook_endpoints_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT webhook_endpoints_belong_to_one CHECK (num_nonnulls(organisation_id, group_id) = 1),
  CONSTRAINT webhook_endpoints_status_known CHECK (status = ANY (ARRAY['enabled'::text, 'disabled'::text])),
  CONSTRAINT webhook_endpoints_want_something CHECK (cardinality(event_types) > 0)
);
CREATE INDEX webhook_endpoints_of_group ON webhook_endpoints (group_id, mode) WHERE deleted_at IS NULL;
CREATE INDEX webhook_endpoints_of_organisation ON webhook_endpoints (organisation_id, mode) WHERE deleted_at IS NULL;

-- One for each event and each endpoint that matched when the relay passed it.
CREATE TABLE deliveries (
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL,
  -- Attempts that count against the schedule, and when the first of them was made: no later one than 24 hours after it.
  attempts integer DEFAULT 0 NOT NULL,
  first_at timestamptz,
  -- When it is due next; while a worker has it, when that worker has lost it at the latest.
  next_at timestamptz NOT NULL,
  -- The worker that has it: a result counts only from that one.
  worker uuid,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  CONSTRAINT deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id),
  CONSTRAINT deliveries_sent_while_pending CHECK (worker IS NULL OR status = 'pending'::text),
  CONSTRAINT deliveries_status_known CHECK (status = ANY (ARRAY['pending'::text, 'delivered'::text, 'held'::text, 'exhausted'::text]))
) WITH (fillfactor=70);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_at) WHERE status = 'pending'::text;
CREATE INDEX deliveries_held ON deliveries (endpoint_id) WHERE status = 'held'::text;
CREATE INDEX deliveries_in_flight ON deliveries (worker) WHERE worker IS NOT NULL;
CREATE INDEX deliveries_listed ON deliveries (endpoint_id, id);
CREATE INDEX deliveries_not_sent ON deliveries (endpoint_id, status, id) WHERE status = ANY (ARRAY['held'::text, 'exhausted'::text]);
CREATE UNIQUE INDEX deliveries_once ON deliveries (event_id, endpoint_id);
-- What was tried and waits: whose day is over is not looked for among what was never tried.
CREATE INDEX deliveries_retried ON deliveries (first_at) WHERE status = 'pending'::text AND first_at IS NOT NULL;

CREATE TABLE delivery_attempts (
  delivery_id uuid NOT NULL,
  at timestamptz NOT NULL,
  status_code smallint,
  error text,
  duration_ms integer NOT NULL,
  address inet,
  -- The first bytes of the answer, as text.
  response_head text,
  CONSTRAINT delivery_attempts_pkey PRIMARY KEY (delivery_id, at)
);

-- Workers that are alive say so every second. Whoever is silent for too long is struck off, and what it had is due again.
CREATE TABLE delivery_workers (
  id uuid NOT NULL,
  seen_at timestamptz NOT NULL,
  CONSTRAINT delivery_workers_pkey PRIMARY KEY (id)
);

-- How many endpoints an event is owed to. Deliveries are counted against it.
CREATE TABLE event_fanouts (
  event_id uuid NOT NULL,
  owed integer NOT NULL,
  "position" bigint,
  written_at timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
  -- Of a row with a position. NULL for a sample, which no stream has.
  organisation_id uuid,
  mode mode,
  CONSTRAINT event_fanouts_pkey PRIMARY KEY (event_id)
);
CREATE UNIQUE INDEX event_fanouts_position_once ON event_fanouts ("position");
CREATE INDEX event_fanouts_streamed ON event_fanouts (organisation_id, mode, "position");

-- What an organisation sets for itself, in each mode: a test key must not reach what live invoices say and live dunning does.
CREATE TABLE organisation_settings (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- Null: the name that it was registered with.
  name text,
  timezone text DEFAULT 'UTC'::text NOT NULL,
  seller jsonb DEFAULT '{}'::jsonb NOT NULL,
  -- Days after the first payment of a debt failed.
  retry_days integer[] DEFAULT '{1,3,7,13,20}'::integer[] NOT NULL,
  block_after_days integer DEFAULT 14 NOT NULL,
  expire_after_days integer DEFAULT 21 NOT NULL,
  event_sequence bigint DEFAULT 0 NOT NULL,
  updated_at timestamptz NOT NULL,
  branding jsonb DEFAULT '{}'::jsonb NOT NULL,
  CONSTRAINT organisation_settings_pkey PRIMARY KEY (organisation_id, mode),
  CONSTRAINT organisation_settings_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT organisation_settings_blocked_by_expiry CHECK (0 < block_after_days AND block_after_days <= expire_after_days),
  CONSTRAINT organisation_settings_retried_before_expiry CHECK ((0 < ALL (retry_days)) AND (expire_after_days > ALL (retry_days)))
);

-- Tags, and custom fields, which are tags with a value. What they are on is never deleted.
CREATE TABLE annotations (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  kind text NOT NULL,
  object_type text NOT NULL,
  object_id uuid NOT NULL,
  -- Whose the object is, for the events.
  customer_id uuid,
  name text NOT NULL,
  value text,
  created_at timestamptz NOT NULL,
  CONSTRAINT annotations_pkey PRIMARY KEY (id),
  CONSTRAINT annotations_name_once UNIQUE (object_id, kind, name),
  CONSTRAINT annotations_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT annotations_field_has_value CHECK ((kind = 'custom_field'::text) = (value IS NOT NULL)),
  CONSTRAINT annotations_kind_known CHECK (kind = ANY (ARRAY['tag'::text, 'custom_field'::text])),
  CONSTRAINT annotations_object_known CHECK (object_type = ANY (ARRAY['customer'::text, 'subscription'::text, 'invoice'::text]))
);
CREATE INDEX annotations_by_name ON annotations (organisation_id, mode, kind, name, id);
CREATE INDEX annotations_by_type ON annotations (organisation_id, mode, kind, object_type, id);
CREATE INDEX annotations_listed ON annotations (organisation_id, mode, kind, id);

-- What a product gives of a feature. A subscription of the product turns each into a grant; the ledger keeps those by itself.
CREATE TABLE entitlements (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  product_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  type text NOT NULL,
  -- Scaled like the meter's quantities. Null: unlimited, or a feature that one has or has not.
  amount bigint,
  reset_interval text NOT NULL,
  overage_allowed boolean NOT NULL,
  rollover_max bigint,
  rollover_periods integer,
  priority integer NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT entitlements_pkey PRIMARY KEY (id),
  CONSTRAINT entitlements_feature_once UNIQUE (product_id, meter_id),
  CONSTRAINT entitlements_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters(id),
  CONSTRAINT entitlements_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT entitlements_product_id_fkey FOREIGN KEY (product_id) REFERENCES products(id),
  CONSTRAINT entitlements_amount_not_negative CHECK (amount >= 0),
  CONSTRAINT entitlements_boolean_is_plain CHECK (type = 'metered'::text OR amount IS NULL AND reset_interval = 'never'::text AND NOT overage_allowed),
  CONSTRAINT entitlements_reset_known CHECK (reset_interval = ANY (ARRAY['never'::text, 'hour'::text, 'day'::text, 'week'::text, 'month'::text, 'quarter'::text, 'year'::text])),
  CONSTRAINT entitlements_rollover_of_what_resets CHECK (rollover_max IS NULL OR amount IS NOT NULL AND reset_interval <> 'never'::text),
  CONSTRAINT entitlements_rollover_whole CHECK ((rollover_max IS NULL) = (rollover_periods IS NULL)),
  CONSTRAINT entitlements_type_known CHECK (type = ANY (ARRAY['metered'::text, 'boolean'::text]))
);
CREATE INDEX entitlements_of_meter ON entitlements (meter_id);

-- What a customer pays with when it is not there: the name by which its processor knows the instrument, and what may be shown of it.
CREATE TABLE payment_methods (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  processor text NOT NULL,
  saved text NOT NULL,
  type text NOT NULL,
  brand text,
  last4 text NOT NULL,
  -- The last month in which a card is good.
  exp_month smallint,
  exp_year smallint,
  created_at timestamptz NOT NULL,
  -- Since when it is not charged any more.
  detached_at timestamptz,
  subscription_id uuid,
  CONSTRAINT payment_methods_pkey PRIMARY KEY (id),
  CONSTRAINT payment_methods_saved_once UNIQUE NULLS NOT DISTINCT (customer_id, processor, saved, subscription_id),
  CONSTRAINT payment_methods_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT payment_methods_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT payment_methods_expire_in_a_month CHECK ((exp_month IS NULL) = (exp_year IS NULL) AND exp_month >= 1 AND exp_month <= 12),
  CONSTRAINT payment_methods_type_known CHECK (type = ANY (ARRAY['card'::text, 'bank_debit'::text]))
);
CREATE INDEX payment_methods_default ON payment_methods (customer_id, created_at) WHERE detached_at IS NULL;

CREATE TABLE subscriptions (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  bundle_id uuid NOT NULL,
  product_id uuid NOT NULL,
  price_id uuid NOT NULL,
  plan_name text NOT NULL,
  price_list_name text NOT NULL,
  unit_amount bigint NOT NULL,
  currency text NOT NULL,
  "interval" text NOT NULL,
  interval_count integer NOT NULL,
  quantity integer NOT NULL,
  payment_link_id uuid,
  payment_link_token text,
  client_reference_id text,
  metadata jsonb NOT NULL,
  status text NOT NULL,
  overdue text NOT NULL,
  -- Period n runs from anchor + n intervals, in the zone; n is -1 in a trial.
  anchor_at timestamptz NOT NULL,
  zone text NOT NULL,
  period_index integer NOT NULL,
  period_start timestamptz NOT NULL,
  period_end timestamptz NOT NULL,
  -- What a whole one of the current period costs the customer.
  period_price bigint NOT NULL,
  trial_end timestamptz,
  cancel_at timestamptz,
  canceled_at timestamptz,
  ended_at timestamptz,
  paused_at timestamptz,
  resumes_at timestamptz,
  keep_invoices boolean NOT NULL,
  -- Unpaid invoices, what waits for a payment, what is owed to the customer.
  open jsonb NOT NULL,
  waiting jsonb,
  credit bigint NOT NULL,
  sequence bigint NOT NULL,
  event_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  -- Whether anything can still happen to it: what the actor keeps in memory.
  live boolean NOT NULL,
  usage jsonb DEFAULT '[]'::jsonb NOT NULL,
  -- What had been given back of the present period when the plan last changed.
  given_back jsonb,
  -- Of a signup with a trial, until the first period is billed.
  discount jsonb,
  -- In which time it was paused, by the millisecond: those that are over.
  pauses jsonb,
  CONSTRAINT subscriptions_pkey PRIMARY KEY (slot, id),
  CONSTRAINT subscriptions_credit_not_negative CHECK (credit >= 0),
  CONSTRAINT subscriptions_end_is_final CHECK ((status = 'canceled'::text) = (ended_at IS NOT NULL)),
  CONSTRAINT subscriptions_overdue_known CHECK (overdue = ANY (ARRAY['clear'::text, 'warning'::text, 'blocked'::text])),
  CONSTRAINT subscriptions_period_has_length CHECK (period_end > period_start),
  CONSTRAINT subscriptions_status_known CHECK (status = ANY (ARRAY['active'::text, 'paused'::text, 'canceled'::text]))
) WITH (fillfactor=70);
CREATE UNIQUE INDEX subscriptions_by_id ON subscriptions (id);
CREATE INDEX subscriptions_by_status ON subscriptions (organisation_id, mode, status, created_at, id);
CREATE INDEX subscriptions_counted ON subscriptions (organisation_id, mode, status, overdue, trial_end) WHERE status <> 'canceled'::text;
CREATE INDEX subscriptions_listed ON subscriptions (organisation_id, mode, created_at, id);
CREATE INDEX subscriptions_live ON subscriptions (slot, customer_id) WHERE live;
CREATE INDEX subscriptions_of_customer ON subscriptions (customer_id, created_at, id);
CREATE INDEX subscriptions_of_product ON subscriptions (product_id, created_at, id);

-- What opens the portal of one customer, for a while.
CREATE TABLE portal_tokens (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  -- SHA-256 of the token, which is shown once and never stored.
  hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  -- The one page that it opens; null: all of the portal.
  page text,
  -- The key that made it, which may be gone; null for a member, for the command line and mails, and for tokens older than this column.
  created_by uuid,
  -- The member who made it. The user may have left.
  created_by_user uuid,
  CONSTRAINT portal_tokens_pkey PRIMARY KEY (id),
  CONSTRAINT portal_tokens_hash_once UNIQUE (hash),
  CONSTRAINT portal_tokens_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT portal_tokens_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT portal_tokens_last_a_while CHECK (expires_at > created_at),
  CONSTRAINT portal_tokens_page_known CHECK (page = 'payment_method'::text)
);
CREATE INDEX portal_tokens_of_customer ON portal_tokens (customer_id, expires_at);
CREATE INDEX portal_tokens_of_key ON portal_tokens (created_by) WHERE revoked_at IS NULL AND created_by IS NOT NULL;
CREATE INDEX portal_tokens_of_user ON portal_tokens (created_by_user) WHERE revoked_at IS NULL AND created_by_user IS NOT NULL;

-- How far the time of an organisation's test mode is ahead of the wall clock. No row: it is not.
CREATE TABLE test_clocks (
  organisation_id uuid NOT NULL,
  ahead_ms bigint NOT NULL,
  stopped_at timestamptz,
  mover uuid,
  version bigint DEFAULT 1 NOT NULL,
  CONSTRAINT test_clocks_pkey PRIMARY KEY (organisation_id),
  CONSTRAINT test_clocks_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT test_clocks_ahead CHECK (ahead_ms >= 0),
  CONSTRAINT test_clocks_stopped CHECK ((stopped_at IS NULL) = (mover IS NULL))
);

-- The books beyond the window in which an idempotency key counts once: usage and grants, by the month in which they were decided.
-- No index: nothing looks a row up there, the audit reads all of them, and a month is dropped whole.
CREATE TABLE transfers_archive (
  id uuid NOT NULL,
  debit uuid NOT NULL,
  credit uuid NOT NULL,
  amount bigint,
  at timestamptz NOT NULL,
  value bigint,
  event_at timestamptz,
  consumed_after bigint,
  limit_after bigint,
  fingerprint bigint,
  hold uuid,
  kind transfer_kind NOT NULL,
  reason reason,
  slot smallint NOT NULL,
  node smallint NOT NULL,
  guarded boolean NOT NULL,
  metadata jsonb,
  answer jsonb,
  sold boolean,
  unbinned boolean DEFAULT true,
  events bigint,
  -- A hold and what resolves it stay together where the constraints are, and so does whatever moves money.
  CONSTRAINT transfers_archive_without_holds CHECK (kind = ANY (ARRAY['single'::transfer_kind, 'reverse'::transfer_kind, 'refused'::transfer_kind])),
  CONSTRAINT transfers_sound CHECK (debit <> credit AND COALESCE(amount, value, '-1'::integer::bigint) >= 0 AND (kind = ANY (ARRAY['post'::transfer_kind, 'void'::transfer_kind])) = (hold IS NOT NULL) AND (value IS NULL) = (reason IS NULL) AND NOT (guarded AND consumed_after > limit_after))
) PARTITION BY RANGE (at);
CREATE INDEX transfers_archive_by_time ON ONLY transfers_archive USING brin (COALESCE(event_at, at) timestamptz_minmax_multi_ops, debit uuid_bloom_ops (n_distinct_per_range='1500'), credit uuid_bloom_ops (n_distinct_per_range='100')) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX transfers_archive_sold ON ONLY transfers_archive (debit, COALESCE(event_at, at), id) WHERE sold;
ALTER TABLE transfers_archive REPLICA IDENTITY FULL;

-- What the transfers that are gone moved on an account; written by the transaction that drops them.
CREATE TABLE closing_balances (
  account_id uuid NOT NULL,
  debits numeric DEFAULT 0 NOT NULL,
  credits numeric DEFAULT 0 NOT NULL,
  -- What the aggregate follows from: the sum of the events' values, their count with signs, the highest, and who was counted.
  events_total numeric DEFAULT 0 NOT NULL,
  events_signed bigint DEFAULT 0 NOT NULL,
  events_highest bigint DEFAULT 0 NOT NULL,
  members bigint DEFAULT 0 NOT NULL,
  unbinned_total numeric DEFAULT 0 NOT NULL,
  unbinned_signed bigint DEFAULT 0 NOT NULL,
  -- Of the events that are dropped, how many are corrections that bins have as such: not those that were dropped before bins had any.
  corrections bigint DEFAULT 0 NOT NULL,
  CONSTRAINT closing_balances_pkey PRIMARY KEY (account_id),
  CONSTRAINT closing_balances_members_not_negative CHECK (members >= 0)
);

-- How many events are gone of what a customer has of a meter.
CREATE TABLE event_closings (
  object_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  dropped bigint NOT NULL,
  CONSTRAINT event_closings_pkey PRIMARY KEY (object_id),
  CONSTRAINT event_closings_of_something CHECK (dropped > 0)
);

-- What of each kind is kept: from then on all of it. What is older may be gone.
CREATE TABLE retention (
  kind text NOT NULL,
  since timestamptz NOT NULL,
  CONSTRAINT retention_pkey PRIMARY KEY (kind)
);

-- One for each event that is not passed yet.
CREATE TABLE event_queue (
  organisation_id uuid NOT NULL,
  place bigint DEFAULT nextval('event_order'::regclass) NOT NULL,
  event_id uuid NOT NULL,
  written_at timestamptz DEFAULT now() NOT NULL,
  CONSTRAINT event_queue_pkey PRIMARY KEY (organisation_id, place)
) WITH (autovacuum_vacuum_threshold=2000, autovacuum_vacuum_scale_factor=0);

-- Those that cannot be passed, each alone: an operator hears of them, and says when they are tried again.
CREATE TABLE event_faults (
  event_id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  place bigint NOT NULL,
  written_at timestamptz NOT NULL,
  failed_at timestamptz NOT NULL,
  error text NOT NULL,
  CONSTRAINT event_faults_pkey PRIMARY KEY (event_id)
);

-- One row, which whoever passes events on has locked: the position of the last one, and whose turn it was last.
CREATE TABLE event_relay (
  "position" bigint NOT NULL,
  turn uuid NOT NULL
) WITH (fillfactor=10, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_scale_factor=0);
ALTER TABLE event_relay REPLICA IDENTITY FULL;

-- Since when, where somebody was here before: what was recorded under keys of the organisation's scope is looked up for as long as it is
-- in `transfers`. A server of before may record its first one while this runs, and until another takes its place.
CREATE TABLE usage_keys (
  by_customer_since timestamptz NOT NULL,
  CONSTRAINT usage_keys_pkey PRIMARY KEY (by_customer_since)
);

-- Mails to buyers that are owed. Written in the transaction of what they tell of, and only where there is a server to send them.
CREATE TABLE mails (
  -- Derived from what it tells of, so that it is owed once.
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  kind text NOT NULL,
  invoice_id uuid,
  -- NULL once it is settled: addresses are not kept here.
  recipient text,
  data jsonb NOT NULL,
  status text DEFAULT 'pending'::text NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  -- Of whoever tries to send it; it is free again at next_at.
  claim uuid,
  next_at timestamptz DEFAULT now() NOT NULL,
  written_at timestamptz DEFAULT now() NOT NULL,
  settled_at timestamptz,
  CONSTRAINT mails_pkey PRIMARY KEY (id),
  CONSTRAINT mails_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT mails_kind_known CHECK (kind = ANY (ARRAY['receipt'::text, 'refund'::text, 'charge_failed'::text, 'blocked'::text, 'ended'::text])),
  CONSTRAINT mails_pending_have_recipient CHECK (status <> 'pending'::text OR recipient IS NOT NULL),
  CONSTRAINT mails_settled CHECK ((status = 'pending'::text) = (settled_at IS NULL)),
  CONSTRAINT mails_status_known CHECK (status = ANY (ARRAY['pending'::text, 'sent'::text, 'refused'::text, 'given_up'::text, 'dropped'::text]))
);
CREATE INDEX mails_lost ON mails (settled_at) WHERE status = ANY (ARRAY['given_up'::text, 'refused'::text]);
CREATE INDEX mails_pending ON mails (organisation_id, next_at) WHERE status = 'pending'::text;
-- What is given up is found without walking all that waits: a mail server that is away for a day leaves much.
CREATE INDEX mails_waiting ON mails (written_at) WHERE status = 'pending'::text;

CREATE TABLE groups_left (
  organisation_id uuid NOT NULL,
  group_id uuid NOT NULL,
  -- For the last time.
  left_at timestamptz NOT NULL,
  CONSTRAINT groups_left_pkey PRIMARY KEY (organisation_id, group_id),
  CONSTRAINT groups_left_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id),
  CONSTRAINT groups_left_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id)
);

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
  CONSTRAINT balances_pkey PRIMARY KEY (slot, id),
  -- All rules in one, because PostgreSQL reads each CHECK from its text for each statement: no total is negative; consumption is the
  -- floored aggregate; the ceiling.
  CONSTRAINT balances_sound CHECK (LEAST(debits_posted, debits_pending, credits_posted, credits_pending) >= 0 AND (aggregate IS NULL OR debits_posted = GREATEST(aggregate, '0'::bigint)) AND NOT (capped AND (debits_posted + debits_pending) > credits_posted))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.1);

-- The totals of the other sides, of which each node has its own: of kind usage, grants and clearing. They sum what all customers of an
-- organisation do, so a bigint is not enough, and any of them may be negative: a node may take back what another one gave.
CREATE TABLE node_balances (
  debits_posted numeric NOT NULL,
  credits_posted numeric NOT NULL,
  debits_pending numeric NOT NULL,
  credits_pending numeric NOT NULL,
  id uuid NOT NULL,
  CONSTRAINT node_balances_pkey PRIMARY KEY (id)
) WITH (fillfactor=90);

-- How much room an owner has for open checkouts. Counting them for each new one would read all of them. So they are counted where the room
-- is used up; until then what expires or is paid only leaves more of it than this says.
CREATE TABLE checkout_rooms (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  source text NOT NULL,
  -- The bound by which they were counted.
  open_max integer NOT NULL,
  -- So many more may be opened before they are counted again.
  room integer NOT NULL,
  CONSTRAINT checkout_rooms_pkey PRIMARY KEY (organisation_id, mode, source),
  CONSTRAINT checkout_rooms_not_negative CHECK (room >= 0)
) WITH (fillfactor=50);

-- What a product asks for usage of a feature beyond its allowance. Never changed but for its status.
CREATE TABLE usage_prices (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  product_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  currency text NOT NULL,
  model text NOT NULL,
  -- What the model needs: unit amounts in 10^-12 of the major unit, other amounts in the smallest coin, quantities scaled like the meter's; all
  -- of them as text, since JSON numbers are not exact.
  tariff jsonb NOT NULL,
  -- In the smallest coin, for each span.
  minimum_amount bigint,
  maximum_amount bigint,
  status text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT usage_prices_pkey PRIMARY KEY (id),
  CONSTRAINT usage_prices_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters(id),
  CONSTRAINT usage_prices_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT usage_prices_product_id_fkey FOREIGN KEY (product_id) REFERENCES products(id),
  CONSTRAINT usage_prices_minimum_fits CHECK (minimum_amount >= 0 AND maximum_amount >= 0 AND (minimum_amount <= maximum_amount) IS NOT FALSE),
  CONSTRAINT usage_prices_model_known CHECK (model = ANY (ARRAY['per_unit'::text, 'graduated'::text, 'volume'::text, 'package'::text])),
  CONSTRAINT usage_prices_status_known CHECK (status = ANY (ARRAY['active'::text, 'archived'::text]))
);
CREATE UNIQUE INDEX usage_prices_active_once ON usage_prices (product_id, meter_id, currency) WHERE status = 'active'::text;
CREATE INDEX usage_prices_of_meter ON usage_prices (meter_id) WHERE status = 'active'::text;
CREATE INDEX usage_prices_of_product ON usage_prices (product_id, id);

-- A stretch of time in which a customer's usage of a meter is sold by one price. Aggregates are those of its period's events before it begins and
-- before it ends; what is past the limit in the one and not in the other is billed.
CREATE TABLE usage_spans (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  usage_price_id uuid NOT NULL,
  -- The account of its period.
  account_id uuid NOT NULL,
  started_at timestamptz NOT NULL,
  -- Null while it runs.
  ended_at timestamptz,
  -- With which it ended. Null: unlimited, or it runs.
  quantity_limit bigint,
  opening_aggregate bigint NOT NULL,
  opening_latest_at timestamptz,
  opening_latest_id uuid,
  closing_aggregate bigint,
  closing_latest_at timestamptz,
  closing_latest_id uuid,
  -- All spans of one line of an invoice have the same.
  billed_as uuid,
  -- Whether anything can still happen to it: what the actor keeps in memory.
  live boolean NOT NULL,
  -- Its period, as it was to be when the span opened. Null of spans of before: they are whole.
  period_start timestamptz,
  period_end timestamptz,
  place smallint DEFAULT 0 NOT NULL,
  ended_in smallint,
  CONSTRAINT usage_spans_pkey PRIMARY KEY (slot, id),
  CONSTRAINT usage_spans_billed_is_closed CHECK (billed_as IS NULL OR ended_at IS NOT NULL),
  CONSTRAINT usage_spans_closed_is_counted CHECK ((ended_at IS NULL) = (closing_aggregate IS NULL)),
  CONSTRAINT usage_spans_ends_after_start CHECK (ended_at >= started_at)
) WITH (fillfactor=70);
CREATE INDEX usage_spans_billed_as ON usage_spans (billed_as) WHERE billed_as IS NOT NULL;
CREATE INDEX usage_spans_live ON usage_spans (slot, customer_id) WHERE live;
CREATE INDEX usage_spans_of_subscription ON usage_spans (subscription_id, started_at);

-- What a customer's subscriptions share.
CREATE TABLE billing_accounts (
  slot smallint NOT NULL,
  customer_id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- What ended subscriptions left, by currency.
  credit jsonb NOT NULL,
  spend_cap jsonb,
  CONSTRAINT billing_accounts_pkey PRIMARY KEY (slot, customer_id)
) WITH (fillfactor=70);

-- Accounts at payment processors that organisations have connected. One that is ended takes nothing new, but is still asked about
-- what it took: its charges, their refunds and disputes.
CREATE TABLE processor_accounts (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  type text NOT NULL,
  -- As the processor names it.
  account text NOT NULL,
  -- Encrypted for the id of the row.
  sealed_key bytea NOT NULL,
  last4 text NOT NULL,
  -- What signs its webhooks, encrypted in the same way; null where it is not known.
  sealed_webhook_secret bytea,
  -- The webhook endpoint that was registered there.
  webhook_endpoint_id text,
  -- `failing`: it refused the key.
  status text DEFAULT 'active'::text NOT NULL,
  -- When the key was last accepted or refused.
  checked_at timestamptz NOT NULL,
  connected_at timestamptz NOT NULL,
  ended_at timestamptz,
  CONSTRAINT processor_accounts_pkey PRIMARY KEY (id),
  CONSTRAINT processor_accounts_organisation_id_mode_type_account_key UNIQUE (organisation_id, mode, type, account),
  CONSTRAINT processor_accounts_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT processor_accounts_account_check CHECK (account ~ '^[a-zA-Z0-9_]{1,64}$'::text),
  CONSTRAINT processor_accounts_last4_check CHECK (length(last4) <= 4),
  CONSTRAINT processor_accounts_status_check CHECK (status = ANY (ARRAY['active'::text, 'failing'::text])),
  CONSTRAINT processor_accounts_type_check CHECK (type = 'stripe'::text)
);
CREATE UNIQUE INDEX processor_accounts_current ON processor_accounts (organisation_id, mode) WHERE ended_at IS NULL;

CREATE TABLE stripe_charges (
  -- Our payment's id, or that of a verification.
  key text COLLATE "C" NOT NULL,
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
  CONSTRAINT stripe_charges_pkey PRIMARY KEY (key),
  CONSTRAINT stripe_charges_complete CHECK (state = 'canceled'::text OR num_nonnulls(kind, currency) = 2),
  CONSTRAINT stripe_charges_declined_for CHECK ((state = 'declined'::text) = (code IS NOT NULL)),
  CONSTRAINT stripe_charges_kind_known CHECK (kind = ANY (ARRAY['session'::text, 'setup'::text, 'intent'::text])),
  -- The state of a charge under way is Stripe's: only what it may not become is written here.
  CONSTRAINT stripe_charges_state_known CHECK (state = ANY (ARRAY['open'::text, 'canceled'::text, 'declined'::text]))
);
-- One object of Stripe's is one charge; webhooks name it.
CREATE UNIQUE INDEX stripe_charges_by_intent ON stripe_charges (account, intent) WHERE intent IS NOT NULL;
-- Stripe's news of a dispute names the intent, and none of our keys.
CREATE INDEX stripe_charges_of_intent ON stripe_charges (intent) WHERE intent IS NOT NULL;

CREATE TABLE stripe_refunds (
  -- Our refund's id.
  key text COLLATE "C" NOT NULL,
  charge_key text COLLATE "C" NOT NULL,
  amount bigint NOT NULL,
  -- null while no answer has come.
  stripe_id text,
  -- Why Stripe made none.
  declined text,
  created_at timestamptz NOT NULL,
  CONSTRAINT stripe_refunds_pkey PRIMARY KEY (key),
  CONSTRAINT stripe_refunds_charge_key_fkey FOREIGN KEY (charge_key) REFERENCES stripe_charges(key),
  CONSTRAINT stripe_refunds_amount_positive CHECK (amount > 0),
  CONSTRAINT stripe_refunds_one_outcome CHECK (num_nonnulls(stripe_id, declined) <= 1)
);

-- What a processor said has changed. Nothing is applied from it: the processor is asked again.
CREATE TABLE processor_hints (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- The processor's id of its event, which it may send more than once.
  event_id text NOT NULL,
  -- The account that sent it, as payments name it.
  processor text NOT NULL,
  about text NOT NULL,
  subject text NOT NULL,
  received_at timestamptz DEFAULT now() NOT NULL,
  -- Whoever asks puts the next try off first: nobody else asks meanwhile.
  tries integer DEFAULT 0 NOT NULL,
  next_at timestamptz DEFAULT now() NOT NULL,
  -- When the processor was asked, or asking was given up.
  settled_at timestamptz,
  CONSTRAINT processor_hints_pkey PRIMARY KEY (organisation_id, mode, event_id),
  CONSTRAINT processor_hints_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT processor_hints_about_check CHECK (about = ANY (ARRAY['charge'::text, 'refund'::text, 'dispute'::text])),
  CONSTRAINT processor_hints_event_id_check CHECK (length(event_id) >= 1 AND length(event_id) <= 255),
  CONSTRAINT processor_hints_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 64)
);
CREATE INDEX processor_hints_open ON processor_hints (organisation_id, mode, next_at) WHERE settled_at IS NULL;

-- Disputes of payments: a buyer's bank takes money back, or tries to. Each is written with the flushes of its payment's actor.
CREATE TABLE disputes (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  payment_id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- The processor's own name for it.
  reference text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  reason text NOT NULL,
  status text NOT NULL,
  -- The pending transfer that an open one has, and its amount; 0 where the payment's account has nothing left.
  hold uuid,
  held bigint NOT NULL,
  -- What a lost one took of the payment's account: less than its amount where refunds had been first.
  charged_back bigint NOT NULL,
  -- How many transfers it has made: their ids are derived from their number.
  moves integer NOT NULL,
  -- How often the processor was asked about it in vain, and when to ask again.
  asks integer NOT NULL,
  ask_at timestamptz,
  opened_at timestamptz NOT NULL,
  -- When it was won or lost.
  closed_at timestamptz,
  CONSTRAINT disputes_pkey PRIMARY KEY (slot, id),
  CONSTRAINT disputes_amount_positive CHECK (amount > 0),
  CONSTRAINT disputes_closed_at_a_time CHECK ((status = 'opened'::text) = (closed_at IS NULL)),
  CONSTRAINT disputes_held_while_open CHECK ((hold IS NOT NULL) = (held > 0) AND (held = 0 OR status = 'opened'::text)),
  CONSTRAINT disputes_status_known CHECK (status = ANY (ARRAY['opened'::text, 'won'::text, 'lost'::text])),
  CONSTRAINT disputes_taken_when_lost CHECK (charged_back = 0 OR status = 'lost'::text),
  CONSTRAINT disputes_within_amount CHECK (held >= 0 AND charged_back >= 0 AND (held + charged_back) <= amount)
) WITH (fillfactor=70);
CREATE UNIQUE INDEX disputes_by_id ON disputes (id);
CREATE INDEX disputes_of_payment ON disputes (slot, payment_id, id);

-- A comparison of what an account lists of a window of time with what is here. It is read page by page; whoever holds the row goes on
-- behind its cursor.
CREATE TABLE reconciliation_runs (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  -- By the processor's clock.
  since timestamptz NOT NULL,
  until timestamptz NOT NULL,
  -- By the organisation's, which may be ahead in test mode.
  ours_since timestamptz NOT NULL,
  ours_until timestamptz NOT NULL,
  -- Which list is being read, and behind which row; null from its first on.
  step text NOT NULL,
  cursor text,
  -- Rows of the processor that were compared, and those that are not of this service.
  compared bigint DEFAULT 0 NOT NULL,
  not_ours bigint DEFAULT 0 NOT NULL,
  begun_at timestamptz NOT NULL,
  finished_at timestamptz,
  -- Free again at held_until, so that a killed process keeps nothing.
  holder uuid,
  held_until timestamptz,
  failures integer DEFAULT 0 NOT NULL,
  next_at timestamptz DEFAULT now() NOT NULL,
  -- Why the last attempt failed. With finished_at: given up.
  error text,
  CONSTRAINT reconciliation_runs_pkey PRIMARY KEY (id),
  CONSTRAINT reconciliation_runs_account_id_fkey FOREIGN KEY (account_id) REFERENCES processor_accounts(id),
  CONSTRAINT reconciliation_runs_check CHECK (until > since)
);
CREATE INDEX reconciliation_runs_of_account ON reconciliation_runs (account_id, begun_at);
CREATE UNIQUE INDEX reconciliation_runs_open ON reconciliation_runs (account_id) WHERE finished_at IS NULL;

CREATE TABLE reconciliation_differences (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  subject text NOT NULL,
  -- Our id of the subject, where we have one; else the processor's.
  key text NOT NULL,
  kind text NOT NULL,
  -- The processor's id of the subject, where it has one.
  reference text,
  payment_id uuid,
  -- What each side says.
  ours text,
  theirs text,
  found_at timestamptz DEFAULT now() NOT NULL,
  seen_at timestamptz DEFAULT now() NOT NULL,
  -- Since when it is not seen any more.
  resolved_at timestamptz,
  -- An operator knows of it.
  accepted_at timestamptz,
  CONSTRAINT reconciliation_differences_pkey PRIMARY KEY (id),
  CONSTRAINT reconciliation_differences_account_id_fkey FOREIGN KEY (account_id) REFERENCES processor_accounts(id),
  CONSTRAINT reconciliation_differences_kind_check CHECK (kind = ANY (ARRAY['missing'::text, 'extra'::text, 'amount'::text, 'currency'::text, 'state'::text])),
  CONSTRAINT reconciliation_differences_subject_check CHECK (subject = ANY (ARRAY['charge'::text, 'refund'::text, 'dispute'::text]))
);
CREATE UNIQUE INDEX reconciliation_differences_open ON reconciliation_differences (account_id, subject, key, kind) WHERE resolved_at IS NULL;

-- What the balance of an account was moved by for us: what each charge brought and what it cost.
CREATE TABLE processor_transactions (
  account_id uuid NOT NULL,
  -- As the processor names it.
  id text NOT NULL,
  subject text NOT NULL,
  -- The processor's id of the subject.
  reference text NOT NULL,
  payment_id uuid NOT NULL,
  refund_id uuid,
  -- In the currency of the balance, in the processor's units.
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  currency text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT processor_transactions_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT processor_transactions_account_id_fkey FOREIGN KEY (account_id) REFERENCES processor_accounts(id),
  CONSTRAINT processor_transactions_subject_check CHECK (subject = ANY (ARRAY['charge'::text, 'refund'::text, 'dispute'::text]))
);
CREATE INDEX processor_transactions_by_reference ON processor_transactions (account_id, reference);
CREATE INDEX processor_transactions_of_payment ON processor_transactions (payment_id, subject);
CREATE INDEX processor_transactions_of_refund ON processor_transactions (refund_id) WHERE refund_id IS NOT NULL;

CREATE TABLE payouts (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  account_id uuid NOT NULL,
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
  gross bigint DEFAULT 0 NOT NULL,
  fees bigint DEFAULT 0 NOT NULL,
  refunds bigint DEFAULT 0 NOT NULL,
  disputes bigint DEFAULT 0 NOT NULL,
  other bigint DEFAULT 0 NOT NULL,
  count bigint DEFAULT 0 NOT NULL,
  cursor text,
  summed_at timestamptz,
  CONSTRAINT payouts_pkey PRIMARY KEY (id),
  CONSTRAINT payouts_account_id_payout_key UNIQUE (account_id, payout),
  CONSTRAINT payouts_account_id_fkey FOREIGN KEY (account_id) REFERENCES processor_accounts(id),
  CONSTRAINT payouts_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id)
);
CREATE INDEX payouts_listed ON payouts (organisation_id, mode, created_at, id);
CREATE INDEX payouts_moving ON payouts (account_id, created_at) WHERE status = ANY (ARRAY['pending'::text, 'in_transit'::text]);
CREATE INDEX payouts_to_sum ON payouts (account_id, id) WHERE itemised AND summed_at IS NULL;

-- Tries of customers to replace their payment method: which processor is asked about one, also after another account was connected, and
-- for whom it keeps the method where the customer does not come back from its page.
CREATE TABLE method_attempts (
  -- Its key at the processor.
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  -- As payments name it.
  processor text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT method_attempts_pkey PRIMARY KEY (id),
  CONSTRAINT method_attempts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT method_attempts_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id)
);

-- What a flush adds to the bins: its usage, summed by account and quarter. Entries are side by side in the arrays. Whoever reads usage
-- adds these to the bins; the folder moves them there.
CREATE TABLE usage_deltas (
  node smallint NOT NULL,
  -- Of the flush. Of node 0, which no server is: a step of the backfill.
  seq bigint NOT NULL,
  written_at timestamptz DEFAULT now() NOT NULL,
  slots smallint[] NOT NULL,
  accounts uuid[] NOT NULL,
  -- When each quarter begins, by the events' own time.
  quarters timestamptz[] NOT NULL,
  -- The sum of the events' values: corrections are negative. A flush has some 8,700 events of an account at most, each below 10^15.
  sums bigint[] NOT NULL,
  -- The number of events, less corrections: below 0 where corrections are more.
  events bigint[] NOT NULL,
  CONSTRAINT usage_deltas_pkey PRIMARY KEY (node, seq)
) WITH (toast_tuple_target=8160, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_scale_factor=0);

-- Of an account, which is one period of a customer's meter. Numeric: what later events correct may sum to more than any total may be.
CREATE TABLE usage_bins (
  slot smallint NOT NULL,
  account_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  value numeric NOT NULL,
  events bigint NOT NULL,
  -- Each takes one off `events`: the number of events is events + 2 * corrections.
  corrections bigint DEFAULT 0 NOT NULL,
  CONSTRAINT usage_bins_pkey PRIMARY KEY (slot, account_id, quarter)
) WITH (fillfactor=80);

-- Of a meter, over all of its customers.
CREATE TABLE usage_totals (
  meter_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  value numeric NOT NULL,
  events bigint NOT NULL,
  -- Each takes one off `events`: the number of events is events + 2 * corrections.
  corrections bigint DEFAULT 0 NOT NULL,
  CONSTRAINT usage_totals_pkey PRIMARY KEY (meter_id, quarter)
) WITH (fillfactor=50);

-- What the backfill has still to read: from this page on, of so many. Null: it has not begun. Without a row bins are whole.
CREATE TABLE usage_backfills (
  relation text NOT NULL,
  page bigint NOT NULL,
  pages bigint,
  CONSTRAINT usage_backfills_pkey PRIMARY KEY (relation)
);

-- People: who may sign in to the dashboard, and to which organisations they belong.
CREATE TABLE users (
  id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Since when the user may not sign in.
  disabled_at timestamptz,
  -- The secret of the codes, encrypted for the id of the user. It counts from the first code on.
  totp_secret bytea,
  totp_confirmed_at timestamptz,
  -- The step of 30 s of the last code that was taken: none of it or of an earlier one is taken again.
  totp_step bigint,
  -- Wrong codes since the last right one.
  totp_misses integer DEFAULT 0 NOT NULL,
  -- Since when the address is known to be the user's: by a link that was mailed or that an operator has printed, or by the identity
  -- provider. Null: not yet.
  email_proven_at timestamptz,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_fits CHECK (char_length(email) >= 3 AND char_length(email) <= 254),
  CONSTRAINT users_name_fits CHECK (char_length(name) >= 1 AND char_length(name) <= 255),
  CONSTRAINT users_totp_confirmed_with_secret CHECK (totp_confirmed_at IS NULL OR totp_secret IS NOT NULL)
);
-- The letters of ASCII alone have two cases here: no other letter is taken for one of them.
CREATE UNIQUE INDEX users_email_once ON users (lower(email COLLATE "C"));

-- What takes the place of a code, once each. SHA-256.
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL,
  hash bytea NOT NULL,
  used_at timestamptz,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, hash),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

CREATE TABLE organisation_members (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT organisation_members_pkey PRIMARY KEY (id),
  CONSTRAINT organisation_members_once UNIQUE (user_id, organisation_id),
  CONSTRAINT organisation_members_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT organisation_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  CONSTRAINT organisation_members_role_known CHECK (role = ANY (ARRAY['owner'::text, 'admin'::text, 'support'::text, 'read_only'::text]))
);
CREATE INDEX organisation_members_listed ON organisation_members (organisation_id, id);

CREATE TABLE invitations (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  -- SHA-256 of what the mailed link ends in.
  hash bytea NOT NULL,
  -- The user; null for a key.
  invited_by uuid,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at timestamptz,
  -- The key that invited, which may be gone; null for a member, and for invitations older than this column.
  invited_by_key uuid,
  -- Whether the link was in a mail alone: who has it reads the mails of the address.
  mailed boolean DEFAULT false NOT NULL,
  CONSTRAINT invitations_pkey PRIMARY KEY (id),
  CONSTRAINT invitations_hash_once UNIQUE (hash),
  CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id),
  CONSTRAINT invitations_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT invitations_email_fits CHECK (char_length(email) >= 3 AND char_length(email) <= 254),
  CONSTRAINT invitations_role_known CHECK (role = ANY (ARRAY['owner'::text, 'admin'::text, 'support'::text, 'read_only'::text]))
);
CREATE INDEX invitations_listed ON invitations (organisation_id, id);
CREATE INDEX invitations_of_email ON invitations (lower(email COLLATE "C")) WHERE accepted_at IS NULL AND revoked_at IS NULL;
-- The open ones of a key, which end with it.
CREATE INDEX invitations_of_key ON invitations (invited_by_key) WHERE accepted_at IS NULL AND revoked_at IS NULL AND invited_by_key IS NOT NULL;
-- One of an address in an organisation is open; another takes its place.
CREATE UNIQUE INDEX invitations_open_once ON invitations (organisation_id, lower(email COLLATE "C")) WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- Links that sign in, once each.
CREATE TABLE sign_in_links (
  id uuid NOT NULL,
  -- SHA-256 of what the link ends in.
  hash bytea NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  CONSTRAINT sign_in_links_pkey PRIMARY KEY (id),
  CONSTRAINT sign_in_links_hash_once UNIQUE (hash),
  CONSTRAINT sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX sign_in_links_of_user ON sign_in_links (user_id, expires_at);

CREATE TABLE sessions (
  id uuid NOT NULL,
  -- SHA-256 of what the browser holds: another one after each code.
  hash bytea NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  -- To the minute.
  seen_at timestamptz NOT NULL,
  revoked_at timestamptz,
  -- Of its last code.
  second_factor_at timestamptz,
  address text NOT NULL,
  user_agent text NOT NULL,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_hash_once UNIQUE (hash),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  CONSTRAINT sessions_from_fits CHECK (char_length(address) <= 64 AND char_length(user_agent) <= 255)
);
CREATE INDEX sessions_of_user ON sessions (user_id, created_at);

CREATE TABLE audit_log (
  -- Of a call with an Idempotency-Key it follows from the key, so that a repetition of the call adds no second row.
  id uuid NOT NULL,
  -- Null where the action was on a group, or on the installation. No foreign keys: the log stays, whatever becomes of what it names.
  organisation_id uuid,
  group_id uuid,
  -- Null where it was on both.
  mode mode,
  -- By the wall clock, when the action was done.
  at timestamptz NOT NULL,
  actor_kind text NOT NULL,
  -- Of the user, the key or the customer.
  actor_id uuid,
  -- As it was then: the e-mail address of the user, the name and the end of the key, the address or the id of the customer, the account and the host of the command line.
  actor_label text NOT NULL,
  -- Of a user; of a customer the link to its portal.
  session_id uuid,
  address text,
  user_agent text,
  request_id text,
  -- Of the API, or the command.
  operation text NOT NULL,
  object_type text NOT NULL,
  object_id text,
  -- Of the answer; null for a command.
  status smallint,
  -- The fields that changed, without secrets.
  before jsonb,
  after jsonb,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id),
  CONSTRAINT audit_log_actor_kind_check CHECK (actor_kind = ANY (ARRAY['user'::text, 'key'::text, 'customer'::text, 'command_line'::text])),
  CONSTRAINT audit_log_after_check CHECK (octet_length(after::text) <= 65536),
  CONSTRAINT audit_log_before_check CHECK (octet_length(before::text) <= 65536)
);
CREATE INDEX audit_log_live ON audit_log (organisation_id, at, id) WHERE mode IS DISTINCT FROM 'test'::mode;
-- The log by who acted: users, keys, customers or the command line. Without it a kind that did nothing is looked for in all of the log.
CREATE INDEX audit_log_of_actor_kind_live ON audit_log (organisation_id, actor_kind, at, id) WHERE mode IS DISTINCT FROM 'test'::mode;
CREATE INDEX audit_log_of_actor_kind_test ON audit_log (organisation_id, actor_kind, at, id) WHERE mode IS DISTINCT FROM 'live'::mode;
CREATE INDEX audit_log_of_actor_live ON audit_log (organisation_id, actor_id, at, id) WHERE mode IS DISTINCT FROM 'test'::mode;
CREATE INDEX audit_log_of_actor_test ON audit_log (organisation_id, actor_id, at, id) WHERE mode IS DISTINCT FROM 'live'::mode;
CREATE INDEX audit_log_of_object ON audit_log (organisation_id, object_id, at, id);
CREATE INDEX audit_log_of_operation_live ON audit_log (organisation_id, operation, at, id) WHERE mode IS DISTINCT FROM 'test'::mode;
CREATE INDEX audit_log_of_operation_test ON audit_log (organisation_id, operation, at, id) WHERE mode IS DISTINCT FROM 'live'::mode;
CREATE INDEX audit_log_of_request ON audit_log (organisation_id, request_id, at) WHERE request_id IS NOT NULL;
-- What a reader of one mode sees, newest first. A row of both modes is in both.
CREATE INDEX audit_log_test ON audit_log (organisation_id, at, id) WHERE mode IS DISTINCT FROM 'live'::mode;

-- Denials: each no of /check and /track, and on what balance. They are written once a second, beside the answers: a killed process
-- loses those of its last second.
CREATE TABLE denials (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  meter_id uuid NOT NULL,
  -- Null: these are only counted, because that second had more than are kept.
  customer_id uuid,
  -- The first and the last of `count` times the same answer to the same question, by the organisation's clock; then the first by the
  -- clock of the node.
  at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  recorded_at timestamptz NOT NULL,
  count integer NOT NULL,
  kind text,
  reason reason,
  -- What was asked for, and the balance that it was refused on. A limit that is null: unlimited.
  value bigint,
  "limit" bigint,
  consumed bigint,
  reserved bigint,
  period_start timestamptz,
  period_end timestamptz,
  -- Of a refusal with a key: its row in transfers. A replayed one was decided before.
  transfer_id uuid,
  replayed boolean NOT NULL,
  -- The first few.
  request_ids text[] NOT NULL,
  node smallint,
  CONSTRAINT denials_pkey PRIMARY KEY (id),
  CONSTRAINT denials_kept_whole CHECK ((customer_id IS NULL) = (kind IS NULL) AND (kind IS NULL) = (reason IS NULL)),
  CONSTRAINT denials_kind_known CHECK (kind = ANY (ARRAY['check'::text, 'consume'::text, 'track'::text, 'reserve'::text]))
);
CREATE INDEX denials_left_out ON denials (organisation_id, mode, at) WHERE customer_id IS NULL;
CREATE INDEX denials_of_customer ON denials (customer_id, at, id) WHERE customer_id IS NOT NULL;

CREATE TABLE denial_requests (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  request_id text NOT NULL,
  denial_id uuid NOT NULL,
  CONSTRAINT denial_requests_pkey PRIMARY KEY (organisation_id, mode, request_id, denial_id)
);

-- All denials of a feature, with and without a row, in a quarter of an hour.
CREATE TABLE denial_counts (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  quarter timestamptz NOT NULL,
  meter_id uuid NOT NULL,
  count bigint NOT NULL,
  CONSTRAINT denial_counts_pkey PRIMARY KEY (organisation_id, mode, quarter, meter_id)
) WITH (fillfactor=50);

CREATE TABLE logos (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- Of the bytes, 160 bits of their SHA-256 in hex: the address. Two organisations may have the same image.
  hash text NOT NULL,
  type text NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT logos_pkey PRIMARY KEY (organisation_id, mode, hash),
  CONSTRAINT logos_organisation_id_mode_fkey FOREIGN KEY (organisation_id, mode) REFERENCES organisation_settings(organisation_id, mode),
  CONSTRAINT logos_are_small CHECK (octet_length(bytes) >= 1 AND octet_length(bytes) <= 65536),
  CONSTRAINT logos_hash_of_bytes CHECK (hash = "left"(encode(sha256(bytes), 'hex'::text), 40)),
  CONSTRAINT logos_type_known CHECK (type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text]))
);
CREATE INDEX logos_by_hash ON logos (hash);

-- Units of a meter that are held for work whose cost is learned afterwards. Each is written with the flushes of its customer's actor.
CREATE TABLE reservations (
  slot smallint NOT NULL,
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  -- The account of the period in which it was made.
  account_id uuid NOT NULL,
  -- The pending transfer that holds its units: another one after each extension of the amount.
  hold_id uuid NOT NULL,
  extensions integer NOT NULL,
  amount bigint NOT NULL,
  status text NOT NULL,
  -- What the work came to; it may be above the amount.
  committed bigint NOT NULL,
  -- Committed after it had expired.
  late boolean NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  resolved_at timestamptz,
  -- What was left when it was committed or released, for a repeated call; null for no limit.
  balance_after bigint,
  fingerprint bigint,
  -- Which grants pay for it, as of the last checkpoint.
  parts jsonb NOT NULL,
  member_account_id uuid,
  paid_by jsonb,
  place integer,
  CONSTRAINT reservations_pkey PRIMARY KEY (slot, id),
  CONSTRAINT reservations_amount_positive CHECK (amount > 0),
  CONSTRAINT reservations_committed_is_used CHECK (committed >= 0 AND (committed = 0 OR status = 'committed'::text)),
  CONSTRAINT reservations_late_is_committed CHECK (NOT late OR status = 'committed'::text),
  CONSTRAINT reservations_resolved_at_a_time CHECK ((status = 'open'::text) = (resolved_at IS NULL)),
  CONSTRAINT reservations_status_known CHECK (status = ANY (ARRAY['open'::text, 'committed'::text, 'released'::text, 'expired'::text]))
) WITH (fillfactor=70);
CREATE UNIQUE INDEX reservations_by_id ON reservations (id);
CREATE INDEX reservations_open ON reservations (customer_id, meter_id) WHERE status = 'open'::text;

-- Alerts: thresholds of a meter that a merchant wants to hear of.
CREATE TABLE alerts (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  meter_id uuid NOT NULL,
  -- Null: for each customer.
  customer_id uuid,
  type text NOT NULL,
  -- Scaled: a quantity like the meter's, a percentage with four decimals.
  threshold bigint NOT NULL,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  -- By the wall clock: when the customers are to be looked at next, or the actor of the customer is to be told that it was deleted.
  -- Null: that is done.
  look_at timestamptz,
  -- Of one for each customer: the last that was looked at.
  looked_through uuid,
  CONSTRAINT alerts_pkey PRIMARY KEY (id),
  CONSTRAINT alerts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT alerts_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters(id),
  CONSTRAINT alerts_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id),
  CONSTRAINT alerts_threshold_not_negative CHECK (threshold >= 0),
  CONSTRAINT alerts_type_known CHECK (type = ANY (ARRAY['usage'::text, 'usage_percentage'::text, 'remaining'::text, 'remaining_percentage'::text]))
);
CREATE INDEX alerts_for_all ON alerts (organisation_id) WHERE customer_id IS NULL AND deleted_at IS NULL;
CREATE INDEX alerts_listed ON alerts (organisation_id, mode, id) WHERE deleted_at IS NULL;
CREATE INDEX alerts_of_customer ON alerts (customer_id, id) WHERE customer_id IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX alerts_once ON alerts (meter_id, customer_id, type, threshold) NULLS NOT DISTINCT WHERE deleted_at IS NULL;
CREATE INDEX alerts_to_look_at ON alerts (look_at) WHERE look_at IS NOT NULL;

CREATE TABLE auto_topups (
  slot smallint NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- Null: it was removed. The row stays, as its number goes into the ids of payments.
  settings jsonb,
  zone text NOT NULL,
  -- Charges that were ordered, ever, and those of them that were captured.
  ordered integer NOT NULL,
  captures integer NOT NULL,
  -- The one that is under way.
  charge jsonb,
  -- In a row, and when it is tried again.
  declines integer NOT NULL,
  retry_at timestamptz,
  -- Whether another method was stored since the charge was ordered.
  again boolean NOT NULL,
  refused text,
  limited_until timestamptz,
  method_id uuid,
  last_payment_id uuid,
  -- Captures in the day, the week and the month of the last one.
  captured jsonb,
  updated_at timestamptz NOT NULL,
  CONSTRAINT auto_topups_pkey PRIMARY KEY (slot, customer_id, meter_id),
  CONSTRAINT auto_topups_counted CHECK (captures >= 0 AND captures <= ordered AND declines >= 0),
  CONSTRAINT auto_topups_refused_known CHECK (refused = ANY (ARRAY['declined'::text, 'authentication_required'::text, 'no_payment_method'::text]))
) WITH (fillfactor=70);
CREATE INDEX auto_topups_of_customer ON auto_topups (customer_id);
CREATE INDEX auto_topups_of_meter ON auto_topups (meter_id);

-- Pools: meters of credits that pay for the use of other meters. Each list of costs that a pool has had; the last is in force.
CREATE TABLE credit_cost_lists (
  pool_id uuid NOT NULL,
  number integer NOT NULL,
  -- By the organisation's clock: a customer's period of the pool that begins then or later counts by it. The first one of a pool that
  -- was made as one is there for ever.
  since timestamptz NOT NULL,
  CONSTRAINT credit_cost_lists_pkey PRIMARY KEY (pool_id, number),
  CONSTRAINT credit_cost_lists_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES meters(id),
  CONSTRAINT credit_cost_lists_numbered CHECK (number >= 1)
);

CREATE TABLE credit_costs (
  pool_id uuid NOT NULL,
  number integer NOT NULL,
  "position" smallint NOT NULL,
  meter_id uuid NOT NULL,
  -- Credits, scaled like the pool's, for one scaled unit of the member.
  rate bigint NOT NULL,
  CONSTRAINT credit_costs_pkey PRIMARY KEY (pool_id, number, meter_id),
  CONSTRAINT credit_costs_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters(id),
  CONSTRAINT credit_costs_pool_id_number_fkey FOREIGN KEY (pool_id, number) REFERENCES credit_cost_lists(pool_id, number),
  CONSTRAINT credit_costs_of_another_meter CHECK (meter_id <> pool_id),
  CONSTRAINT credit_costs_rate_above_zero CHECK (rate > 0)
);
CREATE INDEX credit_costs_of_member ON credit_costs (meter_id);

-- Credits: periods of members that a pool pays for, and what a pool holds for what is reserved of them. Written with the flushes of
-- the customer's actor.
CREATE TABLE pooled_periods (
  slot smallint NOT NULL,
  -- The account of the member's period.
  account_id uuid NOT NULL,
  -- Scaled credits for a scaled unit beyond the period's limit.
  rate bigint NOT NULL,
  CONSTRAINT pooled_periods_pkey PRIMARY KEY (slot, account_id),
  CONSTRAINT pooled_periods_rate_positive CHECK (rate > 0)
);

-- What a flush adds to the corrections of bins. Whoever reads usage adds these to the bins; the folder moves them there. A table of its
-- own, because a server of before folds usage_deltas, and would drop a column that it does not know.
CREATE TABLE usage_corrections (
  node smallint NOT NULL,
  -- Of the flush. Of node 0, which no server is: a step of the backfill.
  seq bigint NOT NULL,
  slot smallint NOT NULL,
  account_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  corrections bigint NOT NULL,
  written_at timestamptz DEFAULT now() NOT NULL,
  CONSTRAINT usage_corrections_pkey PRIMARY KEY (node, seq, account_id, quarter)
) WITH (autovacuum_vacuum_threshold=2000, autovacuum_vacuum_scale_factor=0);

-- What the backfill has still to read of the corrections that a server of before wrote, as in usage_backfills. Such a correction has no
-- `events`; one of a server of this release has -1 there. Without a row corrections are whole.
CREATE TABLE correction_backfills (
  relation text NOT NULL,
  page bigint NOT NULL,
  pages bigint,
  CONSTRAINT correction_backfills_pkey PRIMARY KEY (relation)
);

-- Whose a slug of a product is. It stays its organisation's when no product has it any more: a buy link that somebody keeps never leads
-- to what another organisation sells.
CREATE TABLE product_slugs (
  slug text NOT NULL,
  -- The first that had it, in either mode.
  organisation_id uuid NOT NULL,
  CONSTRAINT product_slugs_pkey PRIMARY KEY (slug),
  CONSTRAINT product_slugs_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id)
);
CREATE INDEX product_slugs_of_organisation ON product_slugs (organisation_id);

-- What a period had counted before something changed what may be used: by these an event that comes late is settled as one that came
-- in time. Of periods before this release nothing is kept: what is late in them counts as it did.
CREATE TABLE stretch_marks (
  slot smallint NOT NULL,
  customer_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  -- Of the boundary: the period had counted `aggregate` before it.
  started_at timestamptz NOT NULL,
  -- Among the boundaries of this millisecond, where something was used between them.
  place integer NOT NULL,
  account_id uuid NOT NULL,
  aggregate bigint NOT NULL,
  -- At the start of a period: what was used before of the grants that go on. Null: nothing.
  carried jsonb,
  CONSTRAINT stretch_marks_pkey PRIMARY KEY (slot, customer_id, meter_id, started_at, place, account_id)
);

-- What the caches of all processes forget (src/platform/postgres/changes.ts). A NOTIFY in the transaction of the change made all commits that
-- notify wait for each other: it is a row now, which is told of after the commit and found without that.
CREATE TABLE changes (
  -- Which rows have become visible since a look follows from this, in whatever order their transactions ended.
  xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
  kind text NOT NULL,
  subject uuid NOT NULL,
  written_at timestamptz DEFAULT now() NOT NULL,
  CONSTRAINT changes_pkey PRIMARY KEY (xact, kind, subject)
);

-- Fails the statement that calls it: a flush that would break an invariant leaves nothing behind.
CREATE FUNCTION refuse_flush(message text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '%', message USING ERRCODE = 'TL001';
END $function$;

-- In the transaction of the events. A sample is for one endpoint, and whoever asked for it is shown what became of it.
CREATE FUNCTION queue_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO event_queue (organisation_id, event_id) SELECT organisation_id, id FROM fresh WHERE endpoint_id IS NULL;
  IF EXISTS (SELECT FROM fresh WHERE endpoint_id IS NOT NULL) THEN
    WITH made AS (
      INSERT INTO deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
      SELECT uuidv7(), w.id, e.id, e.type, CASE WHEN w.status = 'enabled' THEN 'pending' ELSE 'held' END, now(), now()
      FROM fresh e JOIN webhook_endpoints w ON w.id = e.endpoint_id AND w.deleted_at IS NULL
      RETURNING event_id, endpoint_id
    )
    INSERT INTO event_fanouts (event_id, owed, written_at)
    SELECT e.id, count(m.event_id), now() FROM fresh e LEFT JOIN made m ON m.event_id = e.id
    WHERE e.endpoint_id IS NOT NULL GROUP BY e.id;
  END IF;
  RETURN NULL;
END $function$;

-- Who is owed an event, as things are. A function, so that it is planned for one event: never from the endpoints to all events.
CREATE FUNCTION owed_to(queued event_queue)
 RETURNS TABLE(event_id uuid, type text, endpoint_id uuid, status text)
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN QUERY SELECT e.id, e.type, w.id, CASE WHEN w.status = 'enabled' THEN 'pending' ELSE 'held' END
  FROM events e JOIN organisations o ON o.id = e.organisation_id
  JOIN webhook_endpoints w ON w.mode = e.mode AND w.deleted_at IS NULL AND w.place < queued.place
    AND (w.organisation_id = e.organisation_id OR w.group_id = o.group_id)
    AND (w.event_types @> ARRAY[e.type] OR w.event_types = '{*}')
  WHERE e.id = queued.event_id;
END $function$;

CREATE FUNCTION open_checkouts(wanted jsonb, keys jsonb, most integer)
 RETURNS TABLE(checkout_id uuid, reason text)
 LANGUAGE plpgsql
AS $function$
DECLARE
  taken uuid[];
  refused uuid[] := '{}';
  asked checkouts[];
BEGIN
  taken := ARRAY(SELECT k.id FROM jsonb_to_recordset(keys) AS k (id uuid, lock bigint) WHERE NOT pg_try_advisory_xact_lock(k.lock));
  taken := taken || ARRAY(
    SELECT k.id FROM jsonb_to_recordset(keys) AS k (id uuid, organisation_id uuid, mode mode, operation text, key_hash bytea)
    JOIN idempotency i USING (organisation_id, mode, operation, key_hash));
  asked := ARRAY(SELECT w FROM jsonb_populate_recordset(NULL::checkouts, wanted) w WHERE w.id <> ALL (taken));
  -- Who only comes too late for its key does not wait for those who write.
  IF cardinality(asked) = 0 THEN
    RETURN QUERY SELECT unnest(taken), 'key_taken';
    RETURN;
  END IF;
  IF most > 0 THEN
    -- The rooms are locked, by everybody in the same order.
    INSERT INTO checkout_rooms AS r
    SELECT DISTINCT a.organisation_id, a.mode, a.source, most, 0 FROM unnest(asked) a ORDER BY 1, 2, 3
    ON CONFLICT (organisation_id, mode, source) DO UPDATE
      SET room = CASE r.open_max WHEN most THEN r.room ELSE 0 END, open_max = most;
    UPDATE checkout_rooms r SET room = greatest(0, most - (
      SELECT count(*) FROM (
        SELECT FROM checkouts c
        WHERE c.organisation_id = r.organisation_id AND c.mode = r.mode AND c.status = 'active' AND c.expires_at > o.now
          AND c.source = r.source
        LIMIT most) counted))
    FROM (SELECT a.organisation_id, a.mode, a.source, count(*) AS asked, max(a.created_at) AS now FROM unnest(asked) a GROUP BY 1, 2, 3) o
    WHERE r.organisation_id = o.organisation_id AND r.mode = o.mode AND r.source = o.source AND r.room < o.asked;
    refused := ARRAY(
      SELECT a.id FROM (
        SELECT u.*, row_number() OVER (PARTITION BY u.organisation_id, u.mode, u.source ORDER BY u.ordinality) AS place
        FROM unnest(asked) WITH ORDINALITY u) a
      JOIN checkout_rooms r USING (organisation_id, mode, source) WHERE a.place > r.room);
    UPDATE checkout_rooms r SET room = r.room - o.opened
    FROM (SELECT a.organisation_id, a.mode, a.source, count(*) AS opened FROM unnest(asked) a WHERE a.id <> ALL (refused) GROUP BY 1, 2, 3) o
    WHERE r.organisation_id = o.organisation_id AND r.mode = o.mode AND r.source = o.source;
  END IF;
  INSERT INTO checkouts SELECT a.* FROM unnest(asked) a WHERE a.id <> ALL (refused);
  INSERT INTO idempotency
  SELECT k.organisation_id, k.mode, k.operation, k.key_hash, k.request_hash, k.status, k.body, k.created_at
  FROM jsonb_to_recordset(keys) AS k (id uuid, organisation_id uuid, mode mode, operation text, key_hash bytea, request_hash bytea,
    status smallint, body text, created_at timestamptz)
  WHERE k.id <> ALL (taken || refused);
  RETURN QUERY SELECT unnest(taken), 'key_taken' UNION ALL SELECT unnest(refused), 'full';
END $function$;

-- Holds for every role. Also where the right to change rows was given back.
CREATE FUNCTION refuse_change_of_audit_log()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'audit_log takes new rows, and nothing else' USING ERRCODE = 'insufficient_privilege';
END
$function$;

-- All of these, in this order, or none. The relay is locked by the caller. How many deliveries that makes.
CREATE FUNCTION pass_events(chosen event_queue[], OUT owed bigint, OUT due uuid[], OUT news text[])
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
DECLARE
  known bigint;
BEGIN
  WITH passing AS MATERIALIZED (
    SELECT c.*, r.position + c.nth AS position
    FROM event_relay r, unnest(chosen) WITH ORDINALITY AS c (organisation_id, place, event_id, written_at, nth)
  ), heard AS MATERIALIZED (
    -- Organisations with an endpoint. To ask for each event of the others cost a third of passing it.
    SELECT o.id FROM (SELECT DISTINCT p.organisation_id FROM passing p) own JOIN organisations o ON o.id = own.organisation_id
    WHERE EXISTS (SELECT FROM webhook_endpoints w WHERE w.organisation_id = o.id AND w.deleted_at IS NULL)
      OR EXISTS (SELECT FROM webhook_endpoints w WHERE w.group_id = o.group_id AND w.deleted_at IS NULL)
  ), made AS (
    INSERT INTO deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    SELECT uuidv7(), o.endpoint_id, o.event_id, o.type, o.status, now(), p.written_at
    FROM (SELECT * FROM passing WHERE organisation_id IN (SELECT id FROM heard)) p
    CROSS JOIN LATERAL owed_to(chosen[p.nth]) o ORDER BY p.position
    RETURNING event_id, endpoint_id, status
  ), counted AS (
    INSERT INTO event_fanouts (event_id, owed, position, written_at, organisation_id, mode)
    SELECT e.id, coalesce(m.owed, 0), p.position, p.written_at, e.organisation_id, e.mode
    FROM passing p JOIN events e ON e.id = p.event_id
    LEFT JOIN (SELECT event_id, count(*) AS owed FROM made GROUP BY event_id) m ON m.event_id = p.event_id
    RETURNING organisation_id, mode
  ), gone AS (
    DELETE FROM event_queue q USING passing p WHERE q.organisation_id = p.organisation_id AND q.place = p.place
  ), moved AS (
    UPDATE event_relay SET position = position + cardinality(chosen)
  )
  SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM counted),
    ARRAY(SELECT DISTINCT endpoint_id FROM made WHERE status = 'pending'),
    ARRAY(SELECT DISTINCT organisation_id || ' ' || mode FROM counted)
  INTO owed, known, due, news;
  IF known <> cardinality(chosen) THEN
    RAISE EXCEPTION 'an event that is queued is not there';
  END IF;
END $function$;

-- One step: organisations take turns, each with its oldest events first, until so many events or so many rows are chosen. No row
-- comes back where another relay has the step. It is one statement, so that whoever asks may die or freeze and locks nothing.
-- What fails is tried again one by one, and what fails alone is set aside; where it is not the events' fault, the step fails.
CREATE FUNCTION relay_events(events_max integer, rows_max integer)
 RETURNS TABLE(passed bigint, made bigint, failed uuid[], why text, more boolean, due uuid[], news text[])
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
DECLARE
  nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  nobodys_fault CONSTANT text := '^(08|25|40|53|55|57|58)';
  turns_max CONSTANT integer := 50;
  last_turn uuid;
  next_turn uuid;
  chosen event_queue[];
  alone event_queue;
  step record;
BEGIN
  passed := 0;
  made := 0;
  failed := '{}';
  due := '{}';
  news := '{}';
  more := EXISTS (SELECT FROM event_queue);
  -- So that to look costs nothing: a lock is written down.
  IF NOT more THEN
    RETURN NEXT;
    RETURN;
  END IF;
  SELECT r.turn INTO last_turn FROM event_relay r FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  LOOP
    BEGIN
      WITH RECURSIVE turns AS (
        (SELECT q.organisation_id, 1 AS nth FROM event_queue q WHERE q.organisation_id > last_turn ORDER BY q.organisation_id LIMIT 1)
        UNION ALL
        SELECT next.organisation_id, t.nth + 1
        FROM turns t CROSS JOIN LATERAL (
          SELECT q.organisation_id FROM event_queue q WHERE q.organisation_id > t.organisation_id ORDER BY q.organisation_id LIMIT 1
        ) next
        WHERE t.nth < turns_max
      ), candidates AS MATERIALIZED (
        SELECT own.q AS event, own.nth, t.organisation_id, e.mode, e.type
        FROM turns t CROSS JOIN LATERAL (
          SELECT q, row_number() OVER (ORDER BY q.place) AS nth FROM event_queue q
          WHERE q.organisation_id = t.organisation_id ORDER BY q.place
          LIMIT greatest(1, events_max / (SELECT count(*) FROM turns))
        ) own
        -- OFFSET 0: it is looked up for each of them, never read from all events.
        LEFT JOIN LATERAL (SELECT e.mode, e.type FROM events e WHERE e.id = (own.q).event_id OFFSET 0) e ON true
      ), kinds AS MATERIALIZED (
        -- Endpoints that came after an event are counted too: a step may be smaller than it could be.
        SELECT k.*, (
          SELECT count(*) FROM organisations o JOIN webhook_endpoints w ON w.mode = k.mode AND w.deleted_at IS NULL
            AND (w.organisation_id = o.id OR w.group_id = o.group_id) AND (w.event_types @> ARRAY[k.type] OR w.event_types = '{*}')
          WHERE o.id = k.organisation_id) AS owed
        FROM (SELECT DISTINCT c.organisation_id, c.mode, c.type FROM candidates c WHERE c.type IS NOT NULL) k
      ), counted AS (
        SELECT c.event, c.nth, c.organisation_id, row_number() OVER step AS position, sum(1 + coalesce(k.owed, 0)) OVER step AS size
        FROM candidates c
        LEFT JOIN kinds k ON k.organisation_id = c.organisation_id AND k.mode = c.mode AND k.type = c.type
        WINDOW step AS (ORDER BY c.nth, c.organisation_id)
      )
      SELECT array_agg(c.event ORDER BY c.position), (array_agg(c.organisation_id ORDER BY c.position DESC) FILTER (WHERE c.nth = 1))[1]
      INTO chosen, next_turn
      FROM counted c WHERE c.size <= rows_max OR c.position = 1;
    EXCEPTION WHEN OTHERS THEN
      IF SQLSTATE ~ nobodys_fault THEN
        RAISE;
      END IF;
      -- One of them cannot be read. In steps of one it is found.
      SELECT ARRAY[q], q.organisation_id INTO chosen, next_turn
      FROM event_queue q WHERE q.organisation_id > last_turn ORDER BY q.organisation_id, q.place LIMIT 1;
    END;
    EXIT WHEN chosen IS NOT NULL OR last_turn = nobody;
    -- Everybody has had a turn: from the first one on.
    last_turn := nobody;
  END LOOP;
  IF chosen IS NOT NULL THEN
    BEGIN
      SELECT * INTO step FROM pass_events(chosen);
      made := step.owed;
      due := step.due;
      news := step.news;
      passed := cardinality(chosen);
    EXCEPTION WHEN OTHERS THEN
      IF SQLSTATE ~ nobodys_fault THEN
        RAISE;
      END IF;
      FOREACH alone IN ARRAY chosen LOOP
        BEGIN
          SELECT * INTO step FROM pass_events(ARRAY[alone]);
          made := made + step.owed;
          due := due || step.due;
          news := news || step.news;
          passed := passed + 1;
        EXCEPTION WHEN OTHERS THEN
          IF SQLSTATE ~ nobodys_fault THEN
            RAISE;
          END IF;
          why := SQLERRM;
          failed := failed || alone.event_id;
          INSERT INTO event_faults (event_id, organisation_id, place, written_at, failed_at, error)
            VALUES (alone.event_id, alone.organisation_id, alone.place, alone.written_at, now(), SQLERRM);
          DELETE FROM event_queue q WHERE q.organisation_id = alone.organisation_id AND q.place = alone.place;
        END;
      END LOOP;
    END;
    UPDATE event_relay SET turn = next_turn;
  END IF;
  more := EXISTS (SELECT FROM event_queue);
  RETURN NEXT;
END $function$;

-- Of two organisations that want a slug at once the second waits for the first. What is refused is told as where a product has the slug:
-- a new product is not made, and a change fails by the constraint. A trigger, so that it holds for servers of before, too.
CREATE FUNCTION claim_product_slug()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO product_slugs (slug, organisation_id) VALUES (NEW.slug, NEW.organisation_id) ON CONFLICT DO NOTHING;
  IF EXISTS (SELECT FROM product_slugs s WHERE s.slug = NEW.slug AND s.organisation_id = NEW.organisation_id) THEN
    RETURN NEW;
  END IF;
  IF TG_OP = 'INSERT' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the slug is of another organisation' USING ERRCODE = 'unique_violation', CONSTRAINT = 'products_slug_once';
END
$function$;

CREATE TRIGGER audit_log_unchanged BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_log();
CREATE TRIGGER events_queued AFTER INSERT ON events REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION queue_events();
CREATE TRIGGER products_claim_slug BEFORE INSERT OR UPDATE OF slug ON products FOR EACH ROW EXECUTE FUNCTION claim_product_slug();
