// The audit of levels that go on: a period of a meter with `carry` begins with the level of the one before.
//
// Left out, because it cannot be derived: levels of events that retention has dropped. Periods that are
// over, have no event of their own and were not sold may have an older level (`ledger/metering/carry.ts`).
import { BOOKS } from '../../ledger/store/audit.ts';

/** Of a transfer `t`. */
export const EVENT_AT = 'coalesce(t.event_at, t.at)';
export const IS_EVENT = `t.value IS NOT NULL AND t.kind <> 'refused'`;

const NOTHING = 'ROW(NULL::timestamptz, NULL::uuid, 0::bigint)';

/** Accounts of meters that carry, with what is stored of the level and what follows from the events. */
const LEVELS = `
  accounts_of AS (
    SELECT a.id, a.slot, a.customer_id, a.meter_id, a.period_start, b.aggregate, b.latest_at, b.latest_id,
      c.account_id IS NOT NULL AS has_dropped
    FROM accounts a JOIN meters m ON m.id = a.meter_id AND m.carry JOIN balances b ON b.slot = a.slot AND b.id = a.id
    LEFT JOIN closing_balances c ON c.account_id = a.id WHERE a.kind = 'meter'
  ), events_of AS (
    SELECT t.debit AS id, max(ROW(${EVENT_AT}, t.id, t.value)) AS latest FROM ${BOOKS} t
    WHERE t.debit IN (SELECT id FROM accounts_of) AND ${IS_EVENT} GROUP BY t.debit
  ), levels AS (
    SELECT a.*, e.latest AS own, max(e.latest) OVER until_then AS latest, bool_or(a.has_dropped) OVER until_then AS is_dropped
    FROM accounts_of a LEFT JOIN events_of e ON e.id = a.id
    WINDOW until_then AS (PARTITION BY a.customer_id, a.meter_id ORDER BY a.period_start)
  )`;

/** Whether the event that set what is stored is still there. */
const isKnown = (row: string): string =>
  `EXISTS (SELECT FROM ${BOOKS} t WHERE t.id = ${row}.latest_id AND ROW(${EVENT_AT}, t.id, t.value) = ROW(${row}.latest_at, ${row}.latest_id, ${row}.aggregate))`;

/** The invariants of levels that go on: a name, and a query that returns no row at any moment. */
export const LEVEL_CHECKS: Readonly<Record<string, string>> = {
  'a period has the level of its latest event, or of the period before': `
    WITH ${LEVELS}
    SELECT l.id AS account, l.period_start, l.aggregate, l.latest_at, l.latest FROM levels l
    WHERE coalesce(l.latest, ${NOTHING}) IS DISTINCT FROM ROW(l.latest_at, l.latest_id, l.aggregate)
      AND NOT (l.is_dropped AND l.latest_id IS NOT NULL AND NOT ${isKnown('l')})
      AND NOT (l.own IS NULL AND (l.latest_id IS NULL AND l.aggregate = 0 OR ${isKnown('l')} AND ROW(l.latest_at, l.latest_id, l.aggregate) < l.latest)
        AND NOT EXISTS (SELECT FROM usage_spans s WHERE s.slot = l.slot AND s.account_id = l.id)
        AND NOT EXISTS (SELECT FROM customer_meters c WHERE c.slot = l.slot AND c.customer_id = l.customer_id AND c.meter_id = l.meter_id
          AND c.period_start <= l.period_start))
    UNION ALL
    SELECT NULL, c.period_start, NULL, NULL, NULL FROM customer_meters c JOIN meters m ON m.id = c.meter_id AND m.carry
    WHERE NOT EXISTS (SELECT FROM levels l WHERE l.slot = c.slot AND l.customer_id = c.customer_id AND l.meter_id = c.meter_id AND l.period_start = c.period_start)
      AND EXISTS (SELECT FROM levels l WHERE l.slot = c.slot AND l.customer_id = c.customer_id AND l.meter_id = c.meter_id
        AND l.period_start < c.period_start AND l.latest IS NOT NULL)`,

  'what a period begins with is no event': `
    SELECT t.id, t.debit FROM ${BOOKS} t JOIN accounts a ON a.id = t.debit JOIN meters m ON m.id = a.meter_id
    WHERE t.answer ? 'carried' AND (NOT m.carry OR t.value IS NOT NULL OR t.kind NOT IN ('single', 'reverse'))`,
};
