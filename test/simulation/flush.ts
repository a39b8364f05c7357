// A flush, as ledger/storage.ts promises it: the fence moves and everything is written, or nothing.
// It refuses what the schema's constraints refuse; of these refusals only a used id may ever occur.
import type { Grant } from '../../ledger/metering/grants.ts';
import { periodAccountId } from '../../ledger/kernel/derived-ids.ts';
import { alarmOf } from '../../ledger/metering/meter.ts';
import { nextAsk } from '../../ledger/payments/payment.ts';
import type { PaymentState } from '../../ledger/payments/payment.ts';
import type {
  AccountChange,
  AccountOpening,
  AccountTotals,
  Fence,
  FlushResult,
  FlushRows,
  StateRow,
} from '../../ledger/storage.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Transfer } from '../../ledger/kernel/transfers.ts';
import { hardnessOf, POISONED } from './hard.ts';
import type { AccountRow, AlarmRow, Database } from './database.ts';
import { writeSold } from './sold.ts';

class Refused extends Error {}
class Duplicate extends Error {}

function demand(condition: boolean, constraint: string): void {
  if (!condition) throw new Refused(constraint);
}

/**
 * Writes it at the time `now` of the database. The lease counts from when the transaction `began`.
 */
export function flush(
  db: Database,
  rows: FlushRows,
  { fence, began, now, leaseMs }: { fence: Fence; began: number; now: number; leaseMs: number },
): FlushResult {
  const node = db.nodes.get(fence.node);
  if (node === undefined || node.epoch !== fence.epoch || node.seq !== fence.seq) {
    return { kind: 'fenced' };
  }
  try {
    db.transaction(() => {
      db.nodes.set(node.node, { ...node, seq: node.seq + 1n, expiresAt: began + leaseMs });
      for (const account of rows.opened) openAccount(db, account);
      for (const account of rows.touched) touchAccount(db, account);
      writeCustomers(db, rows);
      writePayments(db, rows);
      for (const { alarm, dueAt: at } of writeSold(db, rows, demand)) arm(db, alarm, dueAt(at));
      // Last: PostgreSQL has no order among the parts of a statement, and reports the first row
      // that it refuses. Nothing else that a repetition brings may be refused.
      for (const transfer of rows.transfers) writeTransfer(db, transfer, { node: node.node, now });
      handOver(db, rows, { node: node.node, now: began });
    });
    return { kind: 'committed' };
  } catch (error) {
    if (error instanceof Duplicate) return { kind: 'duplicate' };
    if (error instanceof Refused) return { kind: 'rejected', error };
    throw error;
  }
}

function writeTransfer(
  db: Database,
  transfer: Transfer,
  { node, now }: { node: number; now: number },
): void {
  const { id, slot, debit, credit, amount, kind, hold, usage, drawnFor } = transfer;
  const place = `${slot} ${id}`;
  const isRefund = usage === null && (kind === 'pending' || kind === 'refused');
  if (db.transfers.has(place) || (isRefund && db.byId.has(id))) throw new Duplicate(id);
  demand(hardnessOf(transfer) !== 'poisoned', POISONED);
  demand(debit !== credit, 'transfers_sound: two sides');
  demand(amount >= 0n, 'transfers_sound: no negative amount');
  demand(
    (kind === 'post' || kind === 'void') === (hold !== null),
    'transfers_sound: a hold where one is resolved',
  );
  if (hold !== null) {
    demand(db.transfers.get(`${slot} ${hold.id}`)?.transfer.kind === 'pending', 'a hold exists');
    demand(!db.resolved.has(hold.id), 'transfers_hold_once');
    db.resolved.set(hold.id, id);
  }
  const limit = usage?.limitAfter ?? null;
  demand(
    usage?.guarded !== true || limit === null || usage.consumedAfter <= limit,
    'transfers_sound: what is guarded fits',
  );
  const written = { transfer, node, at: now, order: db.transfers.size };
  db.transfers.set(place, written);
  db.byId.set(id, written);
  if (drawnFor === undefined) return;
  db.drawn.set(drawnFor, (db.drawn.get(drawnFor) ?? 0n) + (usage?.value ?? 0n));
}

function openAccount(db: Database, opening: AccountOpening): void {
  const { delta, ...columns } = opening;
  const known = db.accounts.get(opening.id);
  if (known === undefined) return putAccount(db, { ...columns, totals: delta });
  demand(opening.kind !== 'meter' && opening.kind !== 'payment', 'an account was opened twice');
  putAccount(db, { ...known, totals: sumOf(known.totals, delta) });
}

function touchAccount(db: Database, { id, slot, delta, expected, period }: AccountChange): void {
  const known = db.accounts.get(id);
  demand(known !== undefined, 'an account that was touched exists');
  const { totals } = known!;
  demand(known!.slot === slot, 'an account is in its slot');
  demand(
    expected === null ||
      (expected.debitsPosted === totals.debitsPosted &&
        expected.creditsPosted === totals.creditsPosted),
    'an account was not what its actor believed',
  );
  putAccount(db, { ...known!, totals: sumOf(totals, delta), period: period ?? known!.period });
}

