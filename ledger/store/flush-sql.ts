/**
 * The statement of a flush: one transaction in one round trip. Columns come as arrays (`unnest` pads the short ones with nulls,
 * so that a column that no row uses costs two characters), rare rows as JSON. There are two of them, because each part of a
 * statement costs even where it has no rows: the lean one has none of the rare parts.
 *
 * The fence is the first part and every other part is joined to it: where the node's epoch or seq is not what it believes,
 * nothing is written (I6). The counts at the end fail the statement where an account was not what the actor believed.
 *
 * What is often the same in every row comes once, with the fence: to read a value out of an array costs more than to store it.
 */
const FENCE = `
  WITH fence AS (
    UPDATE nodes SET seq = seq + 1, expires_at = now() + $4 * interval '1 millisecond'
    WHERE id = $1 AND epoch = $2 AND seq = $3
    RETURNING id AS node, $5::uuid AS credit, $6::bigint AS amount, to_timestamp($7::bigint / 1000.0::float8) AS at,
      $8::bigint AS value, $9::bigint AS limit_after, $10::reason AS reason,
      to_timestamp($11::bigint / 1000.0::float8) AS updated_at
  )`;

const TRANSFERS = `,
  moved AS (
    INSERT INTO transfers (id, debit, credit, amount, at, value, event_at, consumed_after, limit_after, fingerprint, hold, kind,
      reason, slot, node, metadata, answer, guarded)
    SELECT t.id, t.debit, coalesce(t.credit, fence.credit), coalesce(t.amount, fence.amount), m.at, m.value,
      CASE WHEN m.value IS NOT NULL THEN coalesce(to_timestamp(t.event_at / 1000.0::float8), m.at) END,
      t.consumed_after, coalesce(t.limit_after, fence.limit_after), t.fingerprint, t.hold, coalesce(t.kind, 'single'),
      coalesce(t.reason, fence.reason), t.slot, fence.node, t.metadata, t.answer, coalesce(t.guarded, false)
    FROM fence, unnest($12::text::uuid[], $13::text::uuid[], $14::text::uuid[], $15::text::bigint[], $16::text::bigint[],
      $17::text::bigint[], $18::text::bigint[], $19::text::bigint[], $20::text::bigint[], $21::text::bigint[],
      $22::text::uuid[], $23::text::transfer_kind[], $24::text::reason[], $25::text::smallint[], $26::text::jsonb[], $27::text::jsonb[], $28::text::boolean[])
      AS t (id, debit, credit, amount, at, value, event_at, consumed_after, limit_after, fingerprint, hold, kind, reason, slot,
        metadata, answer, guarded),
      LATERAL (SELECT coalesce(to_timestamp(t.at / 1000.0::float8), fence.at) AS at, coalesce(t.value, fence.value) AS value) AS m
  )`;

const TOUCHED = `,
  touched AS (
    UPDATE accounts a SET
      debits_posted = a.debits_posted + coalesce(t.debits_posted, 0),
      credits_posted = a.credits_posted + coalesce(t.credits_posted, 0),
      debits_pending = a.debits_pending + coalesce(t.debits_pending, 0),
      credits_pending = a.credits_pending + coalesce(t.credits_pending, 0),
      aggregate = coalesce(t.aggregate, a.aggregate),
      latest_at = coalesce(to_timestamp(t.latest_at / 1000.0::float8), a.latest_at),
      latest_id = coalesce(t.latest_id, a.latest_id),
      period_end = coalesce(to_timestamp(t.period_end / 1000.0::float8), a.period_end),
      updated_at = coalesce(to_timestamp(t.updated_at / 1000.0::float8), fence.updated_at, a.updated_at)
    FROM fence, unnest($29::text::smallint[], $30::text::uuid[], $31::text::bigint[], $32::text::bigint[], $33::text::bigint[],
      $34::text::bigint[], $35::text::bigint[], $36::text::bigint[], $37::text::bigint[], $38::text::bigint[],
      $39::text::uuid[], $40::text::bigint[], $41::text::bigint[])
      AS t (slot, id, debits_posted, credits_posted, debits_pending, credits_pending, expected_debits, expected_credits,
        aggregate, latest_at, latest_id, period_end, updated_at)
    WHERE a.slot = t.slot AND a.id = t.id
      AND (t.expected_debits IS NULL
        OR (a.debits_posted = t.expected_debits AND a.credits_posted = t.expected_credits))
    RETURNING 1
  )`;

