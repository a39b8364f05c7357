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
  CONSTRAINT disputes_status_known CHECK (status IN ('opened', 'won', 'lost')),
  CONSTRAINT disputes_amount_positive CHECK (amount > 0),
  CONSTRAINT disputes_within_amount CHECK (held >= 0 AND charged_back >= 0 AND held + charged_back <= amount),
  CONSTRAINT disputes_held_while_open CHECK ((hold IS NOT NULL) = (held > 0) AND (held = 0 OR status = 'opened')),
  CONSTRAINT disputes_taken_when_lost CHECK (charged_back = 0 OR status = 'lost'),
  CONSTRAINT disputes_closed_at_a_time CHECK ((status = 'opened') = (closed_at IS NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX disputes_by_id ON disputes (id);
CREATE INDEX disputes_of_payment ON disputes (slot, payment_id, id);

CREATE TYPE flush_disputes AS (
  slot smallint, id uuid, payment_id uuid, organisation_id uuid, mode mode, reference text, amount bigint, currency text, reason text,
  status text, hold uuid, held bigint, charged_back bigint, moves integer, asks integer, ask_at timestamptz, opened_at timestamptz,
  closed_at timestamptz
);

ALTER TABLE invoices
  -- What lost disputes of its payment took.
  ADD COLUMN amount_charged_back bigint DEFAULT 0 NOT NULL,
  DROP CONSTRAINT invoices_refunds_within_paid;
ALTER TABLE invoices ADD CONSTRAINT invoices_refunds_within_paid
  CHECK (amount_refunded >= 0 AND amount_charged_back >= 0 AND amount_refunded + amount_charged_back <= amount_paid) NOT VALID;
ALTER TABLE invoices VALIDATE CONSTRAINT invoices_refunds_within_paid;

ALTER TABLE sandbox_charges
  -- How a dispute of it ends, and when; null where it is not disputed. It is opened with the charge.
  ADD COLUMN dispute text,
  ADD COLUMN dispute_ends_at timestamptz,
  ADD CONSTRAINT sandbox_charges_dispute_known CHECK (dispute IN ('won', 'lost')),
  ADD CONSTRAINT sandbox_charges_dispute_ends CHECK ((dispute IS NULL) = (dispute_ends_at IS NULL));
-- `new_sandbox_charges` is that of the release before, whose nodes may still write with it.
CREATE TYPE new_sandbox_charges_2 AS (
  key text, status text, next_status text, next_at timestamptz, amount bigint, currency text, method jsonb, expiry jsonb,
  refunds text, dispute text, dispute_ends_at timestamptz, failure_code text, failure_message text, return_url text, mandate text,
  off_session text, created_at timestamptz
);
