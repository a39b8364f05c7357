-- Who did what to what, from where, and what it was before and after. Rows are added, and nothing else: not by the role of the service.

CREATE TABLE audit_log (
  -- Of a call with an Idempotency-Key it follows from the key, so that a repetition of the call adds no second row.
  id uuid PRIMARY KEY,
  -- Null where the action was on a group, or on the installation. No foreign keys: the log stays, whatever becomes of what it names.
  organisation_id uuid,
  group_id uuid,
  -- Null where it was on both.
  mode mode,
  -- By the wall clock, when the action was done.
  at timestamptz NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('user', 'key', 'customer', 'command_line')),
  -- Of the user, the key or the customer.
  actor_id uuid,
  -- As it was then: the e-mail address of the user, the name and the end of the key, the address or the id of the customer, the account and the host of the command line.
  actor_label text NOT NULL,
  -- Of a user; of a customer the link to its portal.
  session_id uuid,
  address text,
  user_agent text,
  request_id text,
  -- Of the API, or the command.
  operation text NOT NULL,
  object_type text NOT NULL,
  object_id text,
  -- Of the answer; null for a command.
  status smallint,
  -- The fields that changed, without secrets.
  before jsonb CHECK (octet_length(before::text) <= 65536),
  after jsonb CHECK (octet_length(after::text) <= 65536)
);

-- What a reader of one mode sees, newest first. A row of both modes is in both.
CREATE INDEX audit_log_test ON audit_log (organisation_id, at, id) WHERE mode IS DISTINCT FROM 'live';
CREATE INDEX audit_log_live ON audit_log (organisation_id, at, id) WHERE mode IS DISTINCT FROM 'test';
CREATE INDEX audit_log_of_actor_test ON audit_log (organisation_id, actor_id, at, id) WHERE mode IS DISTINCT FROM 'live';
CREATE INDEX audit_log_of_actor_live ON audit_log (organisation_id, actor_id, at, id) WHERE mode IS DISTINCT FROM 'test';
CREATE INDEX audit_log_of_operation_test ON audit_log (organisation_id, operation, at, id) WHERE mode IS DISTINCT FROM 'live';
CREATE INDEX audit_log_of_operation_live ON audit_log (organisation_id, operation, at, id) WHERE mode IS DISTINCT FROM 'test';
CREATE INDEX audit_log_of_object ON audit_log (organisation_id, object_id, at, id);

-- Holds for every role. Also where the right to change rows was given back.
CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit_log takes new rows, and nothing else' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_log();
-- Where a session says that it is a replica's, too.
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_unchanged;

-- An owner has them from the start. What reads and adds rows is all that is left.
REVOKE UPDATE, DELETE, TRUNCATE ON audit_log FROM PUBLIC, CURRENT_USER;
