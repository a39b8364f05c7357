-- Usage over time: what each account used in each quarter of an hour. The days of every time zone begin at one.

-- What a flush adds to the bins: its usage, summed by account and quarter. Entries are side by side in the arrays. Whoever reads usage
-- adds these to the bins; the folder moves them there.
CREATE TABLE usage_deltas (
  node smallint NOT NULL,
  -- Of the flush. Of node 0, which no server is: a step of the backfill.
  seq bigint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  slots smallint[] NOT NULL,
  accounts uuid[] NOT NULL,
  -- When each quarter begins, by the events' own time.
  quarters timestamptz[] NOT NULL,
  -- The sum of the events' values: corrections are negative. A flush has some 8,700 events of an account at most, each below 10^15.
  sums bigint[] NOT NULL,
  -- The number of events, less corrections: below 0 where corrections are more.
  events integer[] NOT NULL,
  CONSTRAINT usage_deltas_pkey PRIMARY KEY (node, seq)
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);
-- They live for a second: it is not worth to compress them, and a page holds most of them.
ALTER TABLE usage_deltas
  ALTER COLUMN slots SET STORAGE EXTERNAL,
  ALTER COLUMN accounts SET STORAGE EXTERNAL,
  ALTER COLUMN quarters SET STORAGE EXTERNAL,
  ALTER COLUMN sums SET STORAGE EXTERNAL,
  ALTER COLUMN events SET STORAGE EXTERNAL;

-- Of an account, which is one period of a customer's meter. Numeric: what later events correct may sum to more than any total may be.
CREATE TABLE usage_bins (
  slot smallint NOT NULL,
  account_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  value numeric NOT NULL,
  events bigint NOT NULL,
  CONSTRAINT usage_bins_pkey PRIMARY KEY (slot, account_id, quarter)
) WITH (fillfactor = 80);

-- Of a meter, over all of its customers.
CREATE TABLE usage_totals (
  meter_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  value numeric NOT NULL,
  events bigint NOT NULL,
  CONSTRAINT usage_totals_pkey PRIMARY KEY (meter_id, quarter)
) WITH (fillfactor = 50);

-- Usage that a server of before wrote has no delta, and is marked so by this default; a server of this release writes null. The backfill
-- adds it to the bins when no such server can write any more.
ALTER TABLE transfers ADD COLUMN unbinned boolean DEFAULT true;
ALTER TABLE transfers_archive ADD COLUMN unbinned boolean DEFAULT true;

-- What the backfill has still to read: from this page on, of so many. Null: it has not begun. Without a row bins are whole.
CREATE TABLE usage_backfills (
  relation text NOT NULL,
  page bigint NOT NULL,
  pages bigint,
  CONSTRAINT usage_backfills_pkey PRIMARY KEY (relation)
);
INSERT INTO usage_backfills (relation, page)
SELECT 'transfers', 0
WHERE EXISTS (SELECT FROM nodes) OR EXISTS (SELECT FROM transfers) OR EXISTS (SELECT FROM transfers_archive) OR EXISTS (SELECT FROM closing_balances);

-- Of what is dropped, what is in no bin, because it was dropped before there were any.
ALTER TABLE closing_balances
  ADD COLUMN unbinned_total numeric DEFAULT 0 NOT NULL,
  ADD COLUMN unbinned_signed bigint DEFAULT 0 NOT NULL;

-- Whether the holder of a seat writes deltas. A server of before may still wait for a seat: it says nothing of this, and is refused.
ALTER TABLE nodes ADD COLUMN keeps_bins boolean NOT NULL DEFAULT false;
ALTER TABLE nodes ALTER COLUMN keeps_bins DROP DEFAULT;
