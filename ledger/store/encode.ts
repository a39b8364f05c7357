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

/** An array literal. A column that is null in every row is the empty array: `unnest` pads it. */
function column<T>(rows: readonly T[], cell: (row: T) => Cell): string {
  let text = '';
  let used = false;
  for (const row of rows) {
    const value = cell(row);
    if (value === null) {
      text += text === '' ? 'NULL' : ',NULL';
    } else {
      used = true;
      text += text === '' ? String(value) : `,${value}`;
    }
  }
  return used ? `{${text}}` : '{}';
}

function quoted(json: string): string {
  return `"${json.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function transferColumns(rows: readonly Transfer[]): string[] {
  return [
    column(rows, (t) => t.id),
    column(rows, (t) => t.debit),
    column(rows, (t) => t.credit),
    column(rows, (t) => t.amount),
    column(rows, (t) => t.at),
    column(rows, (t) => t.usage?.value ?? null),
    column(rows, (t) => (t.usage === null || t.usage.eventAt === t.at ? null : t.usage.eventAt)),
    column(rows, (t) => t.usage?.consumedAfter ?? null),
    column(rows, (t) => t.usage?.limitAfter ?? null),
    column(rows, (t) => t.usage?.fingerprint ?? null),
    column(rows, (t) => t.hold?.id ?? null),
    column(rows, (t) => (t.kind === 'single' ? null : t.kind)),
    column(rows, (t) => t.usage?.reason ?? null),
    column(rows, (t) => t.slot),
    column(rows, (t) =>
      t.usage === null || t.usage.metadata === null
        ? null
        : quoted(JSON.stringify(t.usage.metadata)),
    ),
  ];
}

const some = (amount: bigint): bigint | null => (amount === 0n ? null : amount);

function touchedColumns(rows: readonly AccountChange[]): string[] {
  return [
    column(rows, (a) => a.slot),
    column(rows, (a) => a.id),
    column(rows, (a) => a.delta.debitsPosted),
    column(rows, (a) => a.delta.creditsPosted),
    column(rows, (a) => some(a.delta.debitsPending)),
    column(rows, (a) => some(a.delta.creditsPending)),
    column(rows, (a) => a.expected?.debitsPosted ?? null),
    column(rows, (a) => a.expected?.creditsPosted ?? null),
    column(rows, (a) => a.period?.aggregate ?? null),
    column(rows, (a) => a.period?.latest?.at ?? null),
    column(rows, (a) => a.period?.latest?.id ?? null),
    column(rows, (a) => a.period?.end ?? null),
    column(rows, (a) => a.period?.updatedAt ?? null),
  ];
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
