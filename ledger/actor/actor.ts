import { assert } from '../kernel/assert.ts';
import { type CustomerAlerts, NO_ALERTS } from '../metering/alert.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import type { Billing, SubscriptionEffects } from '../subscriptions/subscription.ts';
import type { CheckAnswer, Customer, Meter, MeterState } from '../metering/meter.ts';
import type { StretchMark } from '../metering/stretch.ts';
import type { History } from '../storage.ts';
import type { Pool } from '../metering/pool.ts';
import type { Seen } from '../metering/usage.ts';
import { unwatched } from './actor-cache.ts';
import type { KnownCosts } from './costs.ts';
import {
  bytesOfAlerts,
  bytesOfCustomer,
  bytesOfState,
  bytesOfSubscription,
  MEMBER,
} from './weight.ts';

/** Members of unique meters that one actor remembers at most; more are asked of the store again. */
const MEMBERS_MAX = 50_000;

/**
 * What a customer has of one meter, in two versions. `tentative` is what the next decision sees;
 * `durable` is what the database has. They differ while a flush is on its way; both are immutable
 * values, so that neither costs a copy.
 */
export type CustomerMeter = {
  meter: Meter;
  tentative: MeterState | undefined;
  durable: MeterState | undefined;
  /** The last answer to a check of the tentative state, and until when that state says the same. */
  lastCheck: {
    readonly answer: CheckAnswer;
    readonly state: MeterState;
    /** The pool that the meter is a member of, and what the customer has of it. */
    readonly pool: Pool | null;
    readonly paying: MeterState | undefined;
    readonly until: number;
  } | null;
  /** What it takes of memory, as was last reckoned. */
  bytes: number;
};

/** What one customer's actor decides: on a meter, or on its subscriptions. */
export type CustomerEffects = MeterEffects | SubscriptionEffects;

/** What a decision has replaced in memory. */
type Replaced = MeterState | Billing | undefined | ReplacedMeters;

/** Of a decision that changes other meters, too: in their order. */
type ReplacedMeters = {
  readonly kind: 'meters';
  readonly own: MeterState | undefined;
  readonly others: readonly Replaced[];
};

function ofMeters(replaced: Replaced): ReplacedMeters {
  if (replaced !== undefined && 'kind' in replaced) return replaced;
  return { kind: 'meters', own: replaced as MeterState | undefined, others: [] };
}

const IS_ANY = (): boolean => true;

/**
 * One customer in memory, with what it has of each meter.
 *
 * Commands run to completion, one after the other, without an await: that is the only lock.
 */
export class Actor {
  customer: Customer;
  /** Since the last sweep of the directory. */
  touched = true;
  /** Decisions that are not yet durable. An actor with any may not be dropped. */
  pending = 0;
  /** Whether its customer's row was changed by somebody else while it was in use. */
  outdated = false;
  /** Whether the directory has let it go: another actor may be its customer's now. */
  dropped = false;
  /** What the next decision sees, and what the database has. */
  billing: { tentative: Billing; durable: Billing };
  /** Its own, as last read. */
  alerts: CustomerAlerts = NO_ALERTS;
  readonly costs: KnownCosts = { tentative: null, durable: null };
  /** Nothing is due of its meters before. */
  #dueFrom = -Infinity;
  readonly #customerMeters = new Map<string, CustomerMeter>();
  /** How often one of them came or went. */
  metersVersion = 0;
  /**
   * The one that was asked for last: most customers are asked about one meter, and a Map is slow to
   * reach in cold memory.
   */
  #last: CustomerMeter | undefined;
  /**
   * By account: which members the store has counted (true), and which it has not (false). May be
   * forgotten at any time.
   */
  readonly #members = new Map<string, Map<bigint, boolean>>();
  #memberCount = 0;
  /** Members that decisions on their way have counted. */
  readonly #counting = new Map<string, Set<bigint>>();
  held = 0;
  onGrown: (bytes: number) => void = unwatched;
  #bytes: number;
  #billingBytes = 0;

