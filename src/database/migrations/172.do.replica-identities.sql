-- In a publication, rows of a table without a replica identity may only be added. A publication of all tables (change data capture, an
-- upgrade by logical replication) stopped the relay, and the next start. FULL names a row by all of its columns, and costs nothing where
-- nobody subscribes.
ALTER TABLE installation ADD PRIMARY KEY (id);
ALTER TABLE usage_keys ADD PRIMARY KEY (by_customer_since);
ALTER TABLE event_relay REPLICA IDENTITY FULL;
ALTER TABLE transfers_archive REPLICA IDENTITY FULL;
DO $$
DECLARE
  month regclass;
BEGIN
  FOR month IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'transfers_archive'::regclass LOOP
    EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', month);
  END LOOP;
END $$;
