-- How many events there are in a bin: `events` is their number less corrections, which is what a meter that counts consumes.

-- What a flush adds to the corrections of bins. Whoever reads usage adds these to the bins; the folder moves them there. A table of its
-- own, because a server of before folds usage_deltas, and would drop a column that it does not know.
CREATE TABLE usage_corrections (
  node smallint NOT NULL,
  -- Of the flush. Of node 0, which no server is: a step of the backfill.
  seq bigint NOT NULL,
  slot smallint NOT NULL,
  account_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  corrections bigint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT usage_corrections_pkey PRIMARY KEY (node, seq, account_id, quarter)
) WITH (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);
CREATE TYPE flush_usage_corrections AS (slot smallint, account_id uuid, quarter timestamptz, corrections bigint);

ALTER TABLE usage_bins
  -- Each takes one off `events`: the number of events is events + 2 * corrections.
  ADD COLUMN corrections bigint DEFAULT 0 NOT NULL;
ALTER TABLE usage_totals
  -- Each takes one off `events`: the number of events is events + 2 * corrections.
  ADD COLUMN corrections bigint DEFAULT 0 NOT NULL;
ALTER TABLE closing_balances
  -- Of the events that are dropped, how many are corrections that bins have as such: not those that were dropped before bins had any.
  ADD COLUMN corrections bigint DEFAULT 0 NOT NULL;

-- What the backfill has still to read of the corrections that a server of before wrote, as in usage_backfills. Such a correction has no
-- `events`; one of a server of this release has -1 there. Without a row corrections are whole.
CREATE TABLE correction_backfills (
  relation text NOT NULL,
  page bigint NOT NULL,
  pages bigint,
  CONSTRAINT correction_backfills_pkey PRIMARY KEY (relation)
);
INSERT INTO correction_backfills (relation, page)
SELECT 'transfers', 0
WHERE EXISTS (SELECT FROM nodes) OR EXISTS (SELECT FROM transfers) OR EXISTS (SELECT FROM transfers_archive);

-- Whether the holder of a seat writes usage_corrections. A server of before may still wait for a seat: it says nothing of this, and is
-- refused.
ALTER TABLE nodes ADD COLUMN counts_corrections boolean NOT NULL DEFAULT false;
ALTER TABLE nodes ALTER COLUMN counts_corrections DROP DEFAULT;
