// The database of a simulation: tables in memory, and transactions that can be undone.
//
// It implements the promises of ledger/storage.ts, not the SQL that keeps them in production.
import type { Fence, AccountKind, AccountOwner, AccountTotals } from '../../ledger/storage.ts';
import type {
  Alarm,
  AlarmKind,
  BillingAccountRow,
  GrantRow,
  ReservationRow,
  MarkRow,
  SpanRow,
  SubscriptionFollowupRow,
  SubscriptionRow,
} from '../../ledger/storage.ts';
import type { LedgerEvent } from '../../ledger/event.ts';
import { SLOTS } from '../../ledger/limits.ts';
import type { Customer, Meter, MeterState, Period } from '../../ledger/metering/meter.ts';
import type { Pool } from '../../ledger/metering/pool.ts';
import type { AutoTopUp } from '../../ledger/topups/auto-topup.ts';
import type { Dispute, Payment, PaymentState, Refund } from '../../ledger/payments/payment.ts';
import type { Transfer } from '../../ledger/kernel/transfers.ts';
import type { InvoiceDraft, PaymentOrder } from '../../ledger/subscriptions/subscription.ts';

type Undo = () => void;

/** Rows are values: they are replaced, never changed. */
class Table<K, V> {
  readonly #rows = new Map<K, V>();
  readonly #undo: (step: Undo) => void;

  constructor(note: (step: Undo) => void) {
    this.#undo = note;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: K): V | undefined {
    return this.#rows.get(key);
  }

  has(key: K): boolean {
    return this.#rows.has(key);
  }

  values(): V[] {
    return [...this.#rows.values()];
  }

  set(key: K, value: V): void {
    const before = this.#rows.get(key);
    this.#undo(() => {
      if (before === undefined) this.#rows.delete(key);
      else this.#rows.set(key, before);
    });
    this.#rows.set(key, value);
  }

  delete(key: K): void {
    const before = this.#rows.get(key);
    if (before === undefined) return;
    this.#undo(() => this.#rows.set(key, before));
    this.#rows.delete(key);
  }
}

export type NodeRow = Fence & {
  readonly holder: string;
  readonly address: string | null;
  readonly expiresAt: number;
  readonly leaving: boolean;
  readonly halted: boolean;
};

export type AccountRow = {
  readonly slot: number;
  readonly id: string;
  readonly kind: AccountKind;
  readonly owner: AccountOwner;
  readonly customerId: string | null;
  readonly totals: AccountTotals;
  readonly period: Period | null;
};

/** A customer's state on a meter, beyond its accounts and grants. */
export type StateColumns = {
  readonly customer: Customer;
  readonly meterId: string;
  readonly start: number;
  readonly end: number | null;
  readonly allocated: bigint;
  readonly stretch: MeterState['stretch'];
  readonly firstGrantAt: number | null;
  readonly everExpired: boolean;
  readonly exhausted: boolean;
  readonly fired: MeterState['fired'];
  readonly topUp: AutoTopUp | null;
  readonly sequence: bigint;
  readonly eventAt: number;
};

/** A transfer, with the flush and the time that wrote it. */
export type Written = {
  readonly transfer: Transfer;
  readonly node: number;
  readonly at: number;
  /** The position among all transfers. */
  readonly order: number;
};

export type AlarmRow = Alarm<AlarmKind> & { readonly slot: number; readonly dueAt: number };

/** An invoice of a subscription. */
export type InvoiceRow = {
  readonly subscriptionId: string;
  readonly invoice: InvoiceDraft;
  readonly isVoid: boolean;
};

/** A charge that the subscription has not heard of yet. */
export type ChargeRow = {
  readonly customerId: string;
  readonly subscriptionId: string;
  readonly order: PaymentOrder;
};

