// The parameters of the flush statement (`flush-sql.ts`), in the order of its text: the fence, what
// all rows share, the arrays of transfers, of changed balances and of the usage delta, how many
// rows must be there, and an array of rows for each other table: corrections first.
import type { Transfer } from '../kernel/transfers.ts';
import type { AccountOpening, Fence, FlushRows } from '../storage.ts';
import { MARK_COLUMNS } from './mark-columns.ts';
import { type BinaryArray, binaryArray, emptyArray } from './binary.ts';
import { binaryRows } from './binary-rows.ts';
import type { ArrayColumns } from './columns.ts';
import type { FLUSHES } from './flush-sql.ts';
import { FOLLOWUP_COLUMNS, followupRows } from './followup-columns.ts';
import {
  ACCOUNT_COLUMNS,
  ALARM_COLUMNS,
  BALANCE_COLUMNS,
  EVENT_COLUMNS,
  GRANT_COLUMNS,
  HANDOVER_COLUMNS,
  MEMBER_COLUMNS,
  meterAlarm,
  POOLED_COLUMNS,
  SIDE_COLUMNS,
  STATE_COLUMNS,
} from './meter-columns.ts';
import { BILLING_ACCOUNT_COLUMNS, SPAN_COLUMNS } from './span-columns.ts';
import {
  DISPUTE_COLUMNS,
  PAYMENT_COLUMNS,
  paymentAlarm,
  REFUND_COLUMNS,
} from './payment-columns.ts';
import { RESERVATION_COLUMNS } from './reservation-columns.ts';
import { AUTO_TOPUP_COLUMNS } from './auto-topup-columns.ts';
import { SUBSCRIPTION_COLUMNS, subscriptionAlarm } from './subscription-columns.ts';
import { CORRECTION_COLUMNS, DELTA_COLUMNS, usageEntries } from './usage-delta.ts';
import { BALANCE_CHANGES, SIDE_CHANGES, TRANSFER_COLUMNS } from './usage-columns.ts';

/** Text, or an array in the binary format. */
export type Parameter = string | number | null | BinaryArray;

/** Which statement writes these rows (`FLUSHES`), and its parameters. */
export function flushParameters(
  rows: FlushRows,
  fence: Fence,
  leaseMs: number,
): { readonly kind: keyof typeof FLUSHES; readonly parameters: Parameter[] } {
  const entries = usageEntries(rows.transfers);
  const corrected = entries.filter(({ corrections }) => corrections > 0n);
  const rare = rareRows(rows);
  const transfers = arraysOf(TRANSFER_COLUMNS, inOrder(rows.transfers));
  const isOfActor = ({ expected }: FlushRows['touched'][number]) => expected !== null;
  const balances = arraysOf(BALANCE_CHANGES, rows.touched.filter(isOfActor));
  const sides = arraysOf(
    SIDE_CHANGES,
    rows.touched.filter((change) => !isOfActor(change)),
  );
  const usage = arraysOf(DELTA_COLUMNS, entries);
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
    ...usage.arrays,
    rows.touched.length,
    rows.opened.length,
  ];
  if (rare === null && corrected.length === 0) return { kind: 'lean', parameters };
  parameters.push(binaryRows(CORRECTION_COLUMNS, corrected));
  if (rare === null) return { kind: 'corrected', parameters };
  return { kind: 'full', parameters: [...parameters, ...rare] };
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

/** Arrays of rows, in the order of `RARE`; null where there are none. */
function rareRows(rows: FlushRows): BinaryArray[] | null {
  const { opened, members, pooled, grants, states, events, payments, subscriptions, handovers } =
    rows;
  const { spans, marks, reservations, billingAccounts } = rows;
  // Refunds, disputes and followups come with the payment or the subscription that they are of, and
  // an automatic top-up with the state of its meter.
  const parts = [
    opened,
    members,
    pooled,
    grants,
    states,
    events,
    payments,
    subscriptions,
    handovers,
    spans,
    marks,
    reservations,
    billingAccounts,
  ];
  if (parts.every((part) => part.length === 0)) return null;
  const alarms = [
    ...states.map(meterAlarm),
    ...payments.map(paymentAlarm),
    ...subscriptions.map(subscriptionAlarm),
  ];
  return [
    binaryRows(ACCOUNT_COLUMNS, opened),
    binaryRows(BALANCE_COLUMNS, opened.filter(belongsToActor)),
    binaryRows(
      SIDE_COLUMNS,
      opened.filter((opening) => !belongsToActor(opening)),
    ),
    binaryRows(MEMBER_COLUMNS, members),
    binaryRows(POOLED_COLUMNS, pooled),
    binaryRows(GRANT_COLUMNS, grants),
    binaryRows(STATE_COLUMNS, states),
    binaryRows(
      ALARM_COLUMNS,
      alarms.filter(({ dueAt }) => dueAt !== null),
    ),
    binaryRows(
      ALARM_COLUMNS,
      alarms.filter(({ dueAt }) => dueAt === null),
    ),
    binaryRows(EVENT_COLUMNS, events),
    binaryRows(PAYMENT_COLUMNS, payments),
    binaryRows(REFUND_COLUMNS, rows.refunds),
    binaryRows(DISPUTE_COLUMNS, rows.disputes),
    binaryRows(SUBSCRIPTION_COLUMNS, subscriptions),
    binaryRows(SPAN_COLUMNS, spans),
    binaryRows(MARK_COLUMNS, marks),
    binaryRows(RESERVATION_COLUMNS, reservations),
    binaryRows(BILLING_ACCOUNT_COLUMNS, billingAccounts),
    binaryRows(AUTO_TOPUP_COLUMNS, rows.topUps),
    binaryRows(FOLLOWUP_COLUMNS, followupRows(rows)),
    binaryRows(HANDOVER_COLUMNS, handovers),
  ];
}
