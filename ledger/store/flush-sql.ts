// The statement of a flush: one transaction in one round trip.
//
// Each column of transfers and changed balances is an array parameter; rows of each other table
// come in one array. Each part of a statement costs even where it has no rows, so there are three
// statements: the lean one has none of the other tables, the next one has corrections of usage, the
// full one has all. Names, types and values of columns are not written here. They come from the
// tables of columns (`columns.ts`), in whose order `encode.ts` sends them.
//
// Holds: every part is joined to the fence, so nothing is written where the node's epoch or seq is
// not what the node believes (I6). The counts at the end fail the statement where an account was
// not what its actor believed.
import { type ArrayColumns, type ArrayType, assignments, namesOf } from './columns.ts';
import { AUTO_TOPUP_COLUMNS } from './auto-topup-columns.ts';
import { FOLLOWUP_COLUMNS } from './followup-columns.ts';
import {
  ACCOUNT_COLUMNS,
  ALARM_COLUMNS,
  BALANCE_COLUMNS,
  EVENT_COLUMNS,
  GRANT_COLUMNS,
  MEMBER_COLUMNS,
  POOLED_COLUMNS,
  SIDE_COLUMNS,
  STATE_COLUMNS,
} from './meter-columns.ts';
import { DISPUTE_COLUMNS, PAYMENT_COLUMNS, REFUND_COLUMNS } from './payment-columns.ts';
import { MARK_COLUMNS } from './mark-columns.ts';
import { BILLING_ACCOUNT_COLUMNS, SPAN_COLUMNS } from './span-columns.ts';
import { RESERVATION_COLUMNS } from './reservation-columns.ts';
import { SUBSCRIPTION_COLUMNS } from './subscription-columns.ts';
import { CORRECTION_COLUMNS, DELTA_COLUMNS } from './usage-delta.ts';
import { BALANCE_CHANGES, SIDE_CHANGES, TRANSFER_COLUMNS } from './usage-columns.ts';

/** The fence's own parameters are written where they are used: $1 to $4. */
let parametersSoFar = 4;
const parameter = (): string => `$${++parametersSoFar}`;

/** Its values come as text. */
const isEnum = (type: ArrayType): boolean => type === 'reason' || type === 'transfer_kind';

const elementOf = (type: ArrayType): string => (type === 'time' ? 'bigint' : type);

/** What all rows share, as columns of the fence. */
function sharedValues(columns: ArrayColumns<never>): string[] {
  return Object.entries(columns)
    .filter(([, column]) => column.shared)
    .map(([name, { type }]) => {
      return `${read(`${parameter()}::${elementOf(type)}`, type)} AS ${name}`;
    });
}

const read = (value: string, type: ArrayType): string =>
  type === 'time' ? `to_timestamp(${value} / 1000.0::float8)` : value;

/**
 * The rows of the arrays, as `t`. In a select list, where each row is read as it is needed: as a
 * function in FROM, each array would be copied first.
 */
function arrayRows(columns: ArrayColumns<never>): string {
  const arrays = Object.entries(columns).map(
    ([name, { type }]) =>
      `unnest(${parameter()}${isEnum(type) ? '::text[]' : ''}::${elementOf(type)}[]) AS ${name}`,
  );
  return `(SELECT ${arrays.join(', ')}) AS t`;
}

const TRANSFER_VALUES = Object.entries(TRANSFER_COLUMNS)
  .map(([name, { type, shared, sql }]) => {
    const value = read(`t.${name}`, type);
    return sql ?? (shared ? `coalesce(${value}, fence.${name})` : value);
  })
  .join(', ');

const changesOf = (columns: ArrayColumns<never>): string =>
  Object.entries(columns)
    .filter(([, { sql }]) => sql !== undefined)
    .map(([name, { sql }]) => `${name} = ${sql}`)
    .join(', ');

/** The rows of one array, as `r`. `type` has the columns. */
const rowsOf = (type: string): string => `fence, unnest(${parameter()}::${type}[]) AS r`;

const FENCE = `
  WITH fence AS (
    UPDATE nodes SET seq = seq + 1, expires_at = now() + $4 * interval '1 millisecond'
    WHERE id = $1 AND epoch = $2 AND seq = $3 AND id > 0 AND epoch > 0 AND seq >= 0
    RETURNING id AS node, seq, ${[...sharedValues(TRANSFER_COLUMNS), ...sharedValues(BALANCE_CHANGES)].join(', ')}
  )`;

const TRANSFERS = `,
  moved AS (
    INSERT INTO transfers (${namesOf(TRANSFER_COLUMNS)}, node, unbinned)
    SELECT ${TRANSFER_VALUES}, fence.node, NULL
    FROM fence, ${arrayRows(TRANSFER_COLUMNS)}
  )`;

