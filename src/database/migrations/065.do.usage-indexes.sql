-- Outside a transaction: indexes of a table that may be large, built while others write. What a start that was killed left is built anew.
DROP INDEX IF EXISTS transfers_used;
-- The events of one customer's meter by their own time, sold or not.
CREATE INDEX CONCURRENTLY transfers_used ON transfers (debit, (coalesce(event_at, at)), id);
DROP INDEX IF EXISTS transfers_by_time;
-- Pages by the times of their events, for what is read of all customers: an index of each event by its meter costs a flush as much as
-- transfers_used does, this one next to nothing. Few late events do not widen what a page is known for.
CREATE INDEX CONCURRENTLY transfers_by_time ON transfers USING brin ((coalesce(event_at, at)) timestamptz_minmax_multi_ops) WITH (autosummarize = on);
DROP INDEX IF EXISTS transfers_archive_used;
CREATE INDEX transfers_archive_used ON transfers_archive (debit, (coalesce(event_at, at)), id);
DROP INDEX IF EXISTS transfers_archive_by_time;
CREATE INDEX transfers_archive_by_time ON transfers_archive USING brin ((coalesce(event_at, at)) timestamptz_minmax_multi_ops) WITH (autosummarize = on);
DROP INDEX IF EXISTS transfers_sold;
DROP INDEX IF EXISTS transfers_archive_sold;
