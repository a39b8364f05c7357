-- What opens the portal of one customer, for a while.
CREATE TABLE portal_tokens (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  mode mode NOT NULL,
  customer_id uuid NOT NULL REFERENCES customers,
  -- SHA-256 of the token, which is shown once and never stored.
  hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  CONSTRAINT portal_tokens_hash_once UNIQUE (hash),
  CONSTRAINT portal_tokens_last_a_while CHECK (expires_at > created_at)
);
CREATE INDEX portal_tokens_of_customer ON portal_tokens (customer_id, expires_at);
