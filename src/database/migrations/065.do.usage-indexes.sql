-- Outside a transaction: indexes of tables that may be large, built while others write. What a start that was killed left is built anew.
-- Which pages have events of which times and accounts. It costs a flush next to nothing, where an index with an entry for each event
-- costs a tenth of it. Few late events do not widen the times of a page. 32 pages have some 1,500 events.
DROP INDEX IF EXISTS transfers_by_time;
CREATE INDEX CONCURRENTLY transfers_by_time ON transfers USING brin (
  (coalesce(event_at, at)) timestamptz_minmax_multi_ops, debit uuid_bloom_ops (n_distinct_per_range = 1500), credit uuid_bloom_ops (n_distinct_per_range = 100)
) WITH (pages_per_range = 32, autosummarize = on);
DROP INDEX IF EXISTS transfers_archive_by_time;
CREATE INDEX transfers_archive_by_time ON transfers_archive USING brin (
  (coalesce(event_at, at)) timestamptz_minmax_multi_ops, debit uuid_bloom_ops (n_distinct_per_range = 1500), credit uuid_bloom_ops (n_distinct_per_range = 100)
) WITH (pages_per_range = 32, autosummarize = on);
