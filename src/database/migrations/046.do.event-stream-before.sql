-- Outside a transaction: what was passed before 045 does not say whose it is. What a start that was killed left is done again.
UPDATE event_fanouts f SET organisation_id = e.organisation_id, mode = e.mode
  FROM events e WHERE e.id = f.event_id AND f.position IS NOT NULL AND f.organisation_id IS NULL;
DROP INDEX IF EXISTS event_fanouts_streamed;
CREATE INDEX CONCURRENTLY event_fanouts_streamed ON event_fanouts (organisation_id, mode, position);
