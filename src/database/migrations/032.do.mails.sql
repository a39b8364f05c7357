-- Mails to buyers that are owed. Written in the transaction of what they tell of, and only where there is a server to send them.
CREATE TABLE mails (
  -- Derived from what it tells of, so that it is owed once.
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  kind text NOT NULL,
  invoice_id uuid,
  -- NULL once it is settled: addresses are not kept here.
  recipient text,
  data jsonb NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  attempts integer NOT NULL DEFAULT 0,
  -- Of whoever tries to send it; it is free again at next_at.
  claim uuid,
  next_at timestamptz NOT NULL DEFAULT now(),
  written_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  CONSTRAINT mails_kind_known CHECK (kind IN ('receipt', 'refund', 'charge_failed', 'blocked', 'ended')),
  CONSTRAINT mails_status_known CHECK (status IN ('pending', 'sent', 'refused', 'given_up', 'dropped')),
  CONSTRAINT mails_settled CHECK ((status = 'pending') = (settled_at IS NULL)),
  CONSTRAINT mails_pending_have_recipient CHECK (status <> 'pending' OR recipient IS NOT NULL)
);
CREATE INDEX mails_pending ON mails (organisation_id, next_at) WHERE status = 'pending';
CREATE INDEX mails_lost ON mails (settled_at) WHERE status IN ('given_up', 'refused');
