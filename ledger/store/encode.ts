// The parameters of the flush statement (`flush-sql.ts`), in the order of its text: the fence, what
// all rows share, the arrays of transfers and of changed balances, how many rows must be there, and
// one JSON document for all other rows.
import type { Transfer } from '../kernel/transfers.ts';
import type { AccountOpening, Fence, FlushRows } from '../storage.ts';
import { type BinaryArray, binaryArray, emptyArray } from './binary.ts';
import { type ArrayColumns, encodeRows } from './columns.ts';
import { FOLLOWUP_COLUMNS, followupRows } from './followup-columns.ts';
import {
  ACCOUNT_COLUMNS,
  ALARM_COLUMNS,
  BALANCE_COLUMNS,
  EVENT_COLUMNS,
  GRANT_COLUMNS,
  MEMBER_COLUMNS,
  meterAlarm,
  SIDE_COLUMNS,
  STATE_COLUMNS,
} from './meter-columns.ts';
import { PAYMENT_COLUMNS, paymentAlarm, REFUND_COLUMNS } from './payment-columns.ts';
import { SUBSCRIPTION_COLUMNS, subscriptionAlarm } from './subscription-columns.ts';
import { BALANCE_CHANGES, SIDE_CHANGES, TRANSFER_COLUMNS } from './usage-columns.ts';

/** Text, or an array in the binary format. */
export type Parameter = string | number | null | BinaryArray;

/** The parameters of the lean statement; where other tables have rows, of the full one. */
export function flushParameters(
  rows: FlushRows,
  fence: Fence,
  leaseMs: number,
): { readonly lean: boolean; readonly parameters: Parameter[] } {
  const rare = rareRows(rows);
  const transfers = arraysOf(TRANSFER_COLUMNS, inOrder(rows.transfers));
  const isOfActor = ({ expected }: FlushRows['touched'][number]) => expected !== null;
  const balances = arraysOf(BALANCE_CHANGES, rows.touched.filter(isOfActor));
  const sides = arraysOf(
    SIDE_CHANGES,
    rows.touched.filter((change) => !isOfActor(change)),
  );
  const parameters: Parameter[] = [
    fence.node,
    String(fence.epoch),
    String(fence.seq),
    leaseMs,
    ...transfers.shared,
    ...balances.shared,
    ...transfers.arrays,
    ...balances.arrays,
    ...sides.arrays,
    rows.touched.length,
    rows.opened.length,
  ];
  if (rare === null) return { lean: true, parameters };
  return { lean: false, parameters: [...parameters, rare] };
}

/**
 * Each column as an array. A column that is null in every row is the empty array: `unnest` pads it.
 * A shared column is empty too where all rows have the same value, which is in `shared` then; else
 * `shared` has null.
 */
function arraysOf<Row>(
  columns: ArrayColumns<Row>,
  rows: readonly Row[],
): { readonly shared: (string | null)[]; readonly arrays: BinaryArray[] } {
  const shared: (string | null)[] = [];
  const arrays: BinaryArray[] = [];
  for (const { type, of, shared: isShared } of Object.values(columns)) {
    const cells = rows.map(of);
    const first = cells[0] ?? null;
    const isSame = cells.every((cell) => cell === first);
    if (isShared) shared.push(isSame && first !== null ? String(first) : null);
    const isEmpty = isSame && (isShared || first === null);
    arrays.push(isEmpty ? emptyArray(type) : binaryArray(type, cells));
  }
  return { shared, arrays };
}

/**
 * Every node writes its transfers by id. Two nodes may write refunds with the same keys at once: in
 * one order, one waits for the other; in two orders they may deadlock, and PostgreSQL ends one of
 * them after a second. Ids without a key are almost sorted already.
 */
function inOrder(rows: readonly Transfer[]): readonly Transfer[] {
  return rows.length < 2 ? rows : rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const belongsToActor = ({ kind }: AccountOpening): boolean =>
  kind === 'meter' || kind === 'payment';

function rareRows(rows: FlushRows): string | null {
  const { opened, members, grants, states, events, payments, subscriptions, handovers } = rows;
  // Refunds and followups come with the payment or the subscription that they are of.
  const parts = [opened, members, grants, states, events, payments, subscriptions, handovers];
  if (parts.every((part) => part.length === 0)) return null;
  const alarms = [
    ...states.map(meterAlarm),
    ...payments.map(paymentAlarm),
    ...subscriptions.map(subscriptionAlarm),
  ];
  return JSON.stringify({
    accounts: encodeRows(ACCOUNT_COLUMNS, opened),
    balances: encodeRows(BALANCE_COLUMNS, opened.filter(belongsToActor)),
    sides: encodeRows(
      SIDE_COLUMNS,
      opened.filter((opening) => !belongsToActor(opening)),
    ),
    members: encodeRows(MEMBER_COLUMNS, members),
    grants: encodeRows(GRANT_COLUMNS, grants),
    states: encodeRows(STATE_COLUMNS, states),
    payments: encodeRows(PAYMENT_COLUMNS, payments),
    refunds: encodeRows(REFUND_COLUMNS, rows.refunds),
    followups: encodeRows(FOLLOWUP_COLUMNS, followupRows(rows)),
    alarms: encodeRows(ALARM_COLUMNS, alarms),
    subscriptions: encodeRows(SUBSCRIPTION_COLUMNS, subscriptions),
    handovers,
    events: encodeRows(EVENT_COLUMNS, events),
  });
}