  constructor(
    customer: Customer,
    meters: readonly { readonly meter: Meter; readonly state: MeterState }[],
    billing: Billing,
  ) {
    this.customer = customer;
    this.billing = { tentative: billing, durable: billing };
    this.#bytes = bytesOfCustomer(customer);
    for (const { meter, state } of meters) {
      const bytes = bytesOfState(state);
      this.#customerMeters.set(meter.id, {
        meter,
        tentative: state,
        durable: state,
        lastCheck: null,
        bytes,
      });
      this.#bytes += bytes;
    }
    this.#weighBilling();
  }

  /** Takes over what the store has of its own alerts. */
  learnAlerts(alerts: CustomerAlerts): void {
    const by = bytesOfAlerts(alerts) - bytesOfAlerts(this.alerts);
    this.alerts = alerts;
    if (by !== 0) this.#grow(by);
  }

  /** Whether it has a spend cap, in either version. */
  get isCapped(): boolean {
    const { tentative, durable } = this.billing;
    return tentative.account.spendCap !== null || durable.account.spendCap !== null;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get id(): string {
    return this.customer.id;
  }

  get organisationId(): string {
    return this.customer.organisationId;
  }

  get slot(): number {
    return this.customer.slot;
  }

  get customerMeters(): ReadonlyMap<string, CustomerMeter> {
    return this.#customerMeters;
  }

  /** When time alone next changes one of its meters, or sooner. */
  get dueFrom(): number {
    return this.#dueFrom;
  }

  /** Whether nothing is due of any of its meters. */
  isUpToDate(now: number): boolean {
    return now < this.#dueFrom || this.firstDue(IS_ANY, now) === null;
  }

  /** The first of its meters that is past due, and of which that is so; null for none. */
  firstDue(isSo: (state: MeterState, meter: Meter) => boolean, now: number): string | null {
    if (now < this.#dueFrom) return null;
    let from = Infinity;
    for (const { meter, tentative, durable } of this.#customerMeters.values()) {
      for (const state of tentative === durable ? [tentative] : [tentative, durable]) {
        if (state === undefined) continue;
        if (now >= state.nextDue && isSo(state, meter)) return meter.id;
        from = Math.min(from, state.nextDue);
      }
    }
    this.#dueFrom = from;
    return null;
  }

  /** undefined: the customer never touched the meter. */
  customerMeter(meter: Meter): CustomerMeter | undefined {
    if (this.#last?.meter === meter) return this.#last;
    const customerMeter = this.#customerMeters.get(meter.id);
    if (customerMeter === undefined) return undefined;
    // One object for all customers: the next look is a comparison of pointers.
    customerMeter.meter = meter;
    this.#last = customerMeter;
    return customerMeter;
  }

  /** Takes a decision over into memory; returns the state that it replaced. */
  apply(effects: CustomerEffects): Replaced {
    assert(!this.dropped, 'a dropped actor decides nothing');
    assert(effects.customer.id === this.customer.id, 'effects go to their own actor');
    this.pending += 1;
    if (effects.kind === 'subscription') {
      assert(effects.before === this.billing.tentative, 'a decision follows from the last one');
      this.billing.tentative = effects.state;
      this.#billingChanged(effects);
      return effects.before;
    }
    const customerMeter = this.#hold(effects.meter);
    const before = customerMeter.tentative;
    customerMeter.tentative = effects.state;
    this.costs.tentative?.changed(customerMeter);
    this.#weigh(customerMeter);
    this.#count(effects);
    if (effects.beside.length === 0) return before;
    return {
      kind: 'meters',
      own: before,
      others: effects.beside.map((other) => this.apply(other)),
    };
  }

  /** Takes back the last `apply`: the decision is part of a whole that was refused. */
  unapply(effects: CustomerEffects, replaced: Replaced): void {
    if (effects.kind === 'subscription') {
      this.billing.tentative = effects.before;
      this.#billingChanged(effects);
    } else {
      const { own, others } = ofMeters(replaced);
      for (const [index, other] of effects.beside.entries()) this.unapply(other, others[index]);
      const customerMeter = this.#hold(effects.meter);
      customerMeter.tentative = own;
      this.costs.tentative?.changed(customerMeter);
      this.#weigh(customerMeter);
      this.#letGoOfNothing(customerMeter);
      this.#uncount(effects);
    }
    this.#settle();
  }

  commit(effects: CustomerEffects): void {
    if (effects.kind === 'subscription') {
      this.billing.durable = effects.state;
    } else {
      const customerMeter = this.#hold(effects.meter);
      customerMeter.durable = effects.state;
      this.costs.durable?.changed(customerMeter);
      this.#wakeAt(effects.state);
      this.#uncount(effects);
      for (const { accountId, member } of effects.members) {
        this.#members.get(accountId)?.set(member, true);
      }
      for (const other of effects.beside) this.commit(other);
    }
    this.#settle();
  }

  /**
   * Back to what is durable. Called for each decision that was in flight, of which each touched its
   * own.
   */
  rollback(effects: CustomerEffects): void {
    if (effects.kind === 'subscription') {
      this.billing.tentative = this.billing.durable;
      this.#billingChanged(effects);
    } else {
      const customerMeter = this.#hold(effects.meter);
      customerMeter.tentative = customerMeter.durable;
      this.costs.tentative?.changed(customerMeter);
      this.#weigh(customerMeter);
      this.#letGoOfNothing(customerMeter);
      this.#uncount(effects);
      for (const other of effects.beside) this.rollback(other);
    }
    this.#settle();
  }

  #hold(meter: Meter): CustomerMeter {
    const known = this.customerMeter(meter);
    if (known !== undefined) return known;
    const customerMeter = {
      meter,
      tentative: undefined,
      durable: undefined,
      lastCheck: null,
      bytes: 0,
    };
    this.#customerMeters.set(meter.id, customerMeter);
    this.metersVersion += 1;
    return customerMeter;
  }

  /** What was refused has left nothing on the meter. */
  #letGoOfNothing(customerMeter: CustomerMeter): void {
    if (customerMeter.tentative !== undefined || customerMeter.durable !== undefined) return;
    this.#customerMeters.delete(customerMeter.meter.id);
    this.metersVersion += 1;
    if (this.#last === customerMeter) this.#last = undefined;
  }

  #settle(): void {
    this.pending -= 1;
    assert(this.pending >= 0, 'a decision was settled twice');
  }

  #wakeAt({ nextDue }: MeterState): void {
    if (nextDue < this.#dueFrom) this.#dueFrom = nextDue;
  }

  /** Reckons what it takes now. */
  #weigh(customerMeter: CustomerMeter): void {
    const state = customerMeter.tentative ?? customerMeter.durable;
    if (state !== undefined) this.#wakeAt(state);
    const bytes = state === undefined ? 0 : bytesOfState(state);
    if (bytes === customerMeter.bytes) return;
    const by = bytes - customerMeter.bytes;
    customerMeter.bytes = bytes;
    this.#grow(by);
  }

  #billingChanged({ account }: SubscriptionEffects): void {
    this.#weighBilling();
    if (account === null) return;
    // What was answered, and reckoned, may have been by another spend cap.
    this.costs.tentative = null;
    this.costs.durable = null;
    for (const customerMeter of this.#customerMeters.values()) customerMeter.lastCheck = null;
  }

  #weighBilling(): void {
    let bytes = 0;
    for (const one of this.billing.tentative.subscriptions.values()) {
      bytes += bytesOfSubscription(one);
    }
    const by = bytes - this.#billingBytes;
    this.#billingBytes = bytes;
    if (by !== 0) this.#grow(by);
  }

  #grow(by: number): void {
    this.#bytes += by;
    this.onGrown(by);
  }

  #count({ members }: MeterEffects): void {
    for (const { accountId, member } of members) {
      const counting = this.#counting.get(accountId) ?? new Set<bigint>();
      this.#counting.set(accountId, counting.add(member));
    }
  }

  #uncount({ members }: MeterEffects): void {
    for (const { accountId, member } of members) {
      const counting = this.#counting.get(accountId);
      counting?.delete(member);
      if (counting?.size === 0) this.#counting.delete(accountId);
    }
  }

  readonly seen: Seen = (accountId, member) =>
    this.#counting.get(accountId)?.has(member) === true
      ? true
      : this.#members.get(accountId)?.get(member);

  /** Takes over what the store knows of these members. */
  learnMembers(accountId: string, members: readonly bigint[], counted: readonly bigint[]): void {
    if (this.#memberCount > MEMBERS_MAX) {
      this.#members.clear();
      this.#grow(-this.#memberCount * MEMBER);
      this.#memberCount = 0;
    }
    const known = this.#members.get(accountId) ?? new Map<bigint, boolean>();
    this.#members.set(accountId, known);
    const before = known.size;
    // What memory counted while the question was under way stays counted.
    for (const member of members) if (!known.has(member)) known.set(member, false);
    for (const member of counted) known.set(member, true);
    this.#memberCount += known.size - before;
    this.#grow((known.size - before) * MEMBER);
  }

  /**
   * Adds what late events are settled by. What memory knows is newer there: nobody else writes it.
   */
  learnHistory(meterId: string, history: History): void {
    const customerMeter = this.#customerMeters.get(meterId);
    if (customerMeter === undefined) return;
    const { tentative, durable } = customerMeter;
    customerMeter.tentative = tentative && withHistory(tentative, history);
    customerMeter.durable = durable && withHistory(durable, history);
    this.costs.tentative?.changed(customerMeter);
    this.costs.durable?.changed(customerMeter);
    this.#weigh(customerMeter);
  }
}

function withHistory(state: MeterState, { periods, marks, ended }: History): MeterState {
  const known = new Set([state.current, ...state.others].map((period) => period.accountId));
  const others = [...state.others, ...periods.filter((period) => !known.has(period.accountId))];
  others.sort((a, b) => a.start - b.start);
  const isMarked = new Set(state.marks.map(keyOf));
  const isGrant = new Set([...state.ended, ...state.grants].map(({ id }) => id));
  return {
    ...state,
    others,
    marks: [...marks.filter((mark) => !isMarked.has(keyOf(mark))), ...state.marks].toSorted(
      (a, b) => a.start - b.start,
    ),
    ended: [...ended.filter(({ id }) => !isGrant.has(id)), ...state.ended],
    historyLoaded: true,
  };
}

const keyOf = ({ accountId, start }: StretchMark): string => `${accountId} ${start}`;