/** Each part takes its rows out of one document, which is parsed once: ten times was two thirds of what a flush of refunds cost. */
const RARE = `,
  rare AS MATERIALIZED (SELECT $44::text::jsonb AS parts),
  opened AS (
    INSERT INTO accounts AS a (id, slot, organisation_id, mode, kind, customer_id, meter_id, debits_posted, debits_pending,
      credits_posted, credits_pending, aggregate, latest_at, latest_id, period_start, period_end,
      updated_at, capped, currency)
    SELECT o.id, o.slot, o.organisation_id, o.mode, o.kind, o.customer_id, o.meter_id, o.debits_posted, o.debits_pending,
      o.credits_posted, o.credits_pending, o.aggregate, o.latest_at, o.latest_id, o.period_start, o.period_end,
      o.updated_at, o.capped, o.currency
    FROM fence, rare, jsonb_populate_recordset(NULL::accounts, rare.parts -> 'opened') AS o
    ON CONFLICT (slot, id) DO UPDATE SET
      debits_posted = a.debits_posted + excluded.debits_posted,
      credits_posted = a.credits_posted + excluded.credits_posted,
      debits_pending = a.debits_pending + excluded.debits_pending,
      credits_pending = a.credits_pending + excluded.credits_pending
    -- An actor's account is opened once; the other sides are opened by each process that first needs them.
    WHERE a.kind NOT IN ('meter', 'payment')
    RETURNING 1
  ),
  counted AS (
    INSERT INTO members (slot, account_id, member)
    SELECT m.slot, m.account_id, m.member FROM fence, rare, jsonb_populate_recordset(NULL::members, rare.parts -> 'members') AS m
  ),
  granted AS (
    INSERT INTO grants AS g
    SELECT r.* FROM fence, rare, jsonb_populate_recordset(NULL::grants, rare.parts -> 'grants') AS r
    ON CONFLICT (slot, id) DO UPDATE SET
      used = excluded.used, spent = excluded.spent, started = excluded.started, expires_at = excluded.expires_at, renews_at = excluded.renews_at,
      suspended = excluded.suspended, ended_at = excluded.ended_at, ended_how = excluded.ended_how
  ),
  stated AS (
    INSERT INTO customer_meters AS c
    SELECT s.* FROM fence, rare, jsonb_populate_recordset(NULL::customer_meters, rare.parts -> 'states') AS s
    ON CONFLICT (slot, customer_id, meter_id) DO UPDATE SET
      period_start = excluded.period_start, period_end = excluded.period_end,
      allocated = excluded.allocated, first_grant_at = excluded.first_grant_at, ever_expired = excluded.ever_expired,
      exhausted = excluded.exhausted, sequence = excluded.sequence, event_at = excluded.event_at
  ),
  armed AS (
    INSERT INTO alarms AS l
    SELECT r.* FROM fence, rare, jsonb_populate_recordset(NULL::alarms, rare.parts -> 'alarms') AS r
    WHERE r.due_at IS NOT NULL
    ON CONFLICT (slot, actor_id, subject_id) DO UPDATE SET due_at = excluded.due_at
  ),
  disarmed AS (
    DELETE FROM alarms l USING fence, rare, jsonb_populate_recordset(NULL::alarms, rare.parts -> 'alarms') AS r
    WHERE r.due_at IS NULL AND l.slot = r.slot AND l.actor_id = r.actor_id AND l.subject_id = r.subject_id
  ),
  told AS (
    INSERT INTO events (id, organisation_id, mode, type, object_type, object_id, account_id, sequence, at, data)
    SELECT e.id, e.organisation_id, e.mode, e.type, e.object_type, e.object_id, e.account_id, e.sequence, e.at,
      CASE WHEN e.object_type = 'ENTITLEMENT' AND NOT e.data ? 'metadata'
        THEN e.data || jsonb_build_object('metadata', (SELECT c.metadata FROM customers c WHERE c.id = e.account_id))
        ELSE e.data END
    FROM fence, rare, jsonb_populate_recordset(NULL::events, rare.parts -> 'events') AS e
  ),
  paid AS (
    UPDATE payments p SET
      status = r.status, invoice_id = r.invoice_id, customer_id = r.customer_id,
      processor_reference = r.processor_reference, method = r.method, failure_code = r.failure_code,
      failure_message = r.failure_message, asks = r.asks, ask_at = r.ask_at, sequence = r.sequence,
      event_at = r.event_at, paid_at = r.paid_at
    FROM fence, rare, jsonb_populate_recordset(NULL::payments, rare.parts -> 'payments') AS r
    WHERE p.slot = r.slot AND p.id = r.id
  ),
  refunded AS (
    INSERT INTO refunds AS f
    SELECT r.* FROM fence, rare, jsonb_populate_recordset(NULL::refunds, rare.parts -> 'refunds') AS r
    ON CONFLICT (slot, id) DO UPDATE SET
      status = excluded.status, failure_reason = excluded.failure_reason,
      processor_reference = excluded.processor_reference, asks = excluded.asks, ask_at = excluded.ask_at,
      settled_at = excluded.settled_at, answered = excluded.answered
  ),
  subscribed AS (
    INSERT INTO subscriptions AS s
    SELECT r.* FROM fence, rare, jsonb_populate_recordset(NULL::subscriptions, rare.parts -> 'subscriptions') AS r
    ON CONFLICT (slot, id) DO UPDATE SET
      product_id = excluded.product_id, price_id = excluded.price_id, plan_name = excluded.plan_name,
      price_list_name = excluded.price_list_name, unit_amount = excluded.unit_amount, interval = excluded.interval,
      interval_count = excluded.interval_count, quantity = excluded.quantity, status = excluded.status,
      overdue = excluded.overdue, anchor_at = excluded.anchor_at, period_index = excluded.period_index,
      period_start = excluded.period_start, period_end = excluded.period_end,
      period_price = excluded.period_price, trial_end = excluded.trial_end,
      cancel_at = excluded.cancel_at, canceled_at = excluded.canceled_at, ended_at = excluded.ended_at,
      paused_at = excluded.paused_at, resumes_at = excluded.resumes_at, keep_invoices = excluded.keep_invoices,
      open = excluded.open, waiting = excluded.waiting, credit = excluded.credit, sequence = excluded.sequence,
      event_at = excluded.event_at, live = excluded.live
  ),
  owed AS (
    INSERT INTO followups (slot, id, kind, payment_id, subscription_id, customer_id, data, at)
    SELECT o.slot, o.id, o.kind, o.payment_id, o.subscription_id, o.customer_id, o.data, o.at FROM fence, rare, jsonb_populate_recordset(NULL::followups, rare.parts -> 'followups') AS o
  ),
  handed_over AS (
    UPDATE slots s SET node = n.id
    FROM fence, rare, jsonb_populate_recordset(NULL::slots, rare.parts -> 'handovers') AS h
    JOIN nodes n ON n.id = h.node AND n.expires_at > now() AND NOT n.leaving AND NOT n.halted
    WHERE s.slot = h.slot AND s.node = fence.node
  )`;

const COUNTS = (opened: string): string => `
  SELECT CASE
    WHEN NOT EXISTS (SELECT FROM fence) THEN 0
    WHEN (SELECT count(*) FROM touched) <> $42::int THEN refuse_flush('I4: an account was not what its actor believed')
    WHEN ${opened} <> $43::int THEN refuse_flush('I5: an account was opened twice')
    ELSE 1 END = 1 AS moved`;

export const LEAN_FLUSH = FENCE + TRANSFERS + TOUCHED + COUNTS('0');
export const FULL_FLUSH =
  FENCE + TRANSFERS + TOUCHED + RARE + COUNTS('(SELECT count(*) FROM opened)');
