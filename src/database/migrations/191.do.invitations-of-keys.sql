ALTER TABLE invitations
  -- The key that invited, which may be gone; null for a member, and for invitations older than this column.
  ADD COLUMN invited_by_key uuid;
-- The open ones of a key, which end with it.
CREATE INDEX invitations_of_key ON invitations (invited_by_key)
  WHERE accepted_at IS NULL AND revoked_at IS NULL AND invited_by_key IS NOT NULL;
