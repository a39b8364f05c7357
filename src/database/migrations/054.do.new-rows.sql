-- What is made many at a time, as the type of one parameter that has all of its rows, in binary.

CREATE TYPE new_payments AS (
  slot smallint, id uuid, organisation_id uuid, mode mode, status text, amount bigint, currency text, transaction_type text,
  checkout_id uuid, checkout_token text, product_id uuid, subscription_id uuid, invoice_id uuid, customer_id uuid,
  customer_email text, customer_name text, external_customer_id text, client_reference_id text, metadata jsonb, attempt integer,
  processor text, asks integer, ask_at timestamptz, sequence bigint, event_at timestamptz, created_at timestamptz
);
CREATE TYPE new_invoices AS (
  id uuid, organisation_id uuid, mode mode, status text, currency text, subtotal bigint, discount_total bigint, total bigint,
  amount_paid bigint, billing_reason text, customer_id uuid, subscription_id uuid, checkout_id uuid, payment_id uuid,
  period_start timestamptz, period_end timestamptz, due_at timestamptz, paid_at timestamptz, lines jsonb, attempts integer,
  buyer jsonb, created_at timestamptz, event_id uuid, event_data jsonb
);
CREATE TYPE new_sandbox_charges AS (
  key text, status text, next_status text, next_at timestamptz, amount bigint, currency text, method jsonb, expiry jsonb,
  refunds text, failure_code text, failure_message text, return_url text, mandate text, off_session text,
  created_at timestamptz
);

-- Its organisation is joined by the statement that makes an invoice, so it is there. To ask again for each row, under a lock that all
-- of them share, was a tenth of that statement.
ALTER TABLE invoices DROP CONSTRAINT invoices_organisation_id_fkey;

/* All of these, in this order, or none. The relay is locked by the caller. How many deliveries that makes. */
CREATE OR REPLACE FUNCTION pass_events(chosen event_queue[])
 RETURNS bigint
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_mergejoin TO 'off'
AS $$
DECLARE
  owed bigint;
  known bigint;
  told bigint;
BEGIN
  WITH passing AS MATERIALIZED (
    SELECT c.*, r.position + c.nth AS position
    FROM event_relay r, unnest(chosen) WITH ORDINALITY AS c (organisation_id, place, event_id, written_at, nth)
  ), heard AS MATERIALIZED (
    -- Organisations with an endpoint. To ask for each event of the others cost a third of passing it.
    SELECT o.id FROM (SELECT DISTINCT p.organisation_id FROM passing p) own JOIN organisations o ON o.id = own.organisation_id
    WHERE EXISTS (SELECT FROM webhook_endpoints w WHERE w.organisation_id = o.id AND w.deleted_at IS NULL)
      OR EXISTS (SELECT FROM webhook_endpoints w WHERE w.group_id = o.group_id AND w.deleted_at IS NULL)
  ), made AS (
    INSERT INTO deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    SELECT uuidv7(), o.endpoint_id, o.event_id, o.type, o.status, now(), p.written_at
    FROM (SELECT * FROM passing WHERE organisation_id IN (SELECT id FROM heard)) p
    CROSS JOIN LATERAL owed_to(chosen[p.nth]) o ORDER BY p.position
    RETURNING event_id, endpoint_id, status
  ), counted AS (
    INSERT INTO event_fanouts (event_id, owed, position, written_at, organisation_id, mode)
    SELECT e.id, coalesce(m.owed, 0), p.position, p.written_at, e.organisation_id, e.mode
    FROM passing p JOIN events e ON e.id = p.event_id
    LEFT JOIN (SELECT event_id, count(*) AS owed FROM made GROUP BY event_id) m ON m.event_id = p.event_id
    RETURNING organisation_id, mode
  ), gone AS (
    DELETE FROM event_queue q USING passing p WHERE q.organisation_id = p.organisation_id AND q.place = p.place
  ), moved AS (
    UPDATE event_relay SET position = position + cardinality(chosen)
  )
  SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM counted),
    (SELECT count(pg_notify('tollhouse_deliveries', endpoint_id::text))
      FROM (SELECT DISTINCT endpoint_id FROM made WHERE status = 'pending') due)
    -- A step is of 50 organisations at most, and a message may have 8,000 bytes.
    + (SELECT count(pg_notify('tollhouse_positions', whose))
      FROM (SELECT string_agg(DISTINCT organisation_id || ' ' || mode, ',') AS whose FROM counted) news)
  INTO owed, known, told;
  IF known <> cardinality(chosen) THEN
    RAISE EXCEPTION 'an event that is queued is not there';
  END IF;
  RETURN owed;
END $$;