export class Database {
  #steps: Undo[] = [];
  /** How to undo each transaction, the last one last. */
  readonly #done: Undo[][] = [];
  /** How many there were when the last one decided who may write. */
  #seatsAt = 0;
  readonly #note = (step: Undo): void => {
    this.#steps.push(step);
  };

  readonly nodes = new Table<number, NodeRow>(this.#note);
  readonly #slots = new Table<'all', readonly number[]>(this.#note);
  readonly accounts = new Table<string, AccountRow>(this.#note);
  /** By slot and id. */
  readonly transfers = new Table<string, Written>(this.#note);
  /** By id: the last row written under it. No two slots should have the same id. */
  readonly byId = new Table<string, Written>(this.#note);
  /** Holds that were resolved, with what resolved them. */
  readonly resolved = new Table<string, string>(this.#note);
  readonly members = new Table<string, bigint>(this.#note);
  readonly states = new Table<string, StateColumns>(this.#note);
  readonly grants = new Table<string, GrantRow>(this.#note);
  readonly alarms = new Table<string, AlarmRow>(this.#note);
  readonly events = new Table<string, LedgerEvent>(this.#note);
  /** The last event of each object. */
  readonly lastEvents = new Table<string, LedgerEvent>(this.#note);
  readonly payments = new Table<string, PaymentState>(this.#note);
  readonly refunds = new Table<string, { payment: Payment; refund: Refund }>(this.#note);
  readonly disputes = new Table<string, { payment: Payment; dispute: Dispute }>(this.#note);
  readonly followups = new Table<string, string>(this.#note);
  readonly subscriptions = new Table<string, SubscriptionRow>(this.#note);
  readonly spans = new Table<string, SpanRow>(this.#note);
  /** By account and time. */
  readonly marks = new Table<string, MarkRow>(this.#note);
  /** What a pool asks for a unit, by the account of a period of a member. */
  readonly pooled = new Table<string, bigint>(this.#note);
  /** Credits that were drawn, by the account that they were drawn for. */
  readonly drawn = new Table<string, bigint>(this.#note);
  readonly reservations = new Table<string, ReservationRow>(this.#note);
  readonly billingAccounts = new Table<string, BillingAccountRow>(this.#note);
  /** Followups of subscriptions that are still to be executed. */
  readonly owed = new Table<string, SubscriptionFollowupRow>(this.#note);
  readonly invoices = new Table<string, InvoiceRow>(this.#note);
  readonly charges = new Table<string, ChargeRow>(this.#note);
  readonly customers: readonly Customer[];
  readonly meters: ReadonlyMap<string, Meter>;
  readonly pool: Pool | null;

  constructor(catalogue: {
    customers: readonly Customer[];
    meters: readonly Meter[];
    pool: Pool | null;
  }) {
    this.pool = catalogue.pool;
    this.customers = catalogue.customers;
    this.meters = new Map(catalogue.meters.map((meter) => [meter.id, meter]));
  }

  /** Runs all of `task`, or nothing where it throws. */
  transaction<T>(task: () => T): T {
    this.#steps = [];
    try {
      const result = task();
      this.#done.push(this.#steps);
      return result;
    } catch (error) {
      undo(this.#steps);
      throw error;
    }
  }

  /**
   * A copy is promoted that lacks the last transactions, but has all those that decided who may
   * write.
   */
  lose(transactions: number): void {
    const last = this.#done.slice(this.#seatsAt).slice(-transactions);
    this.#done.length -= last.length;
    for (const steps of last.reverse()) undo(steps);
  }

  /** A transaction that decides who may write. */
  seated<T>(task: () => T): T {
    const result = this.transaction(task);
    this.#seatsAt = this.#done.length;
    return result;
  }

  /** By slot: the node that owns it, 0 for none. */
  get slots(): readonly number[] {
    return this.#slots.get('all') ?? NO_SLOTS;
  }

  set slots(owners: readonly number[]) {
    this.#slots.set('all', owners);
  }
}

const NO_SLOTS: readonly number[] = Array.from({ length: SLOTS }, () => 0);

function undo(steps: readonly Undo[]): void {
  for (const step of steps.toReversed()) step();
}

/** Over all accounts. */
export function totalsOf(db: Database): { debits: bigint; credits: bigint } {
  let [debits, credits] = [0n, 0n];
  for (const { totals } of db.accounts.values()) {
    debits += totals.debitsPosted;
    credits += totals.creditsPosted;
  }
  return { debits, credits };
}
