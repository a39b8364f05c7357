-- Events of usage that is sold are found by their period, for what an invoice shows of them. The index has no others, so usage that
-- is not sold costs what it did. Null: not sold, or not usage.
ALTER TABLE transfers ADD COLUMN sold boolean;
ALTER TABLE transfers_archive ADD COLUMN sold boolean;
CREATE INDEX transfers_sold ON transfers (debit, (coalesce(event_at, at)), id) WHERE sold;
CREATE INDEX transfers_archive_sold ON transfers_archive (debit, (coalesce(event_at, at)), id) WHERE sold;