function putAccount(db: Database, account: AccountRow): void {
  const { debitsPosted, debitsPending, creditsPosted, creditsPending } = account.totals;
  if (account.kind === 'payment') {
    demand(debitsPosted + debitsPending <= creditsPosted, 'balances_sound: the ceiling');
  }
  if (account.kind === 'meter') {
    const aggregate = account.period?.aggregate ?? 0n;
    demand(
      debitsPosted === (aggregate > 0n ? aggregate : 0n),
      'balances_sound: consumption is the floor',
    );
  }
  if (account.kind === 'meter' || account.kind === 'payment') {
    const all = [debitsPosted, debitsPending, creditsPosted, creditsPending];
    demand(
      all.every((total) => total >= 0n),
      'balances_sound: no negative total',
    );
  }
  db.accounts.set(account.id, account);
}

function sumOf(a: AccountTotals, b: AccountTotals): AccountTotals {
  return {
    debitsPosted: a.debitsPosted + b.debitsPosted,
    debitsPending: a.debitsPending + b.debitsPending,
    creditsPosted: a.creditsPosted + b.creditsPosted,
    creditsPending: a.creditsPending + b.creditsPending,
  };
}

function writeCustomers(db: Database, rows: FlushRows): void {
  for (const { accountId, member } of rows.members) {
    const key = `${accountId} ${member}`;
    demand(!db.members.has(key), 'a member is counted once');
    db.members.set(key, member);
  }
  for (const { accountId, rate } of rows.pooled) {
    demand(!db.pooled.has(accountId), 'pooled_periods_pkey');
    demand(rate > 0n, 'pooled_periods_rate_positive');
    db.pooled.set(accountId, rate);
  }
  for (const row of rows.grants) {
    const { amount, used } = row.grant;
    demand(used >= 0n && (amount === null || used <= amount), 'grants_used_within_amount');
    demand(mayBecome(db.grants.get(row.grant.id)?.grant, row.grant), 'a grant ends once');
    db.grants.set(row.grant.id, row);
  }
  for (const row of rows.states) writeState(db, row);
  for (const { event } of rows.events) {
    const isUsage = event.objectType === 'USAGE';
    const last = isUsage ? undefined : db.lastEvents.get(event.objectId);
    demand(!db.events.has(event.id), 'events once');
    demand(event.sequence === (last?.sequence ?? 0n) + 1n, 'I8: events are numbered without a gap');
    demand(event.timestamp > (last?.timestamp ?? 0), 'events have an order in time');
    db.events.set(event.id, event);
    db.lastEvents.set(event.objectId, event);
  }
}

/**
 * What was used up may get units back by a late correction, and what had rolled over may come to
 * nothing and back.
 */
function mayBecome(before: Grant | undefined, { ended }: Grant): boolean {
  if (before === undefined || before.ended === null) return true;
  const { at, how } = before.ended;
  const isOpen = how === 'used_up' || (before.source === 'rollover' && before.amount === 0n);
  return isOpen || (ended?.at === at && ended.how === how);
}

function writeState(db: Database, { customer, state }: StateRow): void {
  const { meterId, current, allocated, stretch, firstGrantAt, everExpired, exhausted, fired } =
    state;
  const { sequence, eventAt, topUp } = state;
  const { start, end } = current;
  const key = { customerId: customer.id, meterId, start };
  demand(current.accountId === periodAccountId(ids, key), 'a period has its own account');
  const events = { sequence, eventAt };
  const flags = { allocated, stretch, firstGrantAt, everExpired, exhausted, fired };
  db.states.set(`${customer.id} ${meterId}`, {
    customer,
    meterId,
    start,
    end,
    ...flags,
    ...events,
    topUp,
  });
  const { slot, organisationId, mode } = customer;
  const alarm = { kind: 'meter', actorId: customer.id, subjectId: meterId } as const;
  arm(db, { ...alarm, slot, tenant: { organisationId, mode } }, alarmOf(state));
}

const dueAt = (nextDue: number): number | null => (nextDue === Infinity ? null : nextDue);

function arm(db: Database, alarm: Omit<AlarmRow, 'dueAt'>, at: number | null): void {
  const key = `${alarm.actorId} ${alarm.subjectId}`;
  if (at === null) db.alarms.delete(key);
  else db.alarms.set(key, { ...alarm, dueAt: at });
}

function writePayments(db: Database, rows: FlushRows): void {
  for (const state of rows.payments) writePayment(db, state);
  for (const row of rows.refunds) db.refunds.set(row.refund.id, row);
  for (const row of rows.disputes) db.disputes.set(row.dispute.id, row);
  for (const row of rows.reservations) db.reservations.set(row.reservation.id, row);
  for (const { followup } of rows.followups) {
    demand(!db.followups.has(followup.id), 'a followup is owed once');
    db.followups.set(followup.id, followup.kind);
  }
}

function writePayment(db: Database, state: PaymentState): void {
  const { id, slot, organisationId, mode } = state.payment;
  demand(db.payments.has(id), 'a payment is made with its attempt');
  db.payments.set(id, state);
  const alarm = { kind: 'payment', actorId: id, subjectId: id } as const;
  arm(db, { ...alarm, slot, tenant: { organisationId, mode } }, nextAsk(state));
}

/** Each slot goes to its new node where that node is alive and stays; else it remains. */
function handOver(db: Database, { handovers }: FlushRows, by: { node: number; now: number }): void {
  if (handovers.length === 0) return;
  const owners = [...db.slots];
  for (const { slot, node } of handovers) {
    const to = db.nodes.get(node);
    const isAlive = to !== undefined && to.expiresAt > by.now && !to.leaving;
    if (isAlive && owners[slot] === by.node) owners[slot] = node;
  }
  db.slots = owners;
}
