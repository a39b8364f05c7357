-- The log by who acted: users, keys, customers or the command line. Without it a kind that did nothing is looked for in all of the log.
CREATE INDEX audit_log_of_actor_kind_live ON audit_log (organisation_id, actor_kind, at, id) WHERE mode IS DISTINCT FROM 'test';
CREATE INDEX audit_log_of_actor_kind_test ON audit_log (organisation_id, actor_kind, at, id) WHERE mode IS DISTINCT FROM 'live';
