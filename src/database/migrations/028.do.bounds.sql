-- Outside a transaction: indexes of tables that may be large, built while others write. What a start that was killed left is built anew.
-- What is counted before one more is made (src/platform/bounds.ts).
DROP INDEX IF EXISTS checkouts_open;
CREATE INDEX CONCURRENTLY checkouts_open ON checkouts (organisation_id, mode, expires_at) WHERE status = 'active';
DROP INDEX IF EXISTS discounts_listed;
CREATE INDEX CONCURRENTLY discounts_listed ON discounts (organisation_id, mode, id) WHERE deleted_at IS NULL;
DROP INDEX IF EXISTS meters_listed;
CREATE INDEX CONCURRENTLY meters_listed ON meters (organisation_id, mode, id) WHERE deleted_at IS NULL;
