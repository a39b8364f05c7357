-- People: who may sign in to the dashboard, and to which organisations they belong.
CREATE TABLE users (
  id uuid PRIMARY KEY,
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
  totp_misses integer NOT NULL DEFAULT 0,
  CONSTRAINT users_email_fits CHECK (char_length(email) BETWEEN 3 AND 254),
  CONSTRAINT users_name_fits CHECK (char_length(name) BETWEEN 1 AND 255),
  CONSTRAINT users_totp_confirmed_with_secret CHECK (totp_confirmed_at IS NULL OR totp_secret IS NOT NULL)
);
-- The letters of ASCII alone have two cases here: no other letter is taken for one of them.
CREATE UNIQUE INDEX users_email_once ON users (lower(email COLLATE "C"));

-- What takes the place of a code, once each. SHA-256.
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL REFERENCES users,
  hash bytea NOT NULL,
  used_at timestamptz,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, hash)
);

CREATE TABLE organisation_members (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  user_id uuid NOT NULL REFERENCES users,
  role text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT organisation_members_once UNIQUE (user_id, organisation_id),
  CONSTRAINT organisation_members_role_known CHECK (role IN ('owner', 'admin', 'support', 'read_only'))
);
CREATE INDEX organisation_members_listed ON organisation_members (organisation_id, id);

CREATE TABLE invitations (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations,
  email text NOT NULL,
  role text NOT NULL,
  -- SHA-256 of what the mailed link ends in.
  hash bytea NOT NULL,
  -- The user; null for a key.
  invited_by uuid REFERENCES users,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT invitations_hash_once UNIQUE (hash),
  CONSTRAINT invitations_email_fits CHECK (char_length(email) BETWEEN 3 AND 254),
  CONSTRAINT invitations_role_known CHECK (role IN ('owner', 'admin', 'support', 'read_only'))
);
CREATE INDEX invitations_listed ON invitations (organisation_id, id);
-- One of an address in an organisation is open; another takes its place.
CREATE UNIQUE INDEX invitations_open_once ON invitations (organisation_id, lower(email COLLATE "C"))
  WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX invitations_of_email ON invitations (lower(email COLLATE "C"))
  WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- Links that sign in, once each.
CREATE TABLE sign_in_links (
  id uuid PRIMARY KEY,
  -- SHA-256 of what the link ends in.
  hash bytea NOT NULL,
  user_id uuid NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  CONSTRAINT sign_in_links_hash_once UNIQUE (hash)
);
CREATE INDEX sign_in_links_of_user ON sign_in_links (user_id, expires_at);

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  -- SHA-256 of what the browser holds: another one after each code.
  hash bytea NOT NULL,
  user_id uuid NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL,
  -- To the minute.
  seen_at timestamptz NOT NULL,
  revoked_at timestamptz,
  -- Of its last code.
  second_factor_at timestamptz,
  address text NOT NULL,
  user_agent text NOT NULL,
  CONSTRAINT sessions_hash_once UNIQUE (hash),
  CONSTRAINT sessions_from_fits CHECK (char_length(address) <= 64 AND char_length(user_agent) <= 255)
);
CREATE INDEX sessions_of_user ON sessions (user_id, created_at);
