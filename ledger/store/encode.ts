import { assert } from '../assert.ts';
import type { MeterState } from '../meter.ts';
import type { Transfer } from '../transfers.ts';
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
  #text = '';
  #used = false;

  add(cell: Cell): void {
    if (cell === null) {
      this.#text += ',NULL';
    } else {
      this.#used = true;
      this.#text += ',';
      this.#text += cell;
    }
  }

  get literal(): string {
    return this.#used ? `{${this.#text.slice(1)}}` : '{}';
  }
}

function quoted(json: string): string {
  return `"${json.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function transferColumns(rows: readonly Transfer[]): string[] {
  const [id, debit, credit, amount, at] = [
    new Column(),
    new Column(),
    new Column(),
    new Column(),
    new Column(),
  ];
  const [value, eventAt, consumed, limit, fingerprint] = [
    new Column(),
    new Column(),
    new Column(),
    new Column(),
    new Column(),
  ];
  const [hold, kind, reason, slot, metadata] = [
    new Column(),
    new Column(),
    new Column(),
    new Column(),
    new Column(),
  ];
  for (const transfer of rows) {
    const { usage } = transfer;
    id.add(transfer.id);
    debit.add(transfer.debit);
    credit.add(transfer.credit);
    amount.add(transfer.amount);
    at.add(transfer.at);
    value.add(usage?.value ?? null);
    eventAt.add(usage === null || usage.eventAt === transfer.at ? null : usage.eventAt);
    consumed.add(usage?.consumedAfter ?? null);
    limit.add(usage?.limitAfter ?? null);
    fingerprint.add(usage?.fingerprint ?? null);
    hold.add(transfer.hold?.id ?? null);
    kind.add(transfer.kind === 'single' ? null : transfer.kind);
    reason.add(usage?.reason ?? null);
    slot.add(transfer.slot);
    metadata.add(usage?.metadata ? quoted(JSON.stringify(usage.metadata)) : null);
  }
  const all = [
    id,
    debit,
    credit,
    amount,
    at,
    value,
    eventAt,
    consumed,
    limit,
    fingerprint,
    hold,
    kind,
    reason,
    slot,
    metadata,
  ];
  return all.map((column) => column.literal);
}

const some = (amount: bigint): bigint | null => (amount === 0n ? null : amount);

function touchedColumns(rows: readonly AccountChange[]): string[] {
  const [slot, id, debits, credits] = [new Column(), new Column(), new Column(), new Column()];
  const [pendingDebits, pendingCredits, debitsBefore, creditsBefore] = [
    new Column(),
    new Column(),
    new Column(),
    new Column(),
  ];
  const [aggregate, latestAt, latestId, end, updatedAt] = [
    new Column(),
    new Column(),
    new Column(),
    new Column(),
    new Column(),
  ];
  for (const { slot: at, id: account, delta, expected, period } of rows) {
    slot.add(at);
    id.add(account);
    debits.add(delta.debitsPosted);
    credits.add(delta.creditsPosted);
    pendingDebits.add(some(delta.debitsPending));
    pendingCredits.add(some(delta.creditsPending));
    debitsBefore.add(expected?.debitsPosted ?? null);
    creditsBefore.add(expected?.creditsPosted ?? null);
    aggregate.add(period?.aggregate ?? null);
    latestAt.add(period?.latest?.at ?? null);
    latestId.add(period?.latest?.id ?? null);
    end.add(period?.end ?? null);
    updatedAt.add(period?.updatedAt ?? null);
  }
  const before = [pendingDebits, pendingCredits, debitsBefore, creditsBefore];
  const all = [slot, id, debits, credits, ...before, aggregate, latestAt, latestId, end, updatedAt];
  return all.map((column) => column.literal);
}

/** The parameters of the lean statement, or of the full one where there are rare rows. */
export function flushParameters(
  rows: FlushRows,
  fence: Fence,
  leaseMs: number,
): { readonly lean: boolean; readonly parameters: (string | number)[] } {
  const rare = rareRows(rows);
  const parameters = [
    fence.node,
    String(fence.epoch),
    String(fence.seq),
    leaseMs,
    ...transferColumns(rows.transfers),
    ...touchedColumns(rows.touched),
    rows.touched.length,
    rows.opened.length,
  ];
  assert(parameters.length === 34, 'the lean statement has 34 parameters');
  if (rare === null) return { lean: true, parameters };
  return { lean: false, parameters: [...parameters, rare] };
}

function rareRows(rows: FlushRows): string | null {
  const { opened, members, grants, states, events } = rows;
  const count = opened.length + members.length + grants.length + states.length + events.length;
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
    alarms: states.map(alarmRow),
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
  const { delta, meter, period } = account;
  return {
    id: account.id,
    slot: account.slot,
    organisation_id: meter.organisationId,
    mode: meter.mode,
    kind: account.kind,
    customer_id: account.customerId,
    meter_id: meter.id,
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
    effective_at: iso(grant.effectiveAt),
    expires_at: iso(grant.expiresAt),
    priority: grant.priority,
    overage_allowed: grant.overageAllowed,
    reset_interval: grant.recurs?.interval ?? null,
    rollover_max: grant.recurs?.rollover ? String(grant.recurs.rollover.max) : null,
    rollover_periods: grant.recurs?.rollover?.expiresAfterPeriods ?? null,
    started: grant.started,
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
    cycle_anchor: iso(state.cycle?.anchor ?? null),
    cycle_interval: state.cycle?.interval ?? null,
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
  };
}

function dueIso(state: MeterState): string | null {
  return state.nextDue === Infinity ? null : iso(state.nextDue);
}

function iso(at: number): string;
function iso(at: number | null): string | null;
function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