const CHANGED = `,
  changed AS (
    UPDATE balances b SET ${changesOf(BALANCE_CHANGES)}
    FROM fence, ${arrayRows(BALANCE_CHANGES)}
    WHERE b.slot = t.slot AND b.id = t.id
      AND b.debits_posted = t.expected_debits AND b.credits_posted = t.expected_credits
    RETURNING 1
  ),
  sides AS (
    UPDATE node_balances b SET ${changesOf(SIDE_CHANGES)}
    FROM fence, ${arrayRows(SIDE_CHANGES)}
    WHERE b.id = t.id
    RETURNING 1
  )`;

const DELTA_ARRAYS = Object.values(DELTA_COLUMNS).map(({ type }) => `${parameter()}::${type}[]`);

/** The arrays are stored as they come. */
const BINNED = `,
  binned AS (
    INSERT INTO usage_deltas (${namesOf(DELTA_COLUMNS)}, node, seq)
    SELECT ${DELTA_ARRAYS.join(', ')}, fence.node, fence.seq
    FROM fence WHERE cardinality(${DELTA_ARRAYS[0]}) > 0
  )`;

const CHANGED_COUNT = parameter();
const OPENED_COUNT = parameter();

const CORRECTED = `,
  corrected AS (
    INSERT INTO usage_corrections (${namesOf(CORRECTION_COLUMNS)}, node, seq)
    SELECT ${namesOf(CORRECTION_COLUMNS, 'r.')}, fence.node, fence.seq FROM ${rowsOf('flush_usage_corrections')}
  )`;

const { sequence: _sequence, data: _data, ...EVENT_HEAD } = EVENT_COLUMNS;

