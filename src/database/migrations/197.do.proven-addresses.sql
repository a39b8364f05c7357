-- Where no mails are sent the link of an invitation is passed on by whoever invites, and whoever opens it is a user of the address that
-- it names. That proves nothing of who reads the mails of this address.
ALTER TABLE users
  -- Since when the address is known to be the user's: by a link that was mailed or that an operator has printed, or by the identity
  -- provider. Null: not yet.
  ADD COLUMN email_proven_at timestamptz;
ALTER TABLE invitations
  -- Whether the link was in a mail alone: who has it reads the mails of the address.
  ADD COLUMN mailed boolean DEFAULT false NOT NULL;

-- What was answered to who invited says it.
UPDATE invitations i SET mailed = true
WHERE EXISTS (
  SELECT FROM audit_log a
  WHERE a.organisation_id = i.organisation_id AND a.object_id = i.id::text AND a.operation = 'createInvitation'
    AND a.after ->> 'mailed' = 'true');

-- Users are as proven as what has made them, or has signed them in since. An invitation that has made one was accepted as it was made.
UPDATE users u SET email_proven_at = u.created_at
WHERE NOT EXISTS (
  SELECT FROM invitations i
  WHERE lower(i.email COLLATE "C") = lower(u.email COLLATE "C") AND i.accepted_at = u.created_at AND NOT i.mailed
    AND NOT EXISTS (
      SELECT FROM audit_log a
      WHERE a.organisation_id = i.organisation_id AND a.actor_id = u.id AND a.mode IS DISTINCT FROM 'test'
        AND a.operation = 'signIn' AND a.after ->> 'by' IN ('link', 'oidc')));
