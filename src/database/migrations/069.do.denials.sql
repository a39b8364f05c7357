-- Denials: each no of /check and /track, and on what balance. They are written once a second, beside the answers: a killed process
-- loses those of its last second.
CREATE TABLE denials (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  meter_id uuid NOT NULL,
  -- Null: these are only counted, because that second had more than are kept.
  customer_id uuid,
  -- The first and the last of `count` times the same answer to the same question, by the organisation's clock; then the first by the
  -- clock of the node.
  at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  recorded_at timestamptz NOT NULL,
  count integer NOT NULL,
  kind text,
  reason reason,
  -- What was asked for, and the balance that it was refused on. A limit that is null: unlimited.
  value bigint,
  "limit" bigint,
  consumed bigint,
  reserved bigint,
  period_start timestamptz,
  period_end timestamptz,
  -- Of a refusal with a key: its row in transfers. A replayed one was decided before.
  transfer_id uuid,
  replayed boolean NOT NULL,
  -- The first few.
  request_ids text[] NOT NULL,
  node smallint,
  CONSTRAINT denials_pkey PRIMARY KEY (id),
  CONSTRAINT denials_kind_known CHECK (kind IN ('check', 'consume', 'track')),
  CONSTRAINT denials_kept_whole CHECK ((customer_id IS NULL) = (kind IS NULL) AND (kind IS NULL) = (reason IS NULL))
);
CREATE INDEX denials_of_customer ON denials (customer_id, at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX denials_left_out ON denials (organisation_id, mode, at) WHERE customer_id IS NULL;

CREATE TABLE denial_requests (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  request_id text NOT NULL,
  denial_id uuid NOT NULL,
  CONSTRAINT denial_requests_pkey PRIMARY KEY (organisation_id, mode, request_id, denial_id)
);

-- All denials of a feature, with and without a row, in a quarter of an hour.
CREATE TABLE denial_counts (
  organisation_id uuid NOT NULL,
  mode mode NOT NULL,
  quarter timestamptz NOT NULL,
  meter_id uuid NOT NULL,
  count bigint NOT NULL,
  CONSTRAINT denial_counts_pkey PRIMARY KEY (organisation_id, mode, quarter, meter_id)
) WITH (fillfactor = 50);