/** Its arrays come in this order (`encode.ts`). */
const RARE = `,
  -- An actor's account is opened once. Each process opens the other sides that it needs first.
  identified AS (
    INSERT INTO accounts (${namesOf(ACCOUNT_COLUMNS)})
    SELECT ${namesOf(ACCOUNT_COLUMNS, 'r.')} FROM ${rowsOf('flush_accounts')}
    ON CONFLICT (slot, id) DO NOTHING
  ),
  opened AS (
    INSERT INTO balances (${namesOf(BALANCE_COLUMNS)})
    SELECT ${namesOf(BALANCE_COLUMNS, 'r.')} FROM ${rowsOf('flush_balances')}
    ON CONFLICT (slot, id) DO NOTHING
    RETURNING 1
  ),
  opened_sides AS (
    INSERT INTO node_balances AS b (${namesOf(SIDE_COLUMNS)})
    SELECT ${namesOf(SIDE_COLUMNS, 'r.')} FROM ${rowsOf('flush_sides')}
    ON CONFLICT (id) DO UPDATE SET ${assignments(SIDE_COLUMNS, 'excluded', 'b')}
    RETURNING 1
  ),
  counted AS (
    INSERT INTO members (${namesOf(MEMBER_COLUMNS)})
    SELECT ${namesOf(MEMBER_COLUMNS, 'r.')} FROM ${rowsOf('flush_members')}
  ),
  pooled AS (
    INSERT INTO pooled_periods (${namesOf(POOLED_COLUMNS)})
    SELECT ${namesOf(POOLED_COLUMNS, 'r.')} FROM ${rowsOf('flush_pooled_periods')}
  ),
  granted AS (
    INSERT INTO grants AS g (${namesOf(GRANT_COLUMNS)})
    SELECT ${namesOf(GRANT_COLUMNS, 'r.')} FROM ${rowsOf('flush_resting_grants')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(GRANT_COLUMNS, 'excluded', 'g')}
  ),
  stated AS (
    INSERT INTO customer_meters AS c (${namesOf(STATE_COLUMNS)})
    SELECT ${namesOf(STATE_COLUMNS, 'r.')} FROM ${rowsOf('flush_settled_meters')}
    ON CONFLICT (slot, customer_id, meter_id) DO UPDATE SET ${assignments(STATE_COLUMNS, 'excluded', 'c')}
  ),
  armed AS (
    INSERT INTO alarms AS l (${namesOf(ALARM_COLUMNS)})
    SELECT ${namesOf(ALARM_COLUMNS, 'r.')} FROM ${rowsOf('flush_alarms')}
    ON CONFLICT (slot, actor_id, subject_id) DO UPDATE SET ${assignments(ALARM_COLUMNS, 'excluded', 'l')}
  ),
  disarmed AS (
    DELETE FROM alarms l USING ${rowsOf('flush_alarms')}
    WHERE l.slot = r.slot AND l.actor_id = r.actor_id AND l.subject_id = r.subject_id
  ),
  -- Usage is numbered here, as its key may have counted before. While the first transfer is kept,
  -- transfers_id_once must refuse the flush: the id of the event is never in its way. Once that is
  -- in the archive the key counts anew, and the event of before may still be there.
  told AS (
    INSERT INTO events (${namesOf(EVENT_HEAD)}, sequence, data)
    SELECT ${namesOf(EVENT_HEAD, 'r.')},
      CASE WHEN r.object_type = 'USAGE'
        THEN r.sequence + coalesce((SELECT max(e.sequence) FROM events e WHERE e.object_id = r.object_id AND e.mode = r.mode), 0)
        ELSE r.sequence END,
      CASE WHEN r.object_type = 'ENTITLEMENT' AND NOT r.data ? 'metadata'
        THEN r.data || jsonb_build_object('metadata', (SELECT c.metadata FROM customers c WHERE c.id = r.account_id))
        ELSE r.data END
    FROM ${rowsOf('flush_events')}
  ),
  paid AS (
    UPDATE payments p SET ${assignments(PAYMENT_COLUMNS, 'r', 'p')}
    FROM ${rowsOf('flush_payments')}
    WHERE p.slot = r.slot AND p.id = r.id
  ),
  refunded AS (
    INSERT INTO refunds AS f (${namesOf(REFUND_COLUMNS)})
    SELECT ${namesOf(REFUND_COLUMNS, 'r.')} FROM ${rowsOf('flush_refunds')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(REFUND_COLUMNS, 'excluded', 'f')}
  ),
  disputed AS (
    INSERT INTO disputes AS d (${namesOf(DISPUTE_COLUMNS)})
    SELECT ${namesOf(DISPUTE_COLUMNS, 'r.')} FROM ${rowsOf('flush_disputes')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(DISPUTE_COLUMNS, 'excluded', 'd')}
  ),
  subscribed AS (
    INSERT INTO subscriptions AS s (${namesOf(SUBSCRIPTION_COLUMNS)})
    SELECT ${namesOf(SUBSCRIPTION_COLUMNS, 'r.')} FROM ${rowsOf('flush_pausable')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(SUBSCRIPTION_COLUMNS, 'excluded', 's')}
  ),
  spanned AS (
    INSERT INTO usage_spans AS u (${namesOf(SPAN_COLUMNS)})
    SELECT ${namesOf(SPAN_COLUMNS, 'r.')} FROM ${rowsOf('flush_placed_spans')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(SPAN_COLUMNS, 'excluded', 'u')}
  ),
  marked AS (
    INSERT INTO stretch_marks AS k (${namesOf(MARK_COLUMNS)})
    SELECT ${namesOf(MARK_COLUMNS, 'r.')} FROM ${rowsOf('flush_stretch_marks')}
    ON CONFLICT (slot, customer_id, meter_id, started_at, place, account_id) DO UPDATE SET ${assignments(MARK_COLUMNS, 'excluded', 'k')}
  ),
  reserved AS (
    INSERT INTO reservations AS v (${namesOf(RESERVATION_COLUMNS)})
    SELECT ${namesOf(RESERVATION_COLUMNS, 'r.')} FROM ${rowsOf('flush_placed_holds')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(RESERVATION_COLUMNS, 'excluded', 'v')}
  ),
  accounted AS (
    INSERT INTO billing_accounts AS a (${namesOf(BILLING_ACCOUNT_COLUMNS)})
    SELECT ${namesOf(BILLING_ACCOUNT_COLUMNS, 'r.')} FROM ${rowsOf('flush_billing_accounts')}
    ON CONFLICT (slot, customer_id) DO UPDATE SET ${assignments(BILLING_ACCOUNT_COLUMNS, 'excluded', 'a')}
  ),
  topped_up AS (
    INSERT INTO auto_topups AS o (${namesOf(AUTO_TOPUP_COLUMNS)})
    SELECT ${namesOf(AUTO_TOPUP_COLUMNS, 'r.')} FROM ${rowsOf('flush_auto_topups')}
    ON CONFLICT (slot, customer_id, meter_id) DO UPDATE SET ${assignments(AUTO_TOPUP_COLUMNS, 'excluded', 'o')}
  ),
  owed AS (
    INSERT INTO followups (${namesOf(FOLLOWUP_COLUMNS)})
    SELECT ${namesOf(FOLLOWUP_COLUMNS, 'r.')} FROM ${rowsOf('flush_followups')}
  ),
  handed_over AS (
    UPDATE slots s SET node = n.id
    FROM ${rowsOf('flush_handovers')}
    JOIN nodes n ON n.id = r.node AND n.expires_at > now() AND NOT n.leaving AND NOT n.halted
    WHERE s.slot = r.slot AND s.node = fence.node
  )`;

const counts = (opened: string): string => `
  SELECT CASE
    WHEN NOT EXISTS (SELECT FROM fence) THEN 0
    WHEN (SELECT count(*) FROM changed) + (SELECT count(*) FROM sides) <> ${CHANGED_COUNT}::int THEN refuse_flush('I4: an account was not what its actor believed')
    WHEN ${opened} <> ${OPENED_COUNT}::int THEN refuse_flush('I5: an account was opened twice')
    ELSE 1 END = 1 AS moved`;

const LEAN = FENCE + TRANSFERS + CHANGED + BINNED;

/** The parameters of each are those of the one before, and more. */
export const FLUSHES = {
  lean: LEAN + counts('0'),
  corrected: LEAN + CORRECTED + counts('0'),
  full:
    LEAN +
    CORRECTED +
    RARE +
    counts('(SELECT count(*) FROM opened) + (SELECT count(*) FROM opened_sides)'),
} as const;
