// The audit of sold usage (beyond.md 2): each line is derived again, from the events of its spans.
//
// How it works: the marks of a span are the fold of the events before them, its cost follows from
// the marks and its price, and the lines and adjustments that were billed for it come to that. Spans
// follow each other while usage is sold: each end has a reason, and what sells has a span that runs.
//
// Left out, because it cannot be derived: marks within a period whose older events are dropped
// (`closing_balances`), and whether such events came after the bill; marks with an event that may be
// on either side, because it was recorded in the same moment, or after an end and perhaps before
// that was decided. An event that was recorded before a mark with a time after it counts before it.
import { BOOKS } from '../../ledger/store/audit.ts';
import { EVENTS_OF } from '../../ledger/store/events-of.ts';
import { EVENT_AT, IS_EVENT } from './audit-levels.ts';
import { dueOf, everBackOf, FORGIVEN, forgivenOf, USAGE_BACK_CHECKS } from './audit-usage-back.ts';
import { SOLD_COSTS, SOLD_TIERS } from './audit-usage-cost.ts';

/**
 * Of an invoice `i`: whether it was for a change that was taken back, which is given back whole. What
 * it billed of usage is billed again.
 */
const FORGONE = `(i.id IN (SELECT (o ->> 'invoiceId')::uuid FROM subscriptions s CROSS JOIN LATERAL jsonb_array_elements(s.open) o WHERE o ? 'isForgone')
      OR i.id IN (SELECT (f.data ->> 'invoiceId')::uuid FROM followups f WHERE f.kind = 'give_back')
      OR i.forgone_at IS NOT NULL)`;

/**
 * `lines`: usage on invoices, those too that a followup will make. `billed`: what subscriptions
 * remember of them.
 */
const BILLED = `
  lines AS (
    SELECT i.subscription_id, i.id AS invoice_id, CASE WHEN ${FORGONE} THEN 'void' ELSE i.status END AS status, i.created_at AS decided_at, l ->> 'type' AS type,
      (l ->> 'usageId')::uuid AS usage_id, (l ->> 'amount')::numeric AS amount, i.updated_at
    FROM invoices i CROSS JOIN LATERAL jsonb_array_elements(i.lines) l WHERE l ? 'usageId'
    UNION ALL
    SELECT f.subscription_id, (f.data -> 'invoice' ->> 'id')::uuid, 'owed', f.at, l ->> 'type',
      (l ->> 'usageId')::uuid, (l -> 'amount' ->> '$')::numeric, f.at
    FROM followups f CROSS JOIN LATERAL jsonb_array_elements(f.data -> 'invoice' -> 'lines') l
    WHERE f.kind = 'bill' AND l ? 'usageId' AND NOT EXISTS (SELECT FROM invoices i WHERE i.id = (f.data -> 'invoice' ->> 'id')::uuid)
  ), remembered AS (
    SELECT s.id AS subscription_id, (u ->> 'id')::uuid AS usage_id, u -> 'parts' AS parts
    FROM subscriptions s CROSS JOIN LATERAL jsonb_array_elements(s.usage) u
  ), parts AS (
    SELECT r.subscription_id, r.usage_id, (p ->> 'invoiceId')::uuid AS invoice_id, (p -> 'quantity' ->> '$')::numeric AS units,
      (p -> 'amount' ->> '$')::numeric AS amount, coalesce((p ->> 'waived')::boolean, false) AS waived
    FROM remembered r CROSS JOIN LATERAL jsonb_array_elements(r.parts) p
  )`;

/** `lines`: of usage on invoices. `is_void`: they do not count, or are about to. */
const LINES = `
  lines AS (
    SELECT i.id AS invoice_id, i.created_at AS decided_at, l AS line, (l ->> 'usageId')::uuid AS usage_id,
      (l ->> 'quantity')::numeric AS quantity, (l -> 'period' ->> 'start')::timestamptz AS start, (l -> 'period' ->> 'end')::timestamptz AS until,
      i.status = 'void' OR ${FORGONE} OR i.id IN (SELECT (f.data ->> 'invoiceId')::uuid FROM followups f WHERE f.kind = 'void') AS is_void
    FROM invoices i CROSS JOIN LATERAL jsonb_array_elements(i.lines) l WHERE l ? 'usageId'
  )`;

