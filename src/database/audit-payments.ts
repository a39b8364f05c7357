import { ACCOUNTS } from '../../ledger/store/audit.ts';

/** The status of a payment whose money was taken. */
const CAPTURED = `('succeeded', 'partially_refunded', 'refunded')`;
const OPEN = `('requires_action', 'processing')`;
/** Of a transfer \`t\`: whether a dispute made it. */
const OF_DISPUTE = `coalesce(t.answer ? 'dispute', false)`;

/** What disputes hold and have taken of each payment's account. */
const DISPUTED = `disputed AS (
    SELECT slot, payment_id, sum(held)::bigint AS held, sum(charged_back)::bigint AS charged_back
    FROM disputes GROUP BY slot, payment_id
  )`;

/**
 * Of a payment \`p\` and what was taken of it: less than it was for only where a merchant has captured a
 * part at a processor, which a charge without its buyer and the sandbox have not.
 */
const isTaken = (taken: string): string =>
  `(${taken} = p.amount OR ${taken} > 0 AND ${taken} < p.amount AND p.checkout_id IS NOT NULL AND p.processor <> 'sandbox')`;

/** Payments, with what their accounts say and what their followups still have to do. */
export const CHARGED = `
  WITH owed AS (
    SELECT payment_id, count(*) FILTER (WHERE kind = 'payment_settled') > 0 AS settling,
      coalesce(sum((data ->> 'delta')::bigint) FILTER (WHERE kind = 'refund_settled'), 0) AS refunded,
      coalesce(sum((data ->> 'delta')::bigint) FILTER (WHERE kind = 'dispute_settled'), 0) AS charged_back
    FROM followups GROUP BY payment_id
  ), ${DISPUTED}, charged AS (
    SELECT p.*, b.id IS NOT NULL AS captured, coalesce(b.credits_posted, 0) AS taken,
      coalesce(b.debits_posted, 0) - coalesce(d.charged_back, 0) - coalesce(o.refunded, 0) AS told_refunded,
      coalesce(d.charged_back, 0) - coalesce(o.charged_back, 0) AS told_charged_back,
      coalesce(o.settling, false) AS settling, p.status IN ${OPEN} AS open
    FROM payments p LEFT JOIN balances b ON b.slot = p.slot AND b.id = p.id LEFT JOIN owed o ON o.payment_id = p.id
    LEFT JOIN disputed d ON d.slot = p.slot AND d.payment_id = p.id
  )`;

/**
 * The invariants of money: a name, and a query that returns no row. A followup that waits is no
 * fault.
 */
