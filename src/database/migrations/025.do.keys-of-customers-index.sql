-- Outside a transaction: an index of a table that may be large, built while others write. What a start that was killed left is built anew.
DROP INDEX IF EXISTS transfers_id_of_slot;
CREATE UNIQUE INDEX CONCURRENTLY transfers_id_of_slot ON transfers (id, slot);
DROP INDEX IF EXISTS transfers_hold_of_slot;
CREATE UNIQUE INDEX CONCURRENTLY transfers_hold_of_slot ON transfers (hold, slot) WHERE hold IS NOT NULL;
DROP INDEX IF EXISTS transfers_refund_once;
CREATE UNIQUE INDEX CONCURRENTLY transfers_refund_once ON transfers (id)
  WHERE value IS NULL AND kind IN ('pending', 'refused');
