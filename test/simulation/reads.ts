// The ledger's reads, as ledger/storage.ts promises them. Each function is one query with one
// snapshot. What takes several queries in production takes several here (`Loading`), and other
// writes may come in between.
import { NO_ALERTS } from '../../ledger/metering/alert.ts';
import { type Grant, burnOrder } from '../../ledger/metering/grants.ts';
import {
  type Customer,
  type MeterState,
  type Period,
  nextDueOf,
  untoldBy,
  emptyMeterState,
  emptyPeriod,
} from '../../ledger/metering/meter.ts';
import { entitlementId, periodAccountId } from '../../ledger/kernel/derived-ids.ts';
import type { Dispute, PaymentState } from '../../ledger/payments/payment.ts';
import type {
  Alarm,
  AlarmKind,
  NextAlarms,
  ExternalKey,
  History,
  LoadedCustomer,
  MeterKey,
  ReservationRow,
  SpanRow,
  Storage,
  StoredRefund,
  StoredReservation,
  StoredUsage,
} from '../../ledger/storage.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Billing } from '../../ledger/subscriptions/subscription.ts';
import type { AccountRow, Database, StateColumns } from './database.ts';
import { membersOf } from './pool.ts';
import { billingOf, spansOf } from './sold.ts';

/** The results so far of the queries of one load. */
export class CustomerLoad {
  readonly #db: Database;
  readonly #wanted: ReadonlySet<string>;
  #states: StateColumns[] = [];
  #grants: { customerId: string; meterId: string; grant: Grant }[] = [];
  #accounts: AccountRow[] = [];
  readonly #billing = new Map<string, Billing>();
  #spans: SpanRow[] = [];
  #reservations: ReservationRow[] = [];
  readonly queries: readonly (() => void)[] = [
    () => {
      this.#states = this.#db.states
        .values()
        .filter(({ customer }) => this.#wanted.has(customer.id));
      this.#spans = spansOf(this.#db, this.#wanted);
      this.#reservations = this.#db.reservations
        .values()
        .filter(
          ({ customer, reservation }) =>
            this.#wanted.has(customer.id) && reservation.status === 'open',
        );
    },
    () => {
      this.#grants = this.#db.grants
        .values()
        .filter(({ customer, grant }) => this.#wanted.has(customer.id) && grant.ended === null)
        .map(({ customer, meterId, grant }) => ({ customerId: customer.id, meterId, grant }));
    },
    () => {
      this.#accounts = this.#db.accounts
        .values()
        .filter(({ customerId }) => customerId !== null && this.#wanted.has(customerId));
    },
    () => {
      for (const id of this.#wanted) this.#billing.set(id, billingOf(this.#db, id));
    },
  ];

  constructor(db: Database, wanted: readonly string[]) {
    this.#db = db;
    this.#wanted = new Set(wanted);
  }

  result(): LoadedCustomer[] {
    return identify(this.#db, [...this.#wanted]).map((customer) => {
      const states = this.#states.filter((row) => row.customer.id === customer.id);
      const accounts = this.#accounts.filter((row) => row.customerId === customer.id);
      const meterIds = [
        ...states.map((row) => row.meterId),
        ...accounts.map((row) => row.owner.meterId),
      ];
      const meters = [...new Set(meterIds)].map((meterId) => ({
        meter: this.#db.meters.get(meterId ?? '')!,
        state: this.#stateOf(customer, meterId ?? ''),
      }));
      const billing = this.#billing.get(customer.id)!;
      return { customer, meters, billing, alerts: NO_ALERTS };
    });
  }

  /** When the first period began that is over and of which something is reserved. */
  #heldSince(customerId: string): number {
    const held = this.#accounts.filter(({ customerId: of, owner, period, totals }) => {
      const state = this.#states.find(
        (one) => one.customer.id === customerId && one.meterId === owner.meterId,
      );
      const isOver = (period?.start ?? 0) < (state?.start ?? 0);
      return of === customerId && isOver && totals.debitsPending > 0n;
    });
    return Math.min(...held.map(({ period }) => period?.start ?? 0));
  }

  /** Of a pool, when the first period of a member began that is not over. */
  #membersSince(customerId: string, meterId: string): number {
    const { pool } = this.#db;
    if (pool?.meter.id !== meterId) return Infinity;
    const its = this.#states.filter(({ customer, ...one }) => {
      return customer.id === customerId && membersOf(pool).has(one.meterId);
    });
    return Math.min(...its.map(({ start }) => start));
  }

  #stateOf({ id: customerId }: Customer, meterId: string): MeterState {
    const key = { customerId, meterId };
    const row = this.#states.find(
      (one) => one.customer.id === customerId && one.meterId === meterId,
    );
    const from = row?.start ?? 0;
    const heldSince = this.#heldSince(customerId);
    const membersSince = this.#membersSince(customerId, meterId);
    const periods = this.#accounts
      .filter((one) => one.customerId === customerId && one.owner.meterId === meterId)
      .map((account) => periodOf(this.#db, account))
      .filter(
        ({ start, end }) =>
          start >= from || (end !== null && end > Math.min(heldSince, membersSince)),
      )
      .sort((a, b) => a.start - b.start);
    const meter = this.#db.meters.get(meterId)!;
    const empty = emptyPeriod(
      periodAccountId(ids, { ...key, start: from }),
      from,
      row?.end ?? null,
    );
    const found = periods.find(({ start }) => start === from);
    const current =
      found === undefined ? empty : { ...found, end: row === undefined ? found.end : row.end };
    const state = emptyMeterState(meter, entitlementId(ids, key), current);
    if (row === undefined) return state;
    const { allocated, stretch, firstGrantAt, everExpired, exhausted, fired, sequence, eventAt } =
      row;
    const { topUp } = row;
    const grants = this.#grants
      .filter((one) => one.customerId === customerId && one.meterId === meterId)
      .map(({ grant }) => grant)
      .sort(burnOrder);
    const reservations = this.#reservations
      .filter((one) => one.customer.id === customerId && one.meterId === meterId)
      .map(({ reservation }) => reservation)
      .sort((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1));
    const nextDue = nextDueOf({ grants, current, reservations, topUp });
    return {
      ...state,
      others: periods.filter(({ start }) => start !== from),
      grants,
      spans: this.#spans
        .filter((one) => one.customer.id === customerId && one.meterId === meterId)
        .map(({ span }) => span),
      topUp,
      allocated,
      stretch,
      firstGrantAt,
      everExpired,
      exhausted,
      fired,
      sequence,
      eventAt,
      reservations,
      untold: untoldBy(this.#db.alarms.get(`${customerId} ${meterId}`)?.dueAt ?? null, nextDue),
      nextDue,
    };
  }
}

function periodOf(db: Database, { id, period, totals }: AccountRow): Period {
  return {
    ...(period ?? emptyPeriod(id, 0, null)),
    opened: true,
    granted: totals.creditsPosted,
    consumed: totals.debitsPosted,
    reserved: totals.debitsPending,
    rate: db.pooled.get(id) ?? null,
  };
}

export function identify(db: Database, wanted: readonly string[]): Customer[] {
  return db.customers.filter(({ id }) => wanted.includes(id));
}

export function resolve(
  db: Database,
  keys: readonly ExternalKey[],
): (ExternalKey & { readonly id: string })[] {
  return keys.flatMap((key) =>
    db.customers
      .filter(({ externalId }) => externalId === key.externalId)
      .map(({ id }) => ({ ...key, id })),
  );
}

export function history(db: Database, { customerId, meterId }: MeterKey, since: number): History {
  const isIts = (row: { readonly customer: Customer; readonly meterId: string }): boolean =>
    row.customer.id === customerId && row.meterId === meterId;
  return {
    periods: periodsSince(db, { customerId, meterId }, since),
    marks: db.marks
      .values()
      .filter((row) => isIts(row) && row.mark.start > since)
      .map(({ mark }) => mark)
      .toSorted((a, b) => a.start - b.start),
    ended: db.grants
      .values()
      .filter((row) => isIts(row) && (row.grant.ended?.at ?? 0) > since)
      .map(({ grant }) => grant)
      .toSorted((a, b) => (a.ended?.at ?? 0) - (b.ended?.at ?? 0)),
  };
}

function periodsSince(
  db: Database,
  key: Pick<MeterKey, 'customerId' | 'meterId'>,
  since: number,
): Period[] {
  return db.accounts
    .values()
    .filter(
      ({ customerId, owner }) => customerId === key.customerId && owner.meterId === key.meterId,
    )
    .map((account) => periodOf(db, account))
    .filter(({ end }) => end === null || end > since)
    .sort((a, b) => a.start - b.start);
}

export function usage(db: Database, wanted: readonly string[]): StoredUsage[] {
  return wanted.flatMap((id) => {
    const written = db.byId.get(id)?.transfer;
    if (written === undefined || written.usage === null) return [];
    const { value, eventAt, reason, consumedAfter, limitAfter, fingerprint, answer } =
      written.usage;
    const refused = written.kind === 'refused';
    const numbers = { consumedAfter, limitAfter, fingerprint };
    return [{ id, refused, value, at: written.at, eventAt, reason, ...numbers, answer }];
  });
}

export function payments(db: Database, wanted: readonly string[]): PaymentState[] {
  return wanted.flatMap((id) => {
    const state = db.payments.get(id);
    if (state === undefined) return [];
    const totals = db.accounts.get(id)?.totals;
    const open = db.refunds
      .values()
      .filter(({ payment, refund }) => payment.id === id && refund.askAt !== null);
    const disputes = disputesOf(db, id);
    const held = disputes.reduce((sum, { hold }) => sum + (hold?.amount ?? 0n), 0n);
    const chargedBack = disputes.reduce((sum, dispute) => sum + dispute.chargedBack, 0n);
    return [
      {
        ...state,
        account: {
          opened: totals !== undefined,
          captured: totals?.creditsPosted ?? 0n,
          refunded: (totals?.debitsPosted ?? 0n) - chargedBack,
          reserved: (totals?.debitsPending ?? 0n) - held,
          held,
          chargedBack,
        },
        refunds: new Map(open.map(({ refund }) => [refund.id, refund])),
        disputes: new Map(disputes.map((dispute) => [dispute.id, dispute])),
      },
    ];
  });
}

function disputesOf(db: Database, paymentId: string): Dispute[] {
  return db.disputes.values().flatMap(({ payment, dispute }) => {
    return payment.id === paymentId ? [dispute] : [];
  });
}

export function storedReservation(db: Database, id: string): StoredReservation | null {
  const row = db.reservations.get(id);
  if (row === undefined) return null;
  return { customerId: row.customer.id, meterId: row.meterId, reservation: row.reservation };
}

export function storedRefund(db: Database, id: string): StoredRefund | null {
  const transfer = db.byId.get(id)?.transfer;
  if (transfer === undefined) return null;
  const fingerprint = transfer.refund?.fingerprint ?? null;
  const state = db.payments.get(transfer.debit)!;
  if (transfer.kind === 'refused') {
    const refusal = (transfer.refund?.refusal ?? '') as 'nothing_left';
    return { kind: 'refused', fingerprint, refusal };
  }
  const { payment } = state;
  return { kind: 'refund', fingerprint, payment, refund: db.refunds.get(id)!.refund };
}

export function dueAlarms<K extends AlarmKind>(
  db: Database,
  query: Parameters<Storage['dueAlarms']>[0] & { readonly kind: K },
): Alarm<K>[] {
  const except = new Set(query.except.map((alarm) => `${alarm.actorId} ${alarm.subjectId}`));
  return db.alarms
    .values()
    .filter(
      ({ kind, slot, dueAt }) =>
        kind === query.kind && dueAt <= query.now && query.slots.includes(slot),
    )
    .filter(({ actorId, subjectId }) => !except.has(`${actorId} ${subjectId}`))
    .filter(({ tenant }) => !query.without.includes(tenant.organisationId))
    .sort((a, b) => a.dueAt - b.dueAt)
    .slice(0, query.atMost)
    .map(({ actorId, subjectId, tenant }) => ({ kind: query.kind, actorId, subjectId, tenant }));
}

/** The next alarms of an organisation. It has no automatic top-ups. */
export function nextAlarms(
  db: Database,
  query: Omit<Parameters<Storage['nextAlarms']>[0], 'except'>,
): NextAlarms {
  const { organisationId, until, withinMs, metersWithinMs, atMost } = query;
  const due = db.alarms
    .values()
    .filter(({ tenant, dueAt }) => tenant.organisationId === organisationId && dueAt <= until)
    .sort((a, b) => a.dueAt - b.dueAt);
  const first = due[0]?.dueAt ?? until;
  const timed = due.find(({ kind }) => kind !== 'meter')?.dueAt ?? Infinity;
  const close = due.findLast(({ dueAt }) => dueAt <= first + withinMs)?.dueAt ?? until;
  const at = timed <= first + withinMs ? close : Math.min(until, timed, first + metersWithinMs);
  return { alarms: due.filter(({ dueAt }) => dueAt <= at).slice(0, atMost), at };
}