export const PAYMENT_CHECKS: Readonly<Record<string, string>> = {
  'I1 debits equal credits for each currency': `
    SELECT organisation_id, mode, currency, sum(debits_posted) AS debits, sum(credits_posted) AS credits,
      sum(debits_pending) AS pending_debits, sum(credits_pending) AS pending_credits
    FROM ${ACCOUNTS} a WHERE currency IS NOT NULL GROUP BY organisation_id, mode, currency
    HAVING sum(debits_posted) <> sum(credits_posted) OR sum(debits_pending) <> sum(credits_pending)`,

  'I2 a payment is what its account says': `
    WITH ${DISPUTED}
    SELECT coalesce(p.id, a.id) AS payment, p.status, p.amount, a.credits_posted AS captured, a.debits_posted AS refunded
    FROM payments p FULL JOIN (SELECT a.*, b.debits_posted, b.debits_posted - coalesce(d.charged_back, 0) AS refunded, b.credits_posted, b.capped
      FROM accounts a LEFT JOIN balances b ON b.slot = a.slot AND b.id = a.id
      LEFT JOIN disputed d ON d.slot = a.slot AND d.payment_id = a.id WHERE a.kind = 'payment') a ON a.slot = p.slot AND a.id = p.id
    LEFT JOIN customers c ON c.id = p.customer_id AND c.organisation_id = p.organisation_id AND c.mode = p.mode
    WHERE p.id IS NULL OR (p.status IN ${CAPTURED}) <> (a.id IS NOT NULL)
      -- A charge without its buyer has a customer before it has the money, and an invoice, but for a top-up.
      OR num_nonnulls(p.paid_at, p.invoice_id, c.id) <> CASE WHEN a.id IS NOT NULL THEN 3 WHEN p.meter_id IS NOT NULL THEN 1
        WHEN p.checkout_id IS NULL THEN 2 ELSE num_nonnulls(p.customer_id) END
      OR a.id IS NULL AND p.paid_at IS NOT NULL
      OR NOT ${isTaken('a.credits_posted')} OR NOT a.capped
      OR (a.organisation_id, a.mode, a.currency) <> (p.organisation_id, p.mode, p.currency)
      -- What was charged back is no refund.
      OR p.status <> CASE WHEN a.id IS NULL THEN p.status WHEN a.refunded = 0 THEN 'succeeded'
        WHEN a.refunded < a.credits_posted THEN 'partially_refunded' ELSE 'refunded' END`,

  'I2 a payment is captured once': `
    SELECT p.id AS payment, p.amount, count(t.id) AS captures, sum(t.amount) AS captured
    FROM payments p LEFT JOIN transfers t ON t.credit = p.id
    WHERE p.status IN ${CAPTURED} GROUP BY p.id, p.amount, p.checkout_id, p.processor
    HAVING count(t.id) <> 1 OR NOT ${isTaken('sum(t.amount)')} OR bool_or(t.kind <> 'single')`,

  'I3 a refund is a hold on its payment': `
    SELECT coalesce(r.id, h.id) AS refund, r.status, r.amount, h.amount AS held, x.kind AS resolved, x.amount AS moved
    FROM (SELECT r.*, (r.organisation_id, r.mode, r.currency) = (p.organisation_id, p.mode, p.currency) AS fits
      FROM refunds r LEFT JOIN payments p ON p.slot = r.slot AND p.id = r.payment_id) r
    FULL JOIN (SELECT t.* FROM transfers t JOIN payments p ON p.id = t.debit WHERE t.kind = 'pending' AND NOT ${OF_DISPUTE}) h ON h.id = r.id
    LEFT JOIN transfers x ON x.hold = h.id
    WHERE r.id IS NULL OR h.id IS NULL OR r.fits IS NOT TRUE OR h.debit <> r.payment_id OR h.amount <> r.amount
      OR CASE r.status WHEN 'pending' THEN x.id IS NOT NULL WHEN 'succeeded' THEN x.kind IS DISTINCT FROM 'post'
        ELSE x.id IS NULL END
      OR x.kind = 'post' AND x.amount <> r.amount`,

  'I3 what a payment gave back is the sum of its refunds and disputes': `
    WITH ${DISPUTED}
    SELECT a.id AS payment, a.debits_posted AS given_back, a.debits_pending AS pending, d.charged_back, d.held,
      sum(r.amount) FILTER (WHERE r.status = 'succeeded') AS of_succeeded,
      sum(r.amount) FILTER (WHERE r.status = 'pending') AS of_pending
    FROM ${ACCOUNTS} a LEFT JOIN refunds r ON r.slot = a.slot AND r.payment_id = a.id
    LEFT JOIN disputed d ON d.slot = a.slot AND d.payment_id = a.id
    WHERE a.kind = 'payment' GROUP BY a.id, a.debits_posted, a.debits_pending, a.credits_pending, d.charged_back, d.held
    HAVING a.debits_posted <> coalesce(sum(r.amount) FILTER (WHERE r.status = 'succeeded'), 0) + coalesce(d.charged_back, 0)
      OR a.debits_pending <> coalesce(sum(r.amount) FILTER (WHERE r.status = 'pending'), 0) + coalesce(d.held, 0)
      OR a.credits_pending <> 0`,

  'I3 a dispute is what its transfers say': `
    SELECT coalesce(d.id::text, t.dispute) AS dispute, d.status, d.amount, d.held, t.held AS holds, d.charged_back, t.posted, d.moves, t.moves AS transfers
    FROM (SELECT d.*, (d.organisation_id, d.mode, d.currency) = (p.organisation_id, p.mode, p.currency) AS fits
      FROM disputes d LEFT JOIN payments p ON p.slot = d.slot AND p.id = d.payment_id) d
    FULL JOIN (SELECT t.answer ->> 'dispute' AS dispute, count(*) AS moves, count(DISTINCT t.debit) AS accounts, min(t.debit::text) AS account,
        sum(CASE t.kind WHEN 'reverse' THEN -t.amount WHEN 'single' THEN t.amount WHEN 'post' THEN t.amount ELSE 0 END) AS posted,
        coalesce(sum(t.amount) FILTER (WHERE t.kind = 'pending' AND x.id IS NULL), 0) AS held,
        count(*) FILTER (WHERE t.kind = 'pending' AND x.id IS NULL) AS open, min(t.id::text) FILTER (WHERE t.kind = 'pending' AND x.id IS NULL) AS hold
      FROM transfers t LEFT JOIN transfers x ON x.hold = t.id WHERE ${OF_DISPUTE} GROUP BY 1) t ON t.dispute = d.id::text
    WHERE d.id IS NULL OR d.fits IS NOT TRUE OR d.moves <> coalesce(t.moves, 0) OR d.held <> coalesce(t.held, 0)
      OR d.charged_back <> coalesce(t.posted, 0) OR t.open > 1 OR d.hold::text IS DISTINCT FROM t.hold
      OR t.accounts <> 1 OR t.account <> d.payment_id::text`,

  'I4 a dispute takes all that is left, up to its amount': `
    SELECT d.id AS dispute, d.status, d.amount, d.held, d.charged_back, a.credits_posted - a.debits_posted - a.debits_pending AS left_over
    FROM disputes d JOIN ${ACCOUNTS} a ON a.slot = d.slot AND a.id = d.payment_id
    WHERE d.held + d.charged_back > d.amount
      OR d.status <> 'won' AND d.held + d.charged_back < d.amount AND a.debits_posted + a.debits_pending < a.credits_posted`,

  'I8 every payment, invoice, customer and subscription has told what its state says': `
    SELECT coalesce(o.id, e.object_id) AS object, o.sequence, e.told
    FROM (SELECT id, sequence FROM payments UNION ALL SELECT id, event_sequence FROM invoices
      UNION ALL SELECT id, event_sequence FROM customers UNION ALL SELECT id, sequence FROM subscriptions) o
    FULL JOIN (SELECT object_id, max(sequence) AS told FROM events
      WHERE object_type IN ('PAYMENT', 'INVOICE', 'CUSTOMER', 'SUBSCRIPTION') AND endpoint_id IS NULL
      GROUP BY object_id) e ON e.object_id = o.id
    WHERE o.sequence IS DISTINCT FROM coalesce(e.told, 0)`,

  // A subscription's events tell the outcome of its charges. That of the first charge has no
  // payment id, but has the id of the paid invoice.
  'I8 what became of a payment and its refunds was told once': `${CHARGED}, tellings AS (
      SELECT object_id AS payment_id, type FROM events WHERE object_type = 'PAYMENT' AND endpoint_id IS NULL
      UNION ALL
      SELECT coalesce((e.data ->> 'paymentId')::uuid, p.id), e.type FROM events e
      LEFT JOIN payments p ON p.invoice_id = (e.data ->> 'invoiceId')::uuid AND p.status IN ${CAPTURED}
      WHERE e.object_type = 'SUBSCRIPTION' AND e.type LIKE 'payment.%' AND e.endpoint_id IS NULL
    ), told AS (
      SELECT payment_id, count(*) FILTER (WHERE type = 'payment.succeeded') AS succeeded,
        count(*) FILTER (WHERE type = 'payment.failed') AS failed, count(*) FILTER (WHERE type = 'payment.errored') AS errored,
        count(*) FILTER (WHERE type = 'payment.refunded') AS refunded,
        count(*) FILTER (WHERE type = 'payment.refund_failed') AS refunds_failed
      FROM tellings GROUP BY payment_id
    ), given_back AS (
      SELECT r.payment_id, count(*) FILTER (WHERE x.kind = 'post') AS refunded,
        count(*) FILTER (WHERE r.status = 'failed') AS refunds_failed
      FROM refunds r LEFT JOIN transfers x ON x.hold = r.id GROUP BY r.payment_id
    )
    SELECT p.id AS payment, p.status, t.succeeded, t.failed, t.errored, t.refunded, t.refunds_failed
    FROM charged p LEFT JOIN told t ON t.payment_id = p.id LEFT JOIN given_back g ON g.payment_id = p.id
    -- A charge that is settling: its subscription has not heard of it yet.
    WHERE NOT (p.settling AND p.subscription_id IS NOT NULL) AND (
        coalesce(t.succeeded, 0) <> (p.status IN ${CAPTURED})::int
        OR coalesce(t.failed, 0) <> (p.status IN ('failed', 'canceled'))::int
        OR coalesce(t.errored, 0) <> (p.status = 'errored')::int)
      OR coalesce(t.refunded, 0) <> coalesce(g.refunded, 0)
      OR coalesce(t.refunds_failed, 0) <> coalesce(g.refunds_failed, 0)`,

  'I8 what became of a dispute was told last': `
    SELECT d.id AS dispute, d.status, d.amount, e.data ->> 'status' AS told, e.data ->> 'amount' AS told_amount
    FROM disputes d LEFT JOIN LATERAL (SELECT e.data FROM events e
      WHERE e.object_id = d.payment_id AND e.mode = d.mode AND e.type = 'payment.disputed' AND e.endpoint_id IS NULL
        AND e.data ->> 'disputeId' = d.id::text ORDER BY e.sequence DESC LIMIT 1) e ON true
    WHERE e.data ->> 'status' IS DISTINCT FROM d.status OR replace(e.data ->> 'amount', '.', '')::numeric <> d.amount`,

  'a captured payment has one invoice, which says the same': `${CHARGED}
    SELECT coalesce(p.id, i.payment_id) AS payment, p.status, p.amount, i.number, i.total, i.amount_paid, i.amount_refunded, i.amount_charged_back
    FROM charged p FULL JOIN (SELECT * FROM invoices WHERE payment_id IS NOT NULL) i ON i.payment_id = p.id
    WHERE p.id IS NULL OR (i.id IS NOT NULL) <> (p.captured AND NOT p.settling) OR i.id <> p.invoice_id
      OR i.status <> 'paid' OR i.total <> p.taken OR i.amount_paid <> p.taken OR i.amount_refunded <> p.told_refunded
      OR i.amount_charged_back <> p.told_charged_back
      OR (i.organisation_id, i.mode, i.currency, i.customer_id, i.checkout_id) IS DISTINCT FROM
        (p.organisation_id, p.mode, p.currency, p.customer_id, p.checkout_id) AND i.id IS NOT NULL`,

  'a checkout is where its payments left it': `${CHARGED}
    SELECT k.id AS checkout, k.status, k.amount, p.id AS payment, p.status AS payment_status, p.amount AS charged
    FROM checkouts k LEFT JOIN charged p ON p.checkout_id = k.id
    WHERE CASE WHEN p.id IS NULL THEN k.attempts <> 0 OR k.payment_id IS NOT NULL
      WHEN p.id IS DISTINCT FROM k.payment_id THEN p.captured OR p.open
      ELSE (k.status = 'processing') <> (p.open OR p.settling) OR (k.status = 'paid') <> (p.captured AND NOT p.settling)
        OR (k.organisation_id, k.mode) <> (p.organisation_id, p.mode)
        OR k.status IN ('processing', 'paid') AND (k.amount, k.currency) <> (p.amount, p.currency) END
    UNION ALL
    SELECT k.id, k.status, k.amount, k.payment_id, NULL, count(p.id) FROM checkouts k LEFT JOIN payments p ON p.checkout_id = k.id
    GROUP BY k.id HAVING k.attempts <> count(p.id) OR count(*) FILTER (WHERE p.id = k.payment_id) <> num_nonnulls(k.payment_id)`,

  'a discount is redeemed by who pays with it': `
    SELECT d.id AS discount, d.redemptions, count(k.id) AS checkouts
    FROM discounts d LEFT JOIN checkouts k ON k.discount_id = d.id AND k.status IN ('processing', 'paid')
      AND k.redemption IN ('taken', 'confirmed')
    GROUP BY d.id HAVING d.redemptions <> count(k.id)`,

  'invoices are numbered without a gap': `
    SELECT organisation_id, mode, n.count, n.highest, c.last
    FROM (SELECT organisation_id, mode, count(DISTINCT split_part(number, '-', 3)::bigint) AS count,
        max(split_part(number, '-', 3)::bigint) AS highest, count(*) FILTER (WHERE number IS NULL AND status NOT IN ('draft', 'void')) AS unnumbered
      FROM invoices GROUP BY organisation_id, mode) n
    FULL JOIN invoice_counters c USING (organisation_id, mode)
    WHERE n.count IS DISTINCT FROM c.last OR n.highest IS DISTINCT FROM c.last OR n.unnumbered > 0`,

  'whatever is open is asked about again': `
    SELECT p.id AS payment, p.status, p.ask_at, r.ask_at AS refund_ask_at, d.ask_at AS dispute_ask_at, l.due_at
    FROM payments p
    LEFT JOIN (SELECT slot, payment_id, min(ask_at) AS ask_at, bool_or(status = 'opened' AND ask_at IS NULL) AS forgotten
      FROM disputes GROUP BY slot, payment_id) d ON d.slot = p.slot AND d.payment_id = p.id
    LEFT JOIN (SELECT slot, payment_id, min(ask_at) AS ask_at, bool_or(status = 'pending' AND ask_at IS NULL) AS forgotten
      FROM refunds GROUP BY slot, payment_id) r ON r.slot = p.slot AND r.payment_id = p.id
    LEFT JOIN alarms l ON l.kind = 'payment' AND l.slot = p.slot AND l.actor_id = p.id
    WHERE (p.status IN ${OPEN}) <> (p.ask_at IS NOT NULL) OR r.forgotten OR d.forgotten
      OR least(p.ask_at, r.ask_at, d.ask_at) IS DISTINCT FROM l.due_at`,

  'the sandbox has charged what payments say': `
    SELECT coalesce(p.id::text, c.key) AS payment, p.status, p.amount, c.status AS there, c.amount AS charged
    FROM (SELECT * FROM payments WHERE processor = 'sandbox') p
    FULL JOIN (SELECT *, CASE WHEN status = 'pending' THEN next_status ELSE status END AS ends FROM sandbox_charges) c
      ON c.key = p.id::text
    -- A verification of a saved card moves no money, and need not be a payment.
    WHERE p.id IS NULL AND c.amount > 0 OR (c.amount, c.currency) <> (p.amount, p.currency)
      OR p.status IN ${CAPTURED} AND p.amount > 0 AND c.ends IS DISTINCT FROM 'succeeded'
      OR p.status NOT IN ${CAPTURED} AND p.status NOT IN ${OPEN} AND c.ends NOT IN ('declined', 'canceled')`,

  'the sandbox has refunded what refunds say': `
    SELECT coalesce(r.id::text, s.key) AS refund, r.status, r.amount, s.status AS there, s.ends, s.amount AS refunded
    FROM (SELECT r.* FROM refunds r JOIN payments p ON p.slot = r.slot AND p.id = r.payment_id WHERE p.processor = 'sandbox') r
    FULL JOIN (SELECT *, coalesce(next_status, status) AS ends FROM sandbox_refunds) s ON s.key = r.id::text
    WHERE r.id IS NULL OR s.charge_key <> r.payment_id::text OR s.amount <> r.amount
      -- A refund that may still fail at the processor has an ask_at here.
      OR r.status = 'succeeded' AND (s.key IS NULL OR s.ends <> 'succeeded' AND (r.ask_at IS NULL OR s.status <> 'succeeded'))
      OR r.status = 'failed' AND s.ends IS DISTINCT FROM 'declined'`,

  // What Stripe itself says is compared by the reconciliation; these are what we know of it.
  'what Stripe has charged is what payments say': `
    SELECT coalesce(p.id::text, c.key) AS payment, p.status, p.processor, p.processor_reference, c.account, c.stripe_id, c.intent, c.state
    FROM (SELECT * FROM payments WHERE processor LIKE 'stripe:%') p FULL JOIN stripe_charges c ON c.key = p.id::text
    -- A verification of a saved method moves no money, and need not be a payment.
    WHERE p.id IS NULL AND c.kind <> 'setup' OR (c.account, coalesce(c.currency, p.currency)) <> (p.processor, p.currency)
      OR p.status IN ${CAPTURED} AND p.processor_reference IS NOT NULL
        AND (c.intent IS DISTINCT FROM p.processor_reference OR c.stripe_id IS NULL OR c.state <> 'open')
      OR p.status IN ${CAPTURED} AND p.processor_reference IS NULL AND p.amount > 0`,

  'what Stripe has refunded is what refunds say': `
    SELECT coalesce(r.id::text, s.key) AS refund, r.status, r.amount, s.stripe_id, s.declined, s.amount AS refunded
    FROM (SELECT r.* FROM refunds r JOIN payments p ON p.slot = r.slot AND p.id = r.payment_id WHERE p.processor LIKE 'stripe:%') r
    FULL JOIN stripe_refunds s ON s.key = r.id::text
    WHERE r.id IS NULL OR s.charge_key <> r.payment_id::text OR s.amount <> r.amount
      OR r.status = 'succeeded' AND s.stripe_id IS NULL OR r.status = 'failed' AND num_nonnulls(s.stripe_id, s.declined) <> 1
      OR r.status = 'succeeded' AND r.processor_reference IS DISTINCT FROM s.stripe_id`,

  'one object of Stripe is one charge or one refund': `
    SELECT id, count(*) AS uses FROM (
      SELECT account || ' ' || stripe_id AS id FROM stripe_charges WHERE stripe_id IS NOT NULL
      UNION ALL SELECT account || ' ' || intent FROM stripe_charges WHERE intent IS NOT NULL AND intent IS DISTINCT FROM stripe_id
      UNION ALL SELECT stripe_id FROM stripe_refunds WHERE stripe_id IS NOT NULL) u
    GROUP BY id HAVING count(*) > 1`,

  'the sandbox has disputed what disputes say': `
    SELECT coalesce(d.id::text, c.key) AS dispute, d.status, d.amount, c.dispute AS ends, c.amount AS disputed
    FROM (SELECT d.* FROM disputes d JOIN payments p ON p.slot = d.slot AND p.id = d.payment_id WHERE p.processor = 'sandbox') d
    FULL JOIN (SELECT c.* FROM sandbox_charges c JOIN payments p ON p.id::text = c.key
      WHERE c.dispute IS NOT NULL AND c.amount > 0 AND p.status IN ${CAPTURED}) c ON 'sandbox_dispute_' || c.key = d.reference
    WHERE d.id IS NULL OR c.key IS NULL OR c.key <> d.payment_id::text OR c.amount <> d.amount
      OR d.status NOT IN ('opened', c.dispute)`,
};
