-- What is counted before one more is made (src/platform/bounds.ts).
CREATE INDEX checkouts_open ON checkouts (organisation_id, mode, expires_at) WHERE status = 'active';
CREATE INDEX discounts_listed ON discounts (organisation_id, mode, id) WHERE deleted_at IS NULL;
CREATE INDEX meters_listed ON meters (organisation_id, mode, id) WHERE deleted_at IS NULL;
