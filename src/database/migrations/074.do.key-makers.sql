ALTER TABLE api_keys
  -- The member who made it; null for a key and for the command line. The user may have left.
  ADD COLUMN created_by_user uuid;
