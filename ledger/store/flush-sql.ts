// The statement of a flush: one transaction in one round trip.
//
// Each column of transfers and touched accounts is an array parameter; rows of all other tables
// come in one JSON document. Each part of a statement costs even where it has no rows, so there are
// two statements: the lean one has none of the other tables. Names, types and values of columns are
// not written here. They come from the tables of columns (`columns.ts`), in whose order `encode.ts`
// sends them.
//
// Holds: every part is joined to the fence, so nothing is written where the node's epoch or seq is
// not what the node believes (I6). The counts at the end fail the statement where an account was
// not what its actor believed.
import { type ArrayColumn, type ArrayColumns, assignments, namesOf } from './columns.ts';
import { FOLLOWUP_COLUMNS } from './followup-columns.ts';
import {
  ACCOUNT_COLUMNS,
  ALARM_COLUMNS,
  EVENT_COLUMNS,
  GRANT_COLUMNS,
  MEMBER_COLUMNS,
  STATE_COLUMNS,
} from './meter-columns.ts';
import { PAYMENT_COLUMNS, REFUND_COLUMNS } from './payment-columns.ts';
import { SUBSCRIPTION_COLUMNS } from './subscription-columns.ts';
import { TOUCHED_COLUMNS, TRANSFER_COLUMNS } from './usage-columns.ts';

/** The fence's own parameters are written where they are used: $1 to $4. */
let parametersSoFar = 4;
const parameter = (): string => `$${++parametersSoFar}`;

const elementOf = (type: ArrayColumn<never>['type']): string => (type === 'time' ? 'bigint' : type);

/** What all rows share, as columns of the fence. */
function sharedValues(columns: ArrayColumns<never>): string[] {
  return Object.entries(columns)
    .filter(([, column]) => column.shared)
    .map(([name, { type }]) => {
      const value = `${parameter()}::${elementOf(type)}`;
      return `${type === 'time' ? `to_timestamp(${value} / 1000.0::float8)` : value} AS ${name}`;
    });
}

/** The rows of the arrays, as `t`. */
function arrayRows(columns: ArrayColumns<never>): string {
  const arrays = Object.values(columns).map(
    ({ type }) => `${parameter()}::text::${elementOf(type)}[]`,
  );
  return `unnest(${arrays.join(', ')}) AS t (${namesOf(columns)})`;
}

const TRANSFER_VALUES = Object.entries(TRANSFER_COLUMNS)
  .map(
    ([name, { shared, sql }]) =>
      sql ?? (shared ? `coalesce(t.${name}, fence.${name})` : `t.${name}`),
  )
  .join(', ');

const ACCOUNT_CHANGES = Object.entries(TOUCHED_COLUMNS)
  .filter(([, { sql }]) => sql !== undefined)
  .map(([name, { sql }]) => `${name} = ${sql}`)
  .join(', ');

/** Rows of one part of the document. `r` has the columns of `table`. */
const rowsOf = (part: string, table = part): string =>
  `fence, rare, jsonb_populate_recordset(NULL::${table}, rare.parts -> '${part}') AS r`;

const FENCE = `
  WITH fence AS (
    UPDATE nodes SET seq = seq + 1, expires_at = now() + $4 * interval '1 millisecond'
    WHERE id = $1 AND epoch = $2 AND seq = $3
    RETURNING id AS node, ${[...sharedValues(TRANSFER_COLUMNS), ...sharedValues(TOUCHED_COLUMNS)].join(', ')}
  )`;

const TRANSFERS = `,
  moved AS (
    INSERT INTO transfers (${namesOf(TRANSFER_COLUMNS)}, node)
    SELECT ${TRANSFER_VALUES}, fence.node
    FROM fence, ${arrayRows(TRANSFER_COLUMNS)},
      LATERAL (SELECT coalesce(to_timestamp(t.at / 1000.0::float8), fence.at) AS at, coalesce(t.value, fence.value) AS value) AS m
  )`;

const TOUCHED = `,
  touched AS (
    UPDATE accounts a SET ${ACCOUNT_CHANGES}
    FROM fence, ${arrayRows(TOUCHED_COLUMNS)}
    WHERE a.slot = t.slot AND a.id = t.id
      AND (t.expected_debits IS NULL
        OR (a.debits_posted = t.expected_debits AND a.credits_posted = t.expected_credits))
    RETURNING 1
  )`;

const TOUCHED_COUNT = parameter();
const OPENED_COUNT = parameter();

const { data: _data, ...EVENT_HEAD } = EVENT_COLUMNS;