/** The accounts whose events count in a span `s`: of a meter that carries those of earlier periods, too. */
const COUNTED = `(
  SELECT s.account_id AS id UNION ALL
  SELECT p.id FROM meters m JOIN accounts a ON a.slot = s.slot AND a.id = s.account_id
  JOIN accounts p ON p.slot = a.slot AND p.customer_id = a.customer_id AND p.meter_id = a.meter_id AND p.kind = 'meter' AND p.period_start < a.period_start
  WHERE m.id = s.meter_id AND m.carry)`;

/** When the last event that counts in spans of a line came, and whether some of them are dropped. */
const CAME = `
      SELECT s.billed_as, max(t.at) AS last_at, bool_or(d.account_id IS NOT NULL) AS is_dropped FROM usage_spans s
      LEFT JOIN closing_balances d ON d.account_id = s.account_id
      CROSS JOIN LATERAL ${COUNTED} k
      LEFT JOIN ${BOOKS} t ON t.debit = k.id AND ${IS_EVENT} AND ${EVENT_AT} < s.ended_at
      WHERE s.billed_as IS NOT NULL GROUP BY s.billed_as`;

/** Lines of a period in which more is sold: what is due of them changes until that is billed. */
const MORE = `
      SELECT DISTINCT s.billed_as FROM usage_spans s
      JOIN usage_spans n ON n.slot = s.slot AND n.account_id = s.account_id AND n.live AND n.billed_as IS NULL
      WHERE s.billed_as IS NOT NULL`;

