const MS = `timestamptz 'epoch' + interval '1 ms' *`;

/**
 * What a subscription waits to be paid, one invoice each, and the followups that will make or
 * settle such invoices.
 */
const CHASED = `
  WITH chased AS (
    SELECT s.id AS subscription_id, s.organisation_id, s.mode, s.customer_id, (o ->> 'invoiceId')::uuid AS invoice_id,
      (o ->> 'paymentId')::uuid AS payment_id, (o -> 'amount' ->> '$')::bigint AS amount
    FROM subscriptions s
    CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(s.waiting) WHEN 'object' THEN s.open || s.waiting ELSE s.open END) o
  ), owed AS (
    SELECT f.kind, f.payment_id, (f.data -> 'payment' ->> 'id')::uuid AS charge_id,
      coalesce(f.data -> 'invoice' ->> 'id', f.data -> 'news' ->> 'invoiceId', f.data ->> 'invoiceId',
        f.data -> 'payment' ->> 'invoiceId')::uuid AS invoice_id
    FROM followups f
  )`;

/** The invariants of subscriptions: a name, and a query that returns no row at any moment. */
export const SUBSCRIPTION_CHECKS: Readonly<Record<string, string>> = {
  'a subscription rings when something is due': `
    SELECT coalesce(s.id, l.subject_id) AS subscription, s.status, s.live, s.due_at, l.due_at AS rings_at
    FROM (
      SELECT s.*, CASE WHEN s.status <> 'canceled' AND jsonb_typeof(s.waiting) IS DISTINCT FROM 'object' THEN
        least(s.cancel_at, s.resumes_at, CASE WHEN s.status = 'active' OR s.keep_invoices THEN s.period_end END, o.due_at) END AS due_at
      FROM subscriptions s CROSS JOIN LATERAL (
        SELECT min(least(${MS} (o ->> 'retryAt')::bigint, ${MS} (o -> 'dunning' ->> 'expireAt')::bigint,
          CASE WHEN s.overdue <> 'blocked' THEN ${MS} (o -> 'dunning' ->> 'blockAt')::bigint END)) AS due_at
        FROM jsonb_array_elements(s.open) o
      ) o
    ) s
    FULL JOIN (SELECT * FROM alarms WHERE kind = 'subscription') l
      ON l.slot = s.slot AND l.actor_id = s.customer_id AND l.subject_id = s.id
    WHERE s.due_at IS DISTINCT FROM l.due_at OR s.live <> (s.status <> 'canceled' OR EXISTS (
      SELECT FROM jsonb_array_elements(s.open) o WHERE o ->> 'paymentId' IS NOT NULL OR o ->> 'isFinal' IS NULL))`,

  'a subscription waits for invoices that are unpaid': `${CHASED}
    SELECT c.subscription_id AS subscription, c.invoice_id AS invoice, c.amount, i.status, i.total
    FROM chased c LEFT JOIN invoices i ON i.id = c.invoice_id
    WHERE NOT EXISTS (SELECT FROM owed o WHERE o.invoice_id = c.invoice_id AND o.kind IN ('bill', 'tell', 'collect')
        OR o.payment_id = c.payment_id AND o.kind = 'payment_settled')
      AND (i.id IS NULL OR i.status NOT IN ('open', 'uncollectible') OR i.total <> c.amount
        OR (i.subscription_id, i.organisation_id, i.mode, i.customer_id) IS DISTINCT FROM
          (c.subscription_id, c.organisation_id, c.mode, c.customer_id))`,

  // A pause may leave drafts; once the merchant finalises them they are the merchant's to collect. So
  // is usage that an ended subscription could not charge.
  'an unpaid invoice is known to its subscription': `${CHASED}
    SELECT i.id AS invoice, i.number, i.subscription_id AS subscription
    FROM invoices i LEFT JOIN chased c ON c.invoice_id = i.id
    WHERE i.status = 'open' AND i.subscription_id IS NOT NULL AND c.invoice_id IS NULL AND i.billing_reason <> 'usage'
      AND NOT EXISTS (SELECT FROM owed o LEFT JOIN payments p ON p.id = o.payment_id
        WHERE o.kind = 'void' AND o.invoice_id = i.id OR o.kind = 'payment_settled' AND p.invoice_id = i.id)
      AND NOT EXISTS (SELECT FROM events e WHERE e.object_id = i.subscription_id AND e.type = 'subscription.updated'
        AND e.data ->> 'status' = 'paused' AND e.at <= i.period_start)`,

  'a charge that a subscription waits for is being decided': `${CHASED}
    SELECT c.subscription_id AS subscription, c.payment_id AS payment, p.status, p.amount
    FROM chased c LEFT JOIN payments p ON p.id = c.payment_id
    WHERE c.payment_id IS NOT NULL AND CASE
      WHEN p.id IS NULL THEN NOT EXISTS (SELECT FROM owed o
        WHERE o.charge_id = c.payment_id OR o.kind = 'tell' AND o.invoice_id = c.invoice_id)
      ELSE (p.subscription_id, p.amount) IS DISTINCT FROM (c.subscription_id, c.amount)
        OR p.status NOT IN ('processing', 'requires_action')
          AND NOT EXISTS (SELECT FROM owed o WHERE o.kind = 'payment_settled' AND o.payment_id = p.id) END`,

  'an invoice is charged once': `
    SELECT p.invoice_id AS invoice, count(*) AS charges FROM payments p
    WHERE p.invoice_id IS NOT NULL AND p.status NOT IN ('failed', 'errored', 'canceled') GROUP BY p.invoice_id HAVING count(*) > 1`,

  'a period has one invoice': `
    SELECT subscription_id AS subscription, period_start, count(*) AS invoices FROM invoices
    WHERE billing_reason IN ('subscription_create', 'subscription_cycle', 'subscription_resume') AND status <> 'void'
      AND subscription_id IS NOT NULL
    GROUP BY subscription_id, period_start HAVING count(*) > 1`,

  // After a pause, a block or another plan a period may begin anywhere, and so may the first one
  // after a trial.
  'a period begins where the one before it ended': `
    SELECT i.subscription_id AS subscription, i.id AS invoice, i.period_start
    FROM invoices i JOIN subscriptions s ON s.id = i.subscription_id
    WHERE i.billing_reason = 'subscription_cycle' AND i.period_start IS DISTINCT FROM s.trial_end
      AND NOT EXISTS (SELECT FROM invoices b WHERE b.subscription_id = i.subscription_id AND b.period_end = i.period_start)
      AND NOT EXISTS (SELECT FROM events e WHERE e.object_id = s.id AND (e.type = 'subscription.blocked'
        OR e.type = 'subscription.updated' AND e.data -> 'changes' <> '["cancelAtPeriodEnd"]') AND e.at <= i.period_start)`,

  // Where a clock is turned, the database and the calendar may choose different hours.
  'a period is counted from its anchor': `
    SELECT s.id AS subscription, s.anchor_at, s.period_index, s.period_start, s.period_end
    FROM subscriptions s CROSS JOIN LATERAL (
      SELECT CASE WHEN s.period_index < 0 THEN s.created_at ELSE (local + step * s.period_index) AT TIME ZONE s.zone END AS starts,
        (local + step * (s.period_index + 1)) AT TIME ZONE s.zone AS ends
      FROM (SELECT s.anchor_at AT TIME ZONE s.zone AS local, (s.interval_count || ' ' || s.interval)::interval AS step) c
    ) c
    WHERE greatest(abs(extract(epoch FROM s.period_start - c.starts)), abs(extract(epoch FROM s.period_end - c.ends)))
      > CASE s.zone WHEN 'UTC' THEN 0 ELSE 7200 END`,

  'the present period of a subscription is billed': `
    SELECT s.id AS subscription, s.period_start, s.status FROM subscriptions s
    WHERE s.status = 'active' AND s.period_index > 0
      AND NOT EXISTS (SELECT FROM invoices i WHERE i.subscription_id = s.id AND i.period_start = s.period_start)
      AND NOT EXISTS (SELECT FROM followups f WHERE f.subscription_id = s.id AND f.kind = 'bill'
        AND ${MS} (f.data -> 'invoice' ->> 'periodStart')::bigint = s.period_start)`,

  'allowances are as their subscription is': `
    SELECT g.id AS allowance, g.subscription_id AS subscription, s.status, s.overdue, g.suspended
    FROM grants g LEFT JOIN subscriptions s ON s.id = g.subscription_id AND s.customer_id = g.customer_id
    WHERE g.subscription_id IS NOT NULL AND g.ended_at IS NULL AND (s.id IS NULL OR s.status = 'canceled'
      OR g.suspended IS DISTINCT FROM CASE WHEN s.overdue = 'blocked' THEN 'blocked' WHEN s.status = 'paused' THEN 'paused' END)`,

  'nothing is owed for an hour': `
    SELECT id AS followup, kind, payment_id AS payment, subscription_id AS subscription, written_at FROM followups
    WHERE written_at < now() - interval '1 hour'`,
};
