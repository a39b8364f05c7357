-- Keys are made over HTTP: each has a name, and a scope that says what it may do.

ALTER TABLE api_keys
  ADD COLUMN name text,
  ADD COLUMN scope text NOT NULL DEFAULT 'all',
  -- The end of the key, for people to tell it from others. Of a key that is older than this column only the hash is known.
  ADD COLUMN last4 text,
  -- The key that made this one; null for the command line. That key may be gone.
  ADD COLUMN created_by uuid,
  ADD CONSTRAINT api_keys_name_fits CHECK (char_length(name) BETWEEN 1 AND 255),
  ADD CONSTRAINT api_keys_scope_known CHECK (scope IN ('all', 'read', 'metering')),
  ADD CONSTRAINT api_keys_of_groups_do_all CHECK (group_id IS NULL OR scope = 'all'),
  ADD CONSTRAINT api_keys_last4_fits CHECK (last4 ~ '^[0-9A-Za-z]{4}$');
