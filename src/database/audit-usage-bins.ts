// The audit of usage over time (beyond.md 8): each event counts once in a bin of its own time, or in
// a delta that waits for its bin.
//
// How it works: bins have events less corrections, and corrections. The number of events that follows
// is compared with how many there are.
// Left out, while the backfill of an earlier release's usage runs: what it has not read yet is in no
// bin; and the number of events, while that of its corrections runs.
import { BOOKS } from '../../ledger/store/audit.ts';
import { EVENTS_OF } from '../../ledger/store/events-of.ts';

const IS_WHOLE = 'NOT EXISTS (SELECT FROM usage_backfills)';
const IS_COUNTED = 'NOT EXISTS (SELECT FROM correction_backfills)';

const BINNED = `(
  SELECT account_id AS id, slot, quarter, value, events, events + 2 * corrections AS number FROM usage_bins
  UNION ALL SELECT e.*, e.events FROM usage_deltas d, unnest(d.accounts, d.slots, d.quarters, d.sums, d.events) e (id, slot, quarter, value, events)
  UNION ALL SELECT account_id, slot, quarter, 0, 0, 2 * corrections FROM usage_corrections)`;

/** What each account used in each quarter, by the events that still exist. */
const USED = `(
  SELECT debit AS id, slot, date_bin('15 minutes', coalesce(event_at, at), 'epoch') AS quarter, value, ${EVENTS_OF} AS events,
    abs(${EVENTS_OF}) AS number
  FROM ${BOOKS} t WHERE value IS NOT NULL AND kind <> 'refused')`;

const SUMS = 'sum(value) AS value, sum(events) AS events, sum(number) AS number';

/** Accounts of which events are dropped: the quarters of those are known to the bins alone. */
const DROPPED =
  'SELECT account_id FROM closing_balances WHERE (events_total, events_signed, corrections) <> (0, 0, 0)';

/** The invariants of usage over time: a name, and a query that returns no row at any moment. */
export const USAGE_BIN_CHECKS: Readonly<Record<string, string>> = {
  'bins are the fold of the events': `
    WITH folded AS (
      SELECT id, slot, quarter, ${SUMS} FROM ${USED} t GROUP BY id, slot, quarter
    ), binned AS (
      SELECT id, slot, quarter, ${SUMS} FROM ${BINNED} b GROUP BY id, slot, quarter
    )
    SELECT coalesce(f.id, b.id) AS account, coalesce(f.quarter, b.quarter) AS quarter, f.value AS used, b.value AS binned,
      f.events, b.events AS binned_events, f.number, b.number AS binned_number
    FROM folded f FULL JOIN binned b ON b.id = f.id AND b.slot = f.slot AND b.quarter = f.quarter
    WHERE ((coalesce(f.value, 0), coalesce(f.events, 0)) <> (coalesce(b.value, 0), coalesce(b.events, 0))
        OR coalesce(f.number, 0) <> coalesce(b.number, 0) AND ${IS_COUNTED})
      AND coalesce(f.id, b.id) NOT IN (${DROPPED}) AND ${IS_WHOLE}`,

  'bins keep what is dropped of the events': `
    WITH folded AS (
      SELECT id, ${SUMS} FROM (
        SELECT id, value, events, number FROM ${USED} t
        UNION ALL SELECT account_id, events_total - unbinned_total, events_signed - unbinned_signed,
          events_signed - unbinned_signed + 2 * corrections FROM closing_balances
      ) t GROUP BY id
    ), binned AS (
      SELECT id, ${SUMS} FROM ${BINNED} b GROUP BY id
    )
    SELECT f.id AS account, f.value AS used, b.value AS binned, f.events, b.events AS binned_events, f.number, b.number AS binned_number
    FROM folded f LEFT JOIN binned b ON b.id = f.id
    WHERE ((f.value, f.events) <> (coalesce(b.value, 0), coalesce(b.events, 0))
        OR f.number <> coalesce(b.number, 0) AND ${IS_COUNTED})
      AND f.id IN (${DROPPED}) AND ${IS_WHOLE}`,

  'totals of a meter are the sum of its bins': `
    WITH summed AS (
      SELECT a.meter_id, b.quarter, sum(b.value) AS value, sum(b.events) AS events, sum(b.corrections) AS corrections
      FROM usage_bins b LEFT JOIN accounts a ON a.slot = b.slot AND a.id = b.account_id GROUP BY 1, 2
    )
    SELECT coalesce(s.meter_id, t.meter_id) AS meter, coalesce(s.quarter, t.quarter) AS quarter, s.value AS bins, t.value AS total,
      s.events, t.events AS total_events, s.corrections, t.corrections AS total_corrections
    FROM summed s FULL JOIN usage_totals t ON t.meter_id = s.meter_id AND t.quarter = s.quarter
    WHERE (s.value, s.events, s.corrections) IS DISTINCT FROM (t.value, t.events, t.corrections)`,
};
