-- While a clock is moved it stands, for as long as the node lives that moves it: `mover` is the holder of that node's seat.
-- `version` counts what was done to it, so that what is heard late is known to be old.
ALTER TABLE test_clocks
  ADD COLUMN stopped_at timestamptz,
  ADD COLUMN mover uuid,
  ADD COLUMN version bigint NOT NULL DEFAULT 1,
  ADD CONSTRAINT test_clocks_stopped CHECK ((stopped_at IS NULL) = (mover IS NULL));