/**
 * The document is parsed once. Once for each part was two thirds of the cost of a flush of refunds.
 */
const RARE = `,
  rare AS MATERIALIZED (SELECT ${parameter()}::text::jsonb AS parts),
  opened AS (
    INSERT INTO accounts AS a (${namesOf(ACCOUNT_COLUMNS)})
    SELECT ${namesOf(ACCOUNT_COLUMNS, 'r.')} FROM ${rowsOf('opened', 'accounts')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(ACCOUNT_COLUMNS, 'excluded', 'a')}
    -- An actor's account is opened once. Each process opens the other sides that it needs first.
    WHERE a.kind NOT IN ('meter', 'payment')
    RETURNING 1
  ),
  counted AS (
    INSERT INTO members (${namesOf(MEMBER_COLUMNS)})
    SELECT ${namesOf(MEMBER_COLUMNS, 'r.')} FROM ${rowsOf('members')}
  ),
  granted AS (
    INSERT INTO grants AS g
    SELECT r.* FROM ${rowsOf('grants')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(GRANT_COLUMNS, 'excluded', 'g')}
  ),
  stated AS (
    INSERT INTO customer_meters AS c
    SELECT r.* FROM ${rowsOf('states', 'customer_meters')}
    ON CONFLICT (slot, customer_id, meter_id) DO UPDATE SET ${assignments(STATE_COLUMNS, 'excluded', 'c')}
  ),
  armed AS (
    INSERT INTO alarms AS l
    SELECT r.* FROM ${rowsOf('alarms')}
    WHERE r.due_at IS NOT NULL
    ON CONFLICT (slot, actor_id, subject_id) DO UPDATE SET ${assignments(ALARM_COLUMNS, 'excluded', 'l')}
  ),
  disarmed AS (
    DELETE FROM alarms l USING ${rowsOf('alarms')}
    WHERE r.due_at IS NULL AND l.slot = r.slot AND l.actor_id = r.actor_id AND l.subject_id = r.subject_id
  ),
  told AS (
    INSERT INTO events (${namesOf(EVENT_HEAD)}, data)
    SELECT ${namesOf(EVENT_HEAD, 'r.')},
      CASE WHEN r.object_type = 'ENTITLEMENT' AND NOT r.data ? 'metadata'
        THEN r.data || jsonb_build_object('metadata', (SELECT c.metadata FROM customers c WHERE c.id = r.account_id))
        ELSE r.data END
    FROM ${rowsOf('events')}
  ),
  paid AS (
    UPDATE payments p SET ${assignments(PAYMENT_COLUMNS, 'r', 'p')}
    FROM ${rowsOf('payments')}
    WHERE p.slot = r.slot AND p.id = r.id
  ),
  refunded AS (
    INSERT INTO refunds AS f
    SELECT r.* FROM ${rowsOf('refunds')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(REFUND_COLUMNS, 'excluded', 'f')}
  ),
  subscribed AS (
    INSERT INTO subscriptions AS s
    SELECT r.* FROM ${rowsOf('subscriptions')}
    ON CONFLICT (slot, id) DO UPDATE SET ${assignments(SUBSCRIPTION_COLUMNS, 'excluded', 's')}
  ),
  owed AS (
    INSERT INTO followups (${namesOf(FOLLOWUP_COLUMNS)})
    SELECT ${namesOf(FOLLOWUP_COLUMNS, 'r.')} FROM ${rowsOf('followups')}
  ),
  handed_over AS (
    UPDATE slots s SET node = n.id
    FROM ${rowsOf('handovers', 'slots')}
    JOIN nodes n ON n.id = r.node AND n.expires_at > now() AND NOT n.leaving AND NOT n.halted
    WHERE s.slot = r.slot AND s.node = fence.node
  )`;

const counts = (opened: string): string => `
  SELECT CASE
    WHEN NOT EXISTS (SELECT FROM fence) THEN 0
    WHEN (SELECT count(*) FROM touched) <> ${TOUCHED_COUNT}::int THEN refuse_flush('I4: an account was not what its actor believed')
    WHEN ${opened} <> ${OPENED_COUNT}::int THEN refuse_flush('I5: an account was opened twice')
    ELSE 1 END = 1 AS moved`;

export const LEAN_FLUSH = FENCE + TRANSFERS + TOUCHED + counts('0');
export const FULL_FLUSH =
  FENCE + TRANSFERS + TOUCHED + RARE + counts('(SELECT count(*) FROM opened)');
