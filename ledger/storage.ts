import type { LedgerEvent } from './event.ts';
import type { CustomerAlerts } from './metering/alert.ts';
import type { Grant } from './metering/grants.ts';
import type { Customer, Meter, MeterState, Period } from './metering/meter.ts';
import type { Mode, Tenant } from './kernel/tenant.ts';
import type {
  Dispute,
  Followup,
  Payment,
  PaymentState,
  Refund,
  RefundRefusal,
} from './payments/payment.ts';
import type { PooledPeriod } from './metering/meter-effects.ts';
import type { Reservation } from './metering/reservation.ts';
import type { Span } from './metering/span.ts';
import type { BackOfInvoice } from './subscriptions/given-back.ts';
import type { StretchMark } from './metering/stretch.ts';
import type {
  Billing,
  BillingAccount,
  Chargeable,
  Subscription,
  SubscriptionFollowup,
} from './subscriptions/subscription.ts';
import type { AutoTopUp } from './topups/auto-topup.ts';
import type { TopUpOrder } from './topups/order.ts';
import type { AnswerRest, Reason, Transfer } from './kernel/transfers.ts';

/**
 * What the ledger asks of a database. PostgreSQL serves it in production
 * (`store/postgres-storage.ts`); anything that keeps the promises written here may serve it in a
 * simulation.
 */
export type Storage = {
  /**
   * One transaction: the fence moves from `seq` to `seq + 1` and all rows are written, or nothing
   * is. Never throws: what it cannot tell is `unknown`.
   */
  flush(rows: FlushRows, fence: Fence): Promise<FlushResult>;
  /**
   * After an unknown outcome: waits until the lost flush can no longer land, raises the epoch, and
   * returns the number of the last flush that landed. `fenced`: another node has the seat.
   * `behind`: the database lacks what it acknowledged, for any seat. Throws where the database does
   * not answer.
   */
  recover(fence: Fence): Promise<Fence | 'fenced' | 'behind'>;
  /**
   * Takes a seat: that of a node whose lease is over by the database's clock, with the slots that
   * it still has, or a new one. null where another node is alive with which this one cannot share:
   * one of the two has no address, or both have the same.
   */
  claim(): Promise<Fence | null>;
  /** Who is alive by the database's clock, and who owns what. */
  survey(): Promise<Survey>;
  /**
   * Takes over from a node whose lease is over: ends its connections, raises its epoch so that
   * nothing of it can land any more, and gives its slots to others, in one transaction. False where
   * it is not dead, or somebody was quicker.
   */
  takeOver(dead: Pick<SeatedNode, 'node' | 'epoch'>, to: readonly Handover[]): Promise<boolean>;
  /** Says that this node takes no more slots. */
  leave(fence: Fence): Promise<void>;
  /** Lets the seat go, so that the next node need not wait for the lease. */
  release(fence: Fence): Promise<void>;
  /**
   * Whether a call of this storage that failed so may succeed later: the database was away or busy.
   */
  mayPass(error: unknown): boolean;
  loadCustomers(ids: readonly string[]): Promise<readonly LoadedCustomer[]>;
  /** Who they are, and nothing of what they have: for a node that does not own them. */
  identifyCustomers(ids: readonly string[]): Promise<readonly Customer[]>;
  /**
   * The ids of the customers that the merchants know by these names, in any order; those that
   * exist.
   */
  resolveCustomers(
    keys: readonly ExternalKey[],
  ): Promise<readonly (ExternalKey & { readonly id: string })[]>;
  /** What late events of a customer's meter are settled by. */
  loadHistory(key: MeterKey, since: number): Promise<History>;
  /** Which of the members the account has counted. */
  loadMembers(
    key: { slot: number; accountId: string },
    members: readonly bigint[],
  ): Promise<readonly bigint[]>;
  /** The customer's own alerts: what the last load may not have seen. */
  loadAlerts(customerId: string): Promise<CustomerAlerts>;
  /** Which of these ids a transfer or a grant has. */
  usedIds(ids: readonly string[]): Promise<readonly string[]>;
  /** The records of usage transfers that exist under these ids. */
  findUsage(ids: readonly string[]): Promise<readonly StoredUsage[]>;
  /**
   * The same of ids that keys gave when their scope was the organisation's, with the customer that
   * the usage is of.
   */
  findFormerUsage(
    ids: readonly string[],
  ): Promise<readonly (StoredUsage & { readonly customerId: string })[]>;
  /** Whether a grant of this id was ever added. */
  grantExists(id: string): Promise<boolean>;
  /** A reservation, whatever has become of it; null where there is none. */
  findReservation(id: string): Promise<StoredReservation | null>;
  /** Whether a subscription of this id was ever started. */
  subscriptionExists(id: string): Promise<boolean>;
  /** A subscription, whatever has become of it; null where there is none. */
  findSubscription(id: string): Promise<Subscription | null>;
  /**
   * An invoice of a subscription, if it may be charged: it is unpaid, no payment of it is live, and
   * nothing is owed about it.
   */
  findChargeable(asked: {
    readonly subscriptionId: string;
    readonly invoiceId: string;
  }): Promise<Chargeable | null>;
  /** What went back of the invoice that a payment paid; null where it paid none with usage. */
  findBack(paymentId: string): Promise<BackOfInvoice | null>;
  loadPayments(ids: readonly string[]): Promise<readonly PaymentState[]>;
  /** What a refund's key was used for; null where it was not. */
  findRefund(id: string): Promise<StoredRefund | null>;
  /**
   * Alarms of one kind that are due, earliest first, of these slots: by the wall clock `now`, or
   * where an organisation's test mode is ahead of it, by that.
   */
  dueAlarms<K extends AlarmKind>(query: {
    readonly kind: K;
    readonly slots: readonly number[];
    readonly now: number;
    readonly atMost: number;
    readonly except: readonly Alarm<K>[];
    /** Organisations whose test mode is left out. */
    readonly held: readonly string[];
    /** Organisations that are left out. */
    readonly without: readonly string[];
  }): Promise<readonly Alarm<K>[]>;
  /**
   * The next alarms of an organisation's test mode, of any kind, earliest first, due by `until`.
   */
  nextAlarms(query: {
    readonly organisationId: string;
    readonly until: number;
    /** At most so long after the first. */
    readonly withinMs: number;
    /** So long where all before the last moment are of meters without an automatic top-up. */
    readonly metersWithinMs: number;
    readonly atMost: number;
    readonly except: readonly Alarm<AlarmKind>[];
  }): Promise<NextAlarms>;
};

