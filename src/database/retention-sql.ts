/** What is deleted when it is old. `t` is a row of the table; rows since `$3` are kept. */
export type Sweep = {
  readonly table: string;
  /** Which window keeps it. */
  readonly window: 'keys' | 'events' | 'denials';
  /** Whether `t` is deleted. */
  readonly over: string;
  /**
   * Further parts of the same statement: what they write for the deleted rows, which are in `gone`.
   */
  readonly instead?: string;
};

const KEPT_IN_BOOKS = `, kept AS (INSERT INTO transfers_archive SELECT * FROM gone)`;

/**
 * A usage transfer has a value; a grant differs from money by its account. The holds of payments
 * stay in the table that has their constraint; those of reservations go with these.
 */
const MOVABLE = `t.at < $3 AND t.kind IN ('single', 'reverse', 'refused')
  AND (t.value IS NOT NULL OR EXISTS (SELECT FROM accounts a
    WHERE a.slot = t.slot AND a.id IN (t.debit, t.credit) AND a.meter_id IS NOT NULL))`;

/** In this order: an event goes after its deliveries. */
export const SWEEPS: readonly Sweep[] = [
  { table: 'transfers', window: 'keys', over: MOVABLE, instead: KEPT_IN_BOOKS },
  // With their transfers (`retention-reservations.ts`). One that is open has no such time.
  { table: 'reservations', window: 'keys', over: 't.resolved_at < $3' },
  {
    // Of periods in which no event can count any more. The account of the current period may still
    // have an end that the calendar gave it.
    table: 'members',
    window: 'keys',
    over: `EXISTS (SELECT FROM accounts a JOIN balances b ON b.slot = a.slot AND b.id = a.id
      WHERE a.slot = t.slot AND a.id = t.account_id AND b.period_end < $3 AND NOT EXISTS (SELECT FROM customer_meters c WHERE c.slot = a.slot AND c.customer_id = a.customer_id
        AND c.meter_id = a.meter_id AND c.period_start <= a.period_start))`,
    instead: `, counted AS (
      INSERT INTO closing_balances AS c (account_id, members) SELECT account_id, count(*) FROM gone GROUP BY account_id
      ON CONFLICT (account_id) DO UPDATE SET members = c.members + excluded.members)`,
  },
  // No event is so late.
  { table: 'stretch_marks', window: 'keys', over: 't.started_at < $3' },
  // Each process has read it within a second.
  { table: 'changes', window: 'keys', over: 't.written_at < $3' },
  { table: 'idempotency', window: 'keys', over: 't.created_at < $3' },
  {
    // No payment was made or tried with it.
    table: 'checkouts',
    window: 'events',
    over: `t.expires_at < $3 AND t.status IN ('active', 'expired', 'canceled') AND t.attempts = 0 AND t.payment_id IS NULL`,
  },
  { table: 'mails', window: 'events', over: 't.settled_at < $3' },
  { table: 'processor_hints', window: 'events', over: 't.settled_at < $3' },
  { table: 'portal_tokens', window: 'events', over: 't.expires_at < $3' },
  { table: 'sign_in_links', window: 'events', over: 't.expires_at < $3' },
  // Nobody has used it for longer than a session lasts.
  { table: 'sessions', window: 'events', over: 't.seen_at < $3 OR t.revoked_at < $3' },
  {
    table: 'invitations',
    window: 'events',
    over: 'least(t.accepted_at, t.revoked_at, t.expires_at) < $3',
  },
  {
    table: 'denials',
    window: 'denials',
    over: 't.recorded_at < $3',
    instead: `, asked AS (
      DELETE FROM denial_requests r USING gone g WHERE r.organisation_id = g.organisation_id AND r.mode = g.mode
        AND r.request_id = ANY (g.request_ids) AND r.denial_id = g.id)`,
  },
  { table: 'denial_counts', window: 'denials', over: 't.quarter < $3' },
  { table: 'method_attempts', window: 'keys', over: 't.created_at < $3' },
  {
    // A delivery that is still to be sent stays, however old it is.
    table: 'deliveries',
    window: 'events',
    over: `t.status <> 'pending' AND coalesce(t.settled_at, t.created_at) < $3
      AND NOT EXISTS (SELECT FROM events e WHERE e.id = t.event_id AND e.at >= $3)`,
    instead: `, tried AS (
      DELETE FROM delivery_attempts a USING gone WHERE a.delivery_id = gone.id
    ), owed AS (
      UPDATE event_fanouts f SET owed = f.owed - g.count
      FROM (SELECT event_id, count(*) AS count FROM gone GROUP BY event_id) g WHERE f.event_id = g.event_id)`,
  },
  {
    // Events of usage, and samples, once the relay has passed them. Events of money and people
    // stay, as do the rows that they are about.
    table: 'events',
    window: 'events',
    over: `t.at < $3 AND (t.object_type IN ('ENTITLEMENT', 'USAGE') OR t.endpoint_id IS NOT NULL)
      AND EXISTS (SELECT FROM event_fanouts f WHERE f.event_id = t.id)
      AND NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = t.id)`,
    instead: `, passed AS (
      DELETE FROM event_fanouts f USING gone WHERE f.event_id = gone.id
    ), closed AS (
      INSERT INTO event_closings AS c (object_id, customer_id, meter_id, dropped)
      SELECT object_id, account_id, (data ->> 'meterId')::uuid, count(*) FROM gone
      WHERE object_type = 'ENTITLEMENT' AND endpoint_id IS NULL GROUP BY 1, 2, 3
      ON CONFLICT (object_id) DO UPDATE SET dropped = c.dropped + excluded.dropped)`,
  },
];

/** Rows `t` that are over, in a range of pages. */
export const inBlocks = ({ table, over }: Sweep): string =>
  `${table} t WHERE t.ctid >= $1::text::tid AND t.ctid < $2::text::tid AND (${over})`;

export const removal = (sweep: Sweep): string => `
  WITH gone AS (DELETE FROM ${inBlocks(sweep)} RETURNING t.*)${sweep.instead ?? ''} SELECT count(*)::float8 AS count FROM gone`;

export const count = (sweep: Sweep): string =>
  `SELECT count(*)::float8 AS count FROM ${inBlocks(sweep)}`;

/** The months, in UTC, of the transfers that a removal would move. */
export const monthsOf = (sweep: Sweep): string => `
  SELECT DISTINCT date_trunc('month', t.at, 'UTC') AS month FROM ${inBlocks(sweep)}`;
