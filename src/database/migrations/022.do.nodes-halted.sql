-- The database was behind what this node had written: a stale copy was promoted. Nobody serves what it owned, nor takes a seat, until an
-- operator accepts that what it had written is gone (`admin resume`).
ALTER TABLE nodes ADD COLUMN halted boolean NOT NULL DEFAULT false;