export type MeterKey = {
  readonly slot: number;
  readonly customerId: string;
  readonly meterId: string;
};

/**
 * The right to write: a seat in `nodes`, the epoch in which it was taken, and the number of the
 * last flush.
 */
export type Fence = { readonly node: number; readonly epoch: bigint; readonly seq: bigint };

/** A node as the database has it. */
export type SeatedNode = {
  readonly node: number;
  readonly epoch: bigint;
  /** Where other nodes reach it; null where it is alone. */
  readonly address: string | null;
  /** Whether its lease runs, and for how many milliseconds; 0 where it is over. */
  readonly alive: boolean;
  readonly leaseMs: number;
  /** Whether it is about to end, and takes no more slots. */
  readonly leaving: boolean;
  /**
   * Whether the database was found behind it: then it is not alive, and nobody takes over from it
   * or joins until an operator says so.
   */
  readonly halted: boolean;
};

export type Survey = {
  readonly nodes: readonly SeatedNode[];
  /** By slot: the node that owns it, 0 for none. */
  readonly owners: readonly number[];
};

/** A slot, and the node that is to own it from now on. */
export type Handover = { readonly slot: number; readonly node: number };

export type FlushResult =
  | { readonly kind: 'committed' }
  /** Another node has taken the seat: nothing of this node will be written again. */
  | { readonly kind: 'fenced' }
  /** An id was in use: nothing was written. */
  | { readonly kind: 'duplicate' }
  /** The database refused a row: nothing was written. A bug, or a broken invariant. */
  | { readonly kind: 'rejected'; readonly error: unknown }
  /**
   * The database has cancelled it, because it took too long or waited for a lock: nothing was
   * written.
   */
  | { readonly kind: 'slow'; readonly error: unknown }
  /** The connection was lost: the rows may be there or not. */
  | { readonly kind: 'unknown'; readonly error: unknown };

/** The rows of one flush, each key at most once. */
export type FlushRows = {
  readonly transfers: readonly Transfer[];
  readonly opened: readonly AccountOpening[];
  readonly touched: readonly AccountChange[];
  readonly states: readonly StateRow[];
  readonly grants: readonly GrantRow[];
  readonly members: readonly { slot: number; accountId: string; member: bigint }[];
  readonly pooled: readonly PooledPeriodRow[];
  readonly events: readonly EventRow[];
  readonly payments: readonly PaymentState[];
  readonly refunds: readonly RefundRow[];
  readonly disputes: readonly DisputeRow[];
  readonly followups: readonly FollowupRow[];
  readonly subscriptions: readonly SubscriptionRow[];
  readonly subscriptionFollowups: readonly SubscriptionFollowupRow[];
  readonly spans: readonly SpanRow[];
  readonly marks: readonly MarkRow[];
  readonly reservations: readonly ReservationRow[];
  readonly billingAccounts: readonly BillingAccountRow[];
  readonly topUps: readonly TopUpRow[];
  readonly topUpOrders: readonly TopUpOrderRow[];
  /**
   * Slots that this node gives away: each goes to its new node where that one is alive, else it
   * stays.
   */
  readonly handovers: readonly Handover[];
};

export type AccountTotals = {
  readonly debitsPosted: bigint;
  readonly debitsPending: bigint;
  readonly creditsPosted: bigint;
  readonly creditsPending: bigint;
};

/**
 * What a flush adds to an account that exists. `expected` is what the actor believes it to hold;
 * null on the other sides.
 */
