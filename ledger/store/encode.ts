import { assert } from '../kernel/assert.ts';
import type { MeterState } from '../metering/meter.ts';
import { iso } from './dates.ts';
import { paymentAlarmRow, paymentRows } from './encode-payments.ts';
import { subscriptionAlarmRow, subscriptionRow } from './encode-subscriptions.ts';
import type { Transfer } from '../kernel/transfers.ts';
import type {
  AccountChange,
  AccountOpening,
  Fence,
  FlushRows,
  GrantRow,
  StateRow,
} from '../storage.ts';

/** Rows as the parameters of the flush statement: PostgreSQL array literals in text, and one JSON document for the rare ones. */

type Cell = string | number | bigint | null;

/**
 * One column as an array literal, built while the rows are walked once: a closure for each of 28 columns was a tenth of a busy
 * server's time. A column that is null in every row is the empty array, which `unnest` pads.
 */
class Column {
  readonly #cells: Cell[] = [];
  #isSame = true;

  add(cell: Cell): void {
    if (this.#isSame && this.#cells.length > 0 && cell !== this.#cells[0]) this.#isSame = false;
    this.#cells.push(cell);
  }

  /** What every row has, or null. */
  get usual(): Cell {
    return this.#isSame ? (this.#cells[0] ?? null) : null;
  }

  get literal(): string {
    if (this.#isSame && this.usual === null) return '{}';
    return `{${this.#cells.map(printed).join(',')}}`;
  }

  /** The literal, where `usual` is said once for all rows. */
  get unusual(): string {
    return this.#isSame ? '{}' : this.literal;
  }
}

function printed(cell: Cell): Cell {
  if (typeof cell !== 'bigint') return cell ?? 'NULL';
  // Printing a bigint costs five times a number; up to 2^53 both print the same digits.
  const number = Number(cell);
  return Number.isSafeInteger(number) ? number : cell;
}

/** A JSON document as an element of an array literal. */
function json(value: object | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  const text = JSON.stringify(value);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/**
 * By id, as everybody writes them: where two nodes write refunds with the same callers' keys at the same time, one waits for the other.
 * In other orders each would wait for the other, until PostgreSQL ends one of them, a second later. What has no key comes almost sorted.
 */
function inOrder(rows: readonly Transfer[]): readonly Transfer[] {
  return rows.length < 2 ? rows : rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** In the order of the statement's parameters; `usual` is what all rows have. */
function transferColumns(rows: readonly Transfer[]): { usual: Cell[]; literals: string[] } {
  const columns = {
    id: new Column(),
    debit: new Column(),
    credit: new Column(),
    amount: new Column(),
    at: new Column(),
    value: new Column(),
    eventAt: new Column(),
    consumedAfter: new Column(),
    limitAfter: new Column(),
    fingerprint: new Column(),
    hold: new Column(),
    kind: new Column(),
    reason: new Column(),
    slot: new Column(),
    metadata: new Column(),
    answer: new Column(),
    guarded: new Column(),
  };
  for (const transfer of inOrder(rows)) {
    const { usage } = transfer;
    columns.id.add(transfer.id);
    columns.debit.add(transfer.debit);
    columns.credit.add(transfer.credit);
    columns.amount.add(transfer.amount);
    columns.at.add(transfer.at);
    columns.value.add(usage?.value ?? null);
    columns.eventAt.add(usage === null || usage.eventAt === transfer.at ? null : usage.eventAt);
    columns.consumedAfter.add(usage?.consumedAfter ?? null);
    columns.limitAfter.add(usage?.limitAfter ?? null);
    columns.fingerprint.add(usage?.fingerprint ?? transfer.refund?.fingerprint ?? null);
    columns.hold.add(transfer.hold?.id ?? null);
    columns.kind.add(transfer.kind === 'single' ? null : transfer.kind);
    columns.reason.add(usage?.reason ?? null);
    columns.slot.add(transfer.slot);
    columns.metadata.add(json(usage?.metadata));
    columns.answer.add(json(usage?.answer ?? refusalOf(transfer)));
    columns.guarded.add(usage?.guarded === true ? 't' : null);
  }
  const { credit, amount, at, value, limitAfter, reason } = columns;
  const often: readonly Column[] = [credit, amount, at, value, limitAfter, reason];
  return {
    usual: often.map((column) => column.usual),
    literals: Object.values(columns).map((column) =>
      often.includes(column) ? column.unusual : column.literal,
    ),
  };
}

function refusalOf({ refund }: Transfer): object | null {
  return typeof refund?.refusal === 'string' ? { refusal: refund.refusal } : null;
}

/** In the order of the statement's parameters; `usual` is what all rows have. */
function touchedColumns(rows: readonly AccountChange[]): { usual: Cell[]; literals: string[] } {
  const columns = {
    slot: new Column(),
    id: new Column(),
    debitsPosted: new Column(),
    creditsPosted: new Column(),
    debitsPending: new Column(),
    creditsPending: new Column(),
    expectedDebits: new Column(),
    expectedCredits: new Column(),
    aggregate: new Column(),
    latestAt: new Column(),
    latestId: new Column(),
    periodEnd: new Column(),
  };
  const updatedAt = new Column();
  // A customer's account comes before the other side, which changes with it.
  let at: number | null = null;
  for (const { slot, id, delta, expected, period } of rows) {
    columns.slot.add(slot);
    columns.id.add(id);
    columns.debitsPosted.add(some(delta.debitsPosted));
    columns.creditsPosted.add(some(delta.creditsPosted));
    columns.debitsPending.add(some(delta.debitsPending));
    columns.creditsPending.add(some(delta.creditsPending));
    columns.expectedDebits.add(expected?.debitsPosted ?? null);
    columns.expectedCredits.add(expected?.creditsPosted ?? null);
    columns.aggregate.add(period?.aggregate ?? null);
    columns.latestAt.add(period?.latest?.at ?? null);
    columns.latestId.add(period?.latest?.id ?? null);
    columns.periodEnd.add(period?.end ?? null);
    at = period?.updatedAt ?? at;
    updatedAt.add(at);
  }
  const literals = Object.values(columns).map((column) => column.literal);
  return { usual: [updatedAt.usual], literals: [...literals, updatedAt.unusual] };
}

const some = (amount: bigint): bigint | null => (amount === 0n ? null : amount);

/** The parameters of the lean statement, or of the full one where there are rare rows. */
export function flushParameters(
  rows: FlushRows,
  fence: Fence,
  leaseMs: number,
): { readonly lean: boolean; readonly parameters: (string | number | null)[] } {
  const rare = rareRows(rows);
  const transfers = transferColumns(rows.transfers);
  const touched = touchedColumns(rows.touched);
  const usual = [...transfers.usual, ...touched.usual];
  const parameters = [
    fence.node,
    String(fence.epoch),
    String(fence.seq),
    leaseMs,
    ...usual.map((cell) => (cell === null ? null : String(cell))),
    ...transfers.literals,
    ...touched.literals,
    rows.touched.length,
    rows.opened.length,
  ];
  assert(parameters.length === 43, 'the lean statement has 43 parameters');
  if (rare === null) return { lean: true, parameters };
  return { lean: false, parameters: [...parameters, rare] };
}

function rareRows(rows: FlushRows): string | null {
  const { opened, members, grants, states, events, payments, subscriptions, handovers } = rows;
  const count =
    opened.length +
    members.length +
    grants.length +
    states.length +
    events.length +
    payments.length +
    subscriptions.length +
    handovers.length;
  if (count === 0) return null;
  return JSON.stringify({
    opened: opened.map(accountRow),
    members: members.map((m) => ({
      slot: m.slot,
      account_id: m.accountId,
      member: String(m.member),
    })),
    grants: grants.map(grantRow),
    states: states.map(stateRow),
    ...paymentRows(rows),
    alarms: [
      ...states.map(alarmRow),
      ...payments.map(paymentAlarmRow),
      ...subscriptions.map(subscriptionAlarmRow),
    ],
    subscriptions: subscriptions.map(subscriptionRow),
    handovers,
    events: events.map(({ organisationId, mode, event }) => ({
      id: event.id,
      organisation_id: organisationId,
      mode,
      type: event.type,
      object_type: event.objectType,
      object_id: event.objectId,
      account_id: event.accountId,
      sequence: String(event.sequence),
      at: iso(event.timestamp),
      data: event.data,
    })),
  });
}

function accountRow(account: AccountOpening): Record<string, unknown> {
  const { delta, owner, period } = account;
  return {
    id: account.id,
    slot: account.slot,
    organisation_id: owner.organisationId,
    mode: owner.mode,
    kind: account.kind,
    // A payment's refunds may not exceed what was captured, whatever its actor believes.
    capped: account.kind === 'payment',
    customer_id: account.customerId,
    meter_id: owner.meterId,
    currency: owner.currency,
    debits_posted: String(delta.debitsPosted),
    debits_pending: String(delta.debitsPending),
    credits_posted: String(delta.creditsPosted),
    credits_pending: String(delta.creditsPending),
    aggregate: String(period?.aggregate ?? 0n),
    latest_at: iso(period?.latest?.at ?? null),
    latest_id: period?.latest?.id ?? null,
    period_start: iso(period?.start ?? null),
    period_end: iso(period?.end ?? null),
    updated_at: iso(period?.updatedAt ?? null),
  };
}

function grantRow({ customer, meterId, grant }: GrantRow): Record<string, unknown> {
  return {
    slot: customer.slot,
    id: grant.id,
    organisation_id: customer.organisationId,
    mode: customer.mode,
    customer_id: customer.id,
    meter_id: meterId,
    source: grant.source,
    amount: grant.amount === null ? null : String(grant.amount),
    used: String(grant.used),
    spent: String(grant.spent),
    effective_at: iso(grant.effectiveAt),
    expires_at: iso(grant.expiresAt),
    priority: grant.priority,
    overage_allowed: grant.overageAllowed,
    cycle_anchor: iso(grant.recurs?.cycle.anchor ?? null),
    reset_interval: grant.recurs?.cycle.interval ?? null,
    reset_count: grant.recurs?.cycle.count ?? null,
    cycle_zone: grant.recurs?.cycle.zone ?? null,
    renews_at: iso(grant.renewsAt),
    rollover_max: grant.recurs?.rollover ? String(grant.recurs.rollover.max) : null,
    rollover_periods: grant.recurs?.rollover?.expiresAfterPeriods ?? null,
    started: grant.started,
    suspended: grant.suspended,
    is_boolean: grant.boolean,
    product_id: grant.productId,
    subscription_id: grant.subscriptionId,
    reason: grant.reason,
    created_at: iso(grant.createdAt),
    ended_at: iso(grant.ended?.at ?? null),
    ended_how: grant.ended?.how ?? null,
  };
}

function stateRow({ customer, state }: StateRow): Record<string, unknown> {
  return {
    slot: customer.slot,
    customer_id: customer.id,
    meter_id: state.meterId,
    period_start: iso(state.current.start),
    period_end: iso(state.current.end),
    allocated: String(state.allocated),
    first_grant_at: iso(state.firstGrantAt),
    ever_expired: state.everExpired,
    exhausted: state.exhausted,
    sequence: String(state.sequence),
    event_at: iso(state.eventAt),
  };
}

function alarmRow({ customer, state }: StateRow): Record<string, unknown> {
  return {
    slot: customer.slot,
    actor_id: customer.id,
    subject_id: state.meterId,
    due_at: dueIso(state),
    kind: 'meter',
    organisation_id: customer.organisationId,
    mode: customer.mode,
  };
}

function dueIso(state: MeterState): string | null {
  return state.nextDue === Infinity ? null : iso(state.nextDue);
}
