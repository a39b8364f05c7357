// Billed usage whose money went back, reckoned again from the accounts of the payments: the same part of
// each line of the invoice, to the cent. It shares nothing with the code that tells subscriptions.

const coins = (field: string): string => `(${field} ->> '$')::numeric`;

/**
 * `given`: what went back of each line of usage, of invoices of which something did. `all_lines`: those of
 * usage with what was billed; `time`: what the others cost, after the discount.
 */
const GIVEN = `
  back AS (
    SELECT i.id AS invoice_id, p.id AS payment_id, (b.debits_posted + b.debits_pending)::numeric AS amount, i.lines,
      coalesce((SELECT sum((l ->> 'amount')::numeric) FROM jsonb_array_elements(i.lines) l
        WHERE l ->> 'type' IN ('recurring', 'proration')), 0) - i.discount_total AS time
    FROM invoices i JOIN payments p ON p.id = i.payment_id JOIN balances b ON b.slot = p.slot AND b.id = p.id
    WHERE i.subscription_id IS NOT NULL AND b.debits_posted + b.debits_pending > 0
  ), all_lines AS (
    SELECT b.invoice_id, b.amount, b.time, place, (l ->> 'usageId')::uuid AS usage_id, (l ->> 'amount')::numeric AS billed,
      sum((l ->> 'amount')::numeric) OVER (PARTITION BY b.invoice_id) AS usage,
      sum(greatest(0, (l ->> 'amount')::numeric)) OVER (PARTITION BY b.invoice_id) AS positive
    FROM back b CROSS JOIN LATERAL jsonb_array_elements(b.lines) WITH ORDINALITY lines (l, place) WHERE l ? 'usageId'
  ), of_usage AS (
    SELECT l.*, l.amount - CASE WHEN time <= 0 THEN 0 WHEN usage <= 0 THEN l.amount
      ELSE div(2 * l.amount * time + time + usage, 2 * (time + usage)) END AS part
    FROM all_lines l WHERE billed > 0
  ), cut AS (
    SELECT *, div(part * billed, positive) AS whole,
      row_number() OVER (PARTITION BY invoice_id ORDER BY mod(part * billed, positive) DESC, place) AS nearest,
      part - sum(div(part * billed, positive)) OVER (PARTITION BY invoice_id) AS left_over
    FROM of_usage
  ), given AS (
    SELECT invoice_id, usage_id, whole + (nearest <= left_over)::int AS amount FROM cut
  )`;

/** Of lines `u` that are remembered: what is not to be paid of them. */
export const FORGIVEN = `
  forgiven AS (
    SELECT s.id AS subscription_id, (u ->> 'id')::uuid AS usage_id, (f ->> 'invoiceId')::uuid AS invoice_id,
      ${coins("f -> 'from'")} AS start, ${coins("f -> 'to'")} AS until
    FROM subscriptions s CROSS JOIN LATERAL jsonb_array_elements(s.usage) u CROSS JOIN LATERAL jsonb_array_elements(u -> 'forgiven') f
  )`;

/** What is to be paid of the price of a line that is remembered. */
export const dueOf = (price: string, usageId: string): string => `(${price} - coalesce((
      SELECT sum(greatest(0, least(f.until, ${price}) - f.start)) FROM forgiven f WHERE f.usage_id = ${usageId}), 0))`;

/** Of a line that is remembered: how much of its price is not to be paid. */
export const forgivenOf = (usageId: string): string =>
  `coalesce((SELECT sum(f.until - f.start) FROM forgiven f WHERE f.usage_id = ${usageId}), 0)`;

/** The most that has ever gone back of the invoices with a line, or was on its way. */
export const everBackOf = (usageId: string): string => `coalesce((
      SELECT sum(w.amount) FROM (SELECT DISTINCT l.invoice_id FROM lines l WHERE l.usage_id = ${usageId}) l
      JOIN invoices i ON i.id = l.invoice_id CROSS JOIN LATERAL (
        SELECT r.amount FROM refunds r WHERE r.payment_id = i.payment_id
        UNION ALL SELECT d.amount FROM disputes d WHERE d.payment_id = i.payment_id) w), 0)`;

export const USAGE_BACK_CHECKS: Readonly<Record<string, string>> = {
  'a subscription knows what went back of its usage': `
    WITH ${GIVEN}, known AS (
      SELECT s.id AS subscription_id, (u ->> 'id')::uuid AS usage_id, (p ->> 'invoiceId')::uuid AS invoice_id, ${coins("p -> 'amount'")} AS billed,
        coalesce(${coins("p -> 'back'")}, 0) AS amount
      FROM subscriptions s CROSS JOIN LATERAL jsonb_array_elements(s.usage) u CROSS JOIN LATERAL jsonb_array_elements(u -> 'parts') p
      WHERE s.live
    )
    SELECT k.subscription_id AS subscription, k.usage_id AS usage, k.invoice_id AS invoice, k.billed, k.amount AS known, g.amount AS went_back
    FROM known k LEFT JOIN given g ON g.usage_id = k.usage_id AND g.invoice_id = k.invoice_id
    WHERE k.amount <> coalesce(g.amount, 0) AND NOT EXISTS (
      SELECT FROM followups f JOIN payments p ON p.id = f.payment_id
      WHERE p.invoice_id = k.invoice_id AND f.kind IN ('payment_settled', 'usage_given_back'))`,

  'no more of usage is forgiven than went back, and nothing twice': `
    WITH ${FORGIVEN}, parts AS (
      SELECT (u ->> 'id')::uuid AS usage_id, (p ->> 'invoiceId')::uuid AS invoice_id, coalesce(${coins("p -> 'back'")}, 0) AS back
      FROM subscriptions s CROSS JOIN LATERAL jsonb_array_elements(s.usage) u CROSS JOIN LATERAL jsonb_array_elements(u -> 'parts') p
    )
    SELECT f.subscription_id AS subscription, f.usage_id AS usage, f.invoice_id AS invoice, sum(f.until - f.start) AS forgiven, max(p.back) AS went_back
    FROM forgiven f LEFT JOIN parts p ON p.usage_id = f.usage_id AND p.invoice_id = f.invoice_id
    GROUP BY f.subscription_id, f.usage_id, f.invoice_id
    HAVING sum(f.until - f.start) > coalesce(max(p.back), 0) OR min(f.until - f.start) <= 0 OR min(f.start) < 0
    UNION ALL
    SELECT a.subscription_id, a.usage_id, a.invoice_id, a.until - a.start, NULL FROM forgiven a
    JOIN forgiven b ON b.usage_id = a.usage_id AND b.start < a.until AND b.until > a.start AND (b.start, b.invoice_id) <> (a.start, a.invoice_id)`,
};