export type AccountChange = {
  readonly slot: number;
  readonly id: string;
  readonly delta: AccountTotals;
  readonly expected: { readonly debitsPosted: bigint; readonly creditsPosted: bigint } | null;
  readonly period: Period | null;
};

/** An account that may not exist yet, with what this flush adds to it. */
export type AccountOpening = {
  readonly slot: number;
  readonly id: string;
  readonly delta: AccountTotals;
  readonly kind: AccountKind;
  readonly owner: AccountOwner;
  readonly customerId: string | null;
  readonly period: Period | null;
};

/** `meter` and `payment` belong to their actors; the rest are a node's own other sides. */
export type AccountKind = 'meter' | 'usage' | 'grants' | 'payment' | 'clearing';

/** Whose it is, and its one asset: a meter's unit or a currency. */
export type AccountOwner = {
  readonly organisationId: string;
  readonly mode: Mode;
  readonly meterId: string | null;
  readonly currency: string | null;
};

export type PooledPeriodRow = PooledPeriod & { readonly slot: number };

export type StateRow = { readonly customer: Customer; readonly state: MeterState };
export type GrantRow = {
  readonly customer: Customer;
  readonly meterId: string;
  readonly grant: Grant;
};
export type RefundRow = { readonly payment: Payment; readonly refund: Refund };
export type DisputeRow = { readonly payment: Payment; readonly dispute: Dispute };
export type FollowupRow = {
  readonly slot: number;
  readonly at: number;
  readonly followup: Followup;
};
export type SubscriptionRow = { readonly customer: Customer; readonly subscription: Subscription };
/** A stretch of time in which usage is sold. `isLive`: the actor keeps it in memory. */
export type SpanRow = {
  readonly customer: Customer;
  readonly meterId: string;
  readonly span: Span;
  readonly isLive: boolean;
};

/** What a period had counted before a boundary of it. */
export type MarkRow = {
  readonly customer: Customer;
  readonly meterId: string;
  readonly mark: StretchMark;
};

/** Of a customer's meter, each list ascending. */
export type History = {
  /** Those that end after the time that was asked for. */
  readonly periods: readonly Period[];
  /** Of boundaries after it; the last ones where they are many. */
  readonly marks: readonly StretchMark[];
  /** Grants that have ended after it, by when; the last ones where they are many. */
  readonly ended: readonly Grant[];
};

export type ReservationRow = {
  readonly customer: Customer;
  readonly meterId: string;
  readonly reservation: Reservation;
};
/** An automatic top-up as it is now. */
export type TopUpRow = {
  readonly customer: Customer;
  readonly meterId: string;
  readonly topUp: AutoTopUp;
};
export type TopUpOrderRow = { readonly customer: Customer; readonly order: TopUpOrder };

/** What a customer's subscriptions share. */
export type BillingAccountRow = { readonly customer: Customer; readonly account: BillingAccount };

export type SubscriptionFollowupRow = {
  readonly customer: Customer;
  readonly followup: SubscriptionFollowup & { readonly subscriptionId: string };
};
export type EventRow = {
  readonly organisationId: string;
  readonly mode: Mode;
  readonly event: LedgerEvent;
};

export type LoadedCustomer = {
  readonly customer: Customer;
  readonly meters: readonly { readonly meter: Meter; readonly state: MeterState }[];
  /** Those to which anything can still happen. */
  readonly billing: Billing;
  readonly alerts: CustomerAlerts;
};

export type ExternalKey = {
  readonly organisationId: string;
  readonly mode: Mode;
  readonly externalId: string;
};

export type StoredUsage = {
  readonly id: string;
  readonly refused: boolean;
  readonly value: bigint;
  /** When it was recorded, and when the usage happened. */
  readonly at: number;
  readonly eventAt: number;
  readonly reason: Reason;
  readonly consumedAfter: bigint;
  readonly limitAfter: bigint | null;
  readonly fingerprint: bigint | null;
  readonly answer: AnswerRest | null;
};

export type StoredReservation = {
  readonly customerId: string;
  readonly meterId: string;
  readonly reservation: Reservation;
};

export type StoredRefund =
  | {
      readonly kind: 'refused';
      readonly fingerprint: bigint | null;
      readonly refusal: RefundRefusal;
    }
  | {
      readonly kind: 'refund';
      readonly fingerprint: bigint | null;
      readonly payment: Pick<Payment, 'id' | 'currency'>;
      readonly refund: Refund;
    };

/**
 * `meter`: a customer and one of its meters. `payment`: twice its id. `subscription`: a customer
 * and one of its subscriptions.
 */
export type AlarmKind = 'meter' | 'payment' | 'subscription';

export type Alarm<K extends AlarmKind> = {
  readonly kind: K;
  readonly actorId: string;
  readonly subjectId: string;
  /** Whose time it is due in. */
  readonly tenant: Tenant;
};

/** They fire together at `at`. */
export type NextAlarms = { readonly alarms: readonly DueAlarm[]; readonly at: number };

export type DueAlarm = Alarm<AlarmKind> & { readonly dueAt: number };
