-- Accounts at payment processors that organisations have connected. One that is ended takes nothing new, but is still asked about
-- what it took: its charges, their refunds and disputes.
CREATE TABLE processor_accounts (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  mode mode NOT NULL,
  type text NOT NULL CHECK (type = 'stripe'),
  -- As the processor names it.
  account text NOT NULL CHECK (account ~ '^[a-zA-Z0-9_]{1,64}$'),
  -- Encrypted for the id of the row.
  sealed_key bytea NOT NULL,
  last4 text NOT NULL CHECK (length(last4) <= 4),
  -- What signs its webhooks, encrypted in the same way; null where it is not known.
  sealed_webhook_secret bytea,
  -- The webhook endpoint that was registered there.
  webhook_endpoint_id text,
  -- `failing`: it refused the key.
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'failing')),
  -- When the key was last accepted or refused.
  checked_at timestamptz NOT NULL,
  connected_at timestamptz NOT NULL,
  ended_at timestamptz,
  UNIQUE (organisation_id, mode, type, account)
);
CREATE UNIQUE INDEX processor_accounts_current ON processor_accounts (organisation_id, mode) WHERE ended_at IS NULL;
