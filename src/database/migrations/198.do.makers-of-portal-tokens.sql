-- What opens a customer's portal ends with the right of who made it.
ALTER TABLE portal_tokens
  -- The key that made it, which may be gone; null for a member, for the command line and mails, and for tokens older than this column.
  ADD COLUMN created_by uuid,
  -- The member who made it. The user may have left.
  ADD COLUMN created_by_user uuid;
CREATE INDEX portal_tokens_of_key ON portal_tokens (created_by)
  WHERE revoked_at IS NULL AND created_by IS NOT NULL;
CREATE INDEX portal_tokens_of_user ON portal_tokens (created_by_user)
  WHERE revoked_at IS NULL AND created_by_user IS NOT NULL;
ALTER TABLE api_keys
  -- The one that took its place the last time it was rotated, and answers for what this one made.
  ADD COLUMN replaced_by uuid;
CREATE INDEX api_keys_replaced ON api_keys (replaced_by) WHERE replaced_by IS NOT NULL;
