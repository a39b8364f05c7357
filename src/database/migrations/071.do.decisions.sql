-- Outside a transaction: built while others write. What explains a decision of before: the grants of then, and what a request changed.
DROP INDEX IF EXISTS grants_ended;
CREATE INDEX CONCURRENTLY grants_ended ON grants (slot, customer_id, meter_id, ended_at) WHERE ended_at IS NOT NULL;
DROP INDEX IF EXISTS audit_log_of_request;
CREATE INDEX CONCURRENTLY audit_log_of_request ON audit_log (organisation_id, request_id, at) WHERE request_id IS NOT NULL;
