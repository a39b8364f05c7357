-- What a merchant's pages and mails look like, in each mode. The pages read the settings, which name the logo by its hash; its bytes are
-- read where a browser asks for them.
ALTER TABLE organisation_settings ADD COLUMN branding jsonb NOT NULL DEFAULT '{}';

CREATE TABLE logos (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  -- Of the bytes, 160 bits of their SHA-256 in hex: the address. Two organisations may have the same image.
  hash text NOT NULL,
  type text NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organisation_id, mode),
  FOREIGN KEY (organisation_id, mode) REFERENCES organisation_settings,
  CONSTRAINT logos_hash_of_bytes CHECK (hash = left(encode(sha256(bytes), 'hex'), 40)),
  CONSTRAINT logos_type_known CHECK (type IN ('image/png', 'image/jpeg', 'image/webp')),
  CONSTRAINT logos_are_small CHECK (octet_length(bytes) BETWEEN 1 AND 65536)
);
CREATE INDEX logos_by_hash ON logos (hash);