/** The invariants of sold usage: a name, and a query that returns no row at any moment. */
export const USAGE_CHECKS: Readonly<Record<string, string>> = {
  ...USAGE_BACK_CHECKS,

  'a mark of sold usage is the fold of the events before it': `
    WITH marks AS (
      SELECT s.id, s.account_id, s.subscription_id, m.aggregation, m.carry, a.slot, a.customer_id, a.meter_id, a.period_start, m.scale, k.*, a.period_start < k.until
          -- In the millisecond in which the period begins, too.
          OR EXISTS (SELECT FROM usage_spans n WHERE n.account_id = s.account_id AND n.started_at = k.until AND n.ended_at = k.until) AS is_within,
        b.period_end <= k.until AS is_whole, b.aggregate AS whole, c.account_id IS NOT NULL AS is_dropped,
        k.mark = 'closing' AND k.until = u.ended_at AS is_end
      FROM usage_spans s JOIN meters m ON m.id = s.meter_id
      CROSS JOIN LATERAL (VALUES ('opening', s.started_at, s.opening_aggregate, s.opening_latest_at, s.opening_latest_id),
        ('closing', s.ended_at, s.closing_aggregate, s.closing_latest_at, s.closing_latest_id)) k (mark, until, aggregate, latest_at, latest_id)
      LEFT JOIN accounts a ON a.slot = s.slot AND a.id = s.account_id
      LEFT JOIN balances b ON b.slot = s.slot AND b.id = s.account_id
      LEFT JOIN closing_balances c ON c.account_id = s.account_id
      LEFT JOIN subscriptions u ON u.id = s.subscription_id
      WHERE k.until IS NOT NULL AND (s.live OR s.billed_as IS NOT NULL)
    ), sides AS (
      SELECT k.id, k.mark, t.id AS event, t.value, t.events, coalesce(t.amount, t.value) AS amount, ${EVENT_AT} AS event_at,
        ${EVENT_AT} < k.until OR k.is_within AND t.at < k.until AS is_before,
        ${EVENT_AT} >= k.until AND (k.is_within AND t.at = k.until OR k.is_end
          -- A period that an early event opened begins with nothing.
          OR k.carry AND k.mark = 'opening' AND NOT k.is_within AND t.at <= k.until) AS is_either
      FROM marks k JOIN ${BOOKS} t ON t.debit = k.account_id AND ${IS_EVENT}
    ), folded AS (
      SELECT id, mark, bool_or(is_either) AS is_either,
        sum(value) FILTER (WHERE is_before) AS total,
        sum(${EVENTS_OF}) FILTER (WHERE is_before) AS signed,
        max(value) FILTER (WHERE is_before) AS highest,
        -- Of a unique meter: what the consumption became when a member was new.
        sum(amount) FILTER (WHERE is_before) AS members,
        max(ROW(event_at, event, value)) FILTER (WHERE is_before) AS latest
      FROM sides GROUP BY id, mark
    ), earlier AS (
      SELECT k.id, k.mark, max(ROW(${EVENT_AT}, t.id, t.value)) FILTER (WHERE t.id IS NOT NULL) AS latest, bool_or(c.account_id IS NOT NULL) AS is_dropped
      FROM marks k JOIN accounts p ON p.slot = k.slot AND p.customer_id = k.customer_id AND p.meter_id = k.meter_id AND p.kind = 'meter' AND p.period_start < k.period_start
      LEFT JOIN ${BOOKS} t ON t.debit = p.id AND ${IS_EVENT} LEFT JOIN closing_balances c ON c.account_id = p.id
      WHERE k.carry GROUP BY k.id, k.mark
    )
    SELECT k.id AS span, k.mark, k.until, k.aggregate, d.aggregate AS derived, f.latest
    FROM marks k LEFT JOIN folded f ON f.id = k.id AND f.mark = k.mark LEFT JOIN earlier e ON e.id = k.id AND e.mark = k.mark CROSS JOIN LATERAL (
      SELECT CASE WHEN k.is_dropped THEN CASE WHEN k.is_whole THEN k.whole END
        ELSE CASE k.aggregation WHEN 'sum' THEN f.total WHEN 'count' THEN f.signed * 10 ^ k.scale
          WHEN 'max' THEN f.highest WHEN 'unique' THEN f.members ELSE k.aggregate END END AS aggregate
    ) d
    WHERE f.is_either IS NOT TRUE AND (k.aggregate <> coalesce(d.aggregate, CASE WHEN k.is_dropped THEN k.aggregate ELSE 0 END)
      OR k.aggregation = 'last' AND k.is_dropped IS NOT TRUE
        -- What retention has dropped may have set it.
        AND NOT (coalesce(e.is_dropped, false) AND NOT EXISTS (SELECT FROM ${BOOKS} t WHERE t.id = k.latest_id))
        AND coalesce(f.latest, e.latest, ROW(NULL::timestamptz, NULL::uuid, 0::bigint)) IS DISTINCT FROM ROW(k.latest_at, k.latest_id, k.aggregate))`,

  'usage is sold once': `
    SELECT id AS span, customer_id AS customer, meter_id AS meter, started_at, sold_until FROM (
      SELECT s.*, max(coalesce(ended_at, 'infinity')) OVER (PARTITION BY account_id ORDER BY started_at, place
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS sold_until
      FROM usage_spans s WHERE live OR billed_as IS NOT NULL
    ) s WHERE started_at < sold_until`,

  // A void invoice has what was waived, and what was moved to another one.
  'what was billed of usage is on its invoice': `
    WITH ${BILLED}
    SELECT coalesce(p.usage_id, l.usage_id) AS usage, coalesce(p.invoice_id, l.invoice_id) AS invoice, l.status, p.amount AS billed,
      l.amount AS on_invoice
    FROM parts p FULL JOIN lines l ON l.usage_id = p.usage_id AND l.invoice_id = p.invoice_id
    WHERE CASE WHEN l.usage_id IS NULL THEN true
      WHEN p.usage_id IS NULL THEN l.status <> 'void' AND EXISTS (SELECT FROM remembered r WHERE r.usage_id = l.usage_id)
        AND NOT EXISTS (SELECT FROM followups f WHERE f.kind = 'void' AND (f.data ->> 'invoiceId')::uuid = l.invoice_id)
      ELSE (p.amount, p.subscription_id) <> (l.amount, l.subscription_id) OR l.status = 'draft'
        OR p.waived AND l.status <> 'void' END
    UNION ALL
    SELECT usage_id, invoice_id, NULL, count(*), NULL FROM lines GROUP BY usage_id, invoice_id HAVING count(*) > 1`,

  'a line of usage says what its spans do': `
    WITH ${LINES}, of_spans AS (
      SELECT s.billed_as, min(s.started_at) AS start, max(s.ended_at) AS until, min(m.slug) AS feature,
        array_agg(s.started_at) AS starts, array_agg(s.ended_at) AS ends,
        max(m.scale) AS scale FROM usage_spans s JOIN meters m ON m.id = s.meter_id WHERE s.billed_as IS NOT NULL GROUP BY s.billed_as
    ), parts AS (
      SELECT (u ->> 'id')::uuid AS usage_id, (p ->> 'invoiceId')::uuid AS invoice_id, (p -> 'quantity' ->> '$')::numeric AS units
      FROM subscriptions s CROSS JOIN LATERAL jsonb_array_elements(s.usage) u CROSS JOIN LATERAL jsonb_array_elements(u -> 'parts') p
    )
    -- A line of what is new is of some of its spans; one of what has changed is of all that there were.
    SELECT l.usage_id AS usage, l.invoice_id AS invoice, l.line - 'tiers' AS line, s.start, s.until, s.feature, p.units
    FROM lines l JOIN of_spans s ON s.billed_as = l.usage_id
    LEFT JOIN parts p ON p.usage_id = l.usage_id AND p.invoice_id = l.invoice_id
    WHERE NOT l.is_void AND (NOT l.start = ANY (s.starts) OR NOT l.until = ANY (s.ends) OR l.line ->> 'featureKey' <> s.feature
      OR l.quantity * ('1e' || s.scale)::numeric <> p.units)
    UNION ALL
    SELECT usage_id, (array_agg(invoice_id))[1], NULL, NULL, NULL, NULL, sum(quantity) FROM (
      SELECT *, first_value(line) OVER (PARTITION BY usage_id ORDER BY decided_at DESC, invoice_id DESC) AS last FROM lines
      WHERE usage_id NOT IN (SELECT usage_id FROM parts)
    ) l GROUP BY usage_id, last
    HAVING NOT bool_or(is_void) AND sum(quantity) <> (SELECT coalesce(sum((t ->> 'quantity')::numeric), 0) FROM jsonb_array_elements(last -> 'tiers') t)`,

  'tiers of the last line of usage are those of its spans': `
    WITH ${LINES}, last AS (
      SELECT DISTINCT ON (usage_id) * FROM lines WHERE NOT is_void ORDER BY usage_id, decided_at DESC, invoice_id DESC
    ), of_spans AS (
      SELECT billed_as, jsonb_agg(jsonb_build_array(quantity, amount) ORDER BY place) AS tiers FROM (
        SELECT c.billed_as, t.place, trim_scale(sum(t.units) / ('1e' || max(c.scale))::numeric) AS quantity,
          trim_scale(sum(t.cost) * 1e-21) AS amount
        FROM ${SOLD_COSTS} c CROSS JOIN LATERAL ${SOLD_TIERS} t WHERE c.billed_as IS NOT NULL GROUP BY c.billed_as, t.place
      ) t GROUP BY billed_as
    ), came AS (${CAME}
    )
    SELECT l.usage_id AS usage, l.invoice_id AS invoice, d.tiers AS on_invoice, s.tiers FROM last l
    CROSS JOIN LATERAL (
      SELECT coalesce(jsonb_agg(jsonb_build_array(trim_scale((t ->> 'quantity')::numeric), trim_scale((t ->> 'amount')::numeric))
        ORDER BY place), '[]') AS tiers
      FROM jsonb_array_elements(l.line -> 'tiers') WITH ORDINALITY tiers (t, place)
    ) d
    LEFT JOIN of_spans s ON s.billed_as = l.usage_id LEFT JOIN came c ON c.billed_as = l.usage_id
    LEFT JOIN (${MORE}) o ON o.billed_as = l.usage_id
    WHERE d.tiers <> coalesce(s.tiers, '[]') AND EXISTS (SELECT FROM usage_spans s WHERE s.billed_as = l.usage_id)
      AND (c.last_at >= l.decided_at OR c.is_dropped OR o.billed_as IS NOT NULL) IS NOT TRUE`,

  // What differs is from events that came later: the next invoice has an adjustment, if there is one.
  // After an invoice was made void, too: what it gave back is given back again, and what another one
  // gave back may be more than is left.
  'usage was billed for what it costs': `
    WITH ${BILLED}, ${FORGIVEN}, billed AS (
      -- Without a part: its invoice was made void, and the next one bills it again, if there is one.
      SELECT r.usage_id, r.subscription_id, max(l.decided_at) AS decided_at, bool_or(least(p.amount, p.units) < 0) AS gives_back,
        CASE WHEN count(p.usage_id) > 0 THEN coalesce(sum(p.amount) FILTER (WHERE NOT p.waived), 0) WHEN s.status = 'canceled' THEN 0 END AS amount,
        CASE WHEN count(p.usage_id) > 0 THEN coalesce(sum(p.units) FILTER (WHERE NOT p.waived), 0) END AS units,
        coalesce(sum(p.amount) FILTER (WHERE p.waived), 0) AS waived, coalesce(sum(p.units) FILTER (WHERE p.waived), 0) AS waived_units,
        ${forgivenOf('r.usage_id')} AS back, 0 AS ever_back
      FROM remembered r JOIN subscriptions s ON s.id = r.subscription_id LEFT JOIN parts p ON p.usage_id = r.usage_id
      LEFT JOIN lines l ON l.usage_id = p.usage_id AND l.invoice_id = p.invoice_id GROUP BY r.usage_id, r.subscription_id, s.status
      UNION ALL
      SELECT l.usage_id, l.subscription_id, max(l.decided_at), false, CASE WHEN bool_and(l.status <> 'void') THEN sum(l.amount) END, NULL, 0, 0, 0, ${everBackOf('l.usage_id')}
      FROM lines l WHERE NOT EXISTS (SELECT FROM remembered r WHERE r.usage_id = l.usage_id) GROUP BY l.usage_id, l.subscription_id
    ), voided AS (
      SELECT l.usage_id, max(l.updated_at) AS at, max(l.updated_at) FILTER (WHERE p.usage_id IS NULL) AS forgotten_at
      FROM lines l LEFT JOIN parts p ON p.usage_id = l.usage_id AND p.invoice_id = l.invoice_id WHERE l.status = 'void' GROUP BY l.usage_id
    ), sold AS (
      SELECT billed_as, subscription_id, sum(units) AS units, least(div(2 * sum(cost) + coin, 2 * coin), most) AS amount
      FROM ${SOLD_COSTS} c WHERE billed_as IS NOT NULL GROUP BY billed_as, subscription_id, coin, most
    ), more AS (${MORE}
    ), came AS (${CAME}
    )
    SELECT coalesce(b.usage_id, s.billed_as) AS usage, coalesce(b.subscription_id, s.subscription_id) AS subscription,
      b.amount AS billed, b.waived, s.amount AS costs, b.units AS billed_units, s.units
    FROM billed b FULL JOIN sold s ON s.billed_as = b.usage_id AND s.subscription_id = b.subscription_id
    LEFT JOIN came c ON c.billed_as = s.billed_as LEFT JOIN voided v ON v.usage_id = b.usage_id
    LEFT JOIN more o ON o.billed_as = s.billed_as
    CROSS JOIN LATERAL (SELECT ${dueOf('greatest(0, s.amount - b.waived)', 'b.usage_id')} AS due) d
    -- Of a change that was not paid only the void invoice is left.
    WHERE b.usage_id IS NULL OR (s.billed_as IS NULL AND b.amount IS NOT NULL)
      -- What went back counts where less was used later. Of what is not remembered, as far as it ever went.
      OR ((b.amount - b.back BETWEEN d.due AND d.due + b.ever_back) IS FALSE OR b.units <> greatest(0, s.units - b.waived_units))
        AND (c.last_at >= b.decided_at OR c.is_dropped OR o.billed_as IS NOT NULL
          OR CASE WHEN b.gives_back THEN v.at ELSE v.forgotten_at END >= b.decided_at) IS NOT TRUE`,

  'a span of usage is billed when it is over': `
    SELECT s.id AS span, s.subscription_id AS subscription, s.ended_at, s.units, u.status FROM ${SOLD_COSTS} s
    LEFT JOIN subscriptions u ON u.id = s.subscription_id
    WHERE s.billed_as IS NULL AND CASE u.status WHEN 'canceled' THEN s.cost > 0 AND (s.started_at < u.ended_at OR s.ended_at = u.ended_at)
      -- While it is paused, blocked or waits, usage goes on the next invoice.
      WHEN 'active' THEN s.ended_at <= u.period_start AND u.overdue <> 'blocked' AND jsonb_typeof(u.waiting) IS DISTINCT FROM 'object'
        AND NOT EXISTS (SELECT FROM events e WHERE e.object_id = u.id AND e.type = 'subscription.updated'
          AND e.data -> 'changes' ? 'status' AND e.at >= s.ended_at)
      ELSE u.id IS NULL END`,

  // A span may be told apart from what ends it only by time: the end of its period (or later, where
  // that was decided late), of its subscription, of an allowance, or the start of what follows it.
  'a span of usage ends for a reason': `
    SELECT s.id AS span, s.subscription_id AS subscription, s.ended_at, b.period_end FROM usage_spans s
    JOIN balances b ON b.slot = s.slot AND b.id = s.account_id
    WHERE s.ended_at IS NOT NULL AND (s.live OR s.billed_as IS NOT NULL) AND (b.period_end <= s.ended_at) IS NOT TRUE
      AND NOT EXISTS (SELECT FROM subscriptions u WHERE u.id = s.subscription_id AND u.ended_at = s.ended_at)
      AND NOT EXISTS (SELECT FROM usage_spans n WHERE n.slot = s.slot AND n.customer_id = s.customer_id AND n.meter_id = s.meter_id
        AND n.started_at = s.ended_at)
      AND NOT EXISTS (SELECT FROM grants g WHERE g.slot = s.slot AND g.customer_id = s.customer_id AND g.meter_id = s.meter_id
        AND g.ended_at = s.ended_at)`,

  'what sells usage has a span that runs': `
    WITH billers AS (
      SELECT DISTINCT ON (slot, customer_id, meter_id) slot, customer_id, meter_id, subscription_id, usage_price_id FROM grants
      WHERE ended_at IS NULL AND started AND charges AND usage_price_id IS NOT NULL AND reset_interval IS NOT NULL
      ORDER BY slot, customer_id, meter_id, priority, created_at, id
    ), running AS (
      SELECT * FROM usage_spans WHERE live AND ended_at IS NULL
    )
    SELECT coalesce(g.customer_id, s.customer_id) AS customer, coalesce(g.meter_id, s.meter_id) AS meter, g.subscription_id AS subscription,
      g.usage_price_id AS price, s.id AS span
    FROM billers g FULL JOIN running s USING (slot, customer_id, meter_id, subscription_id, usage_price_id)
    WHERE s.id IS NULL OR g.customer_id IS NULL`,

  'a subscription knows the usage that it billed': `
    SELECT s.subscription_id AS subscription, s.billed_as AS usage, count(*) AS spans FROM usage_spans s
    JOIN subscriptions u ON u.id = s.subscription_id AND u.status <> 'canceled'
    WHERE s.live AND s.billed_as IS NOT NULL AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(u.usage) known WHERE (known ->> 'id')::uuid = s.billed_as)
    GROUP BY s.subscription_id, s.billed_as`,

  // A clock may be behind the one by which the time was read.
  'an event of sold usage is at most a little early': `
    SELECT t.id AS event, t.debit AS account, t.at, t.event_at FROM ${BOOKS} t
    WHERE t.sold AND t.event_at > t.at + interval '1 hour'`,

  // Left out: the first span of a subscription, which may begin before it is decided, until the
  // period has an event that is marked.
  'an event that is sold is marked': `
    WITH marked AS (SELECT debit, min(at) AS since FROM ${BOOKS} t WHERE sold GROUP BY debit)
    SELECT s.id AS span, t.id AS event, t.at, t.event_at FROM usage_spans s
    JOIN ${BOOKS} t ON t.debit = s.account_id AND ${IS_EVENT} AND t.sold IS NOT TRUE
      AND ${EVENT_AT} >= s.started_at AND ${EVENT_AT} < s.ended_at AND t.at >= s.started_at
    LEFT JOIN marked k ON k.debit = s.account_id
    WHERE (s.live OR s.billed_as IS NOT NULL) AND (k.since < t.at - interval '1 hour'
      OR EXISTS (SELECT FROM usage_spans p WHERE p.subscription_id = s.subscription_id AND p.meter_id = s.meter_id
        AND p.ended_at = s.started_at AND (p.live OR p.billed_as IS NOT NULL)))`,
};
