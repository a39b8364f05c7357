import { iso } from '../kernel/iso.ts';
import { assert, must } from '../kernel/assert.ts';
import type { LedgerEvent } from '../event.ts';
import { type Alerts, fireAlerts, recoverAlerts, type Telling } from './alerts.ts';
import { alertData } from './event-data.ts';
import { type Grant, burn, leaderOf, withGrant } from './grants.ts';
import {
  type Customer,
  type Meter,
  type MeterState,
  type Period,
  balance,
  nextDueOf,
  snapshotOf,
  spentOf,
} from './meter.ts';
import type {
  CountedMember,
  MeterEffects,
  PeriodChange,
  PooledPeriod,
  SpanChange,
} from './meter-effects.ts';
import type { Pool } from './pool.ts';
import type { Ids } from '../ports.ts';
import { OwnLists, put, remove, startingAt } from './in-order.ts';
import { promised } from './promised.ts';
import { type Reservation, withReservation } from './reservation.ts';
import { boundaryAt, type StretchMark } from './stretch.ts';
import { keptSince, withEnded, withMarks } from './settlement/kept.ts';
import type { Span } from './span.ts';
import { inRange } from '../kernel/quantity.ts';
import { type AutoTopUp, look } from '../topups/auto-topup.ts';
import { orderOf, type TopUpOrder } from '../topups/order.ts';
import { type Began, externalIdOf } from './signup.ts';
import type { Transfer } from '../kernel/transfers.ts';

/** What a decision may know besides the state. */
export type MeterContext = {
  readonly customer: Customer;
  readonly meter: Meter;
  readonly now: number;
  readonly ids: Ids;
  /** Grants that may be live on the meter, scheduled ones too. */
  readonly grantsMax: number;
  /** Of the customer, by id: what its allowances are given by. */
  readonly subscriptions: ReadonlyMap<string, Began>;
  /** The other side of this meter's transfers on the deciding node. */
  readonly books: { readonly usage: string; readonly grants: string };
  /** null where the customer has no spend cap. */
  readonly affords: Affords | null;
  /** null where the meter has no alerts for this customer. */
  readonly alerts: Alerts | null;
  /** null where the meter is no pool and no member of one. */
  readonly credits: Credits | null;
  /** Of the unit: over how much late usage may still be settled (`settlement/anew.ts`). */
  readonly late: { left: number };
};

/** What a decision on a meter does to the pool that pays for it, or to the members of the pool (`credits.ts`). */
export type Credits = {
  readonly pool: Pool;
  /** null on the pool itself. */
  readonly payer: Payer | null;
  /** The same, where the pool fires no alerts. */
  quietly(): Credits;
  /**
   * Whether what the decision draws so far leaves the totals of the pool in range. The member's state
   * says from now on that the pool pays.
   */
  mayDraw(draft: MeterDraft): boolean;
  /** When time alone next changes one of the other meters, or sooner. Costs a part of `others`. */
  dueFrom(): number;
  /** The other meters: of a member, the pool and its other members. */
  others(): readonly MeterState[];
  /** What leads on the pool, or on its members. */
  leaders(): readonly Grant[];
  /** Of a pool: what is due of its members, before anything is decided on it. */
  catchUp(draft: MeterDraft): void;
  /** Called once, when everything else is decided. Returns what it changes on other meters. */
  settle(draft: MeterDraft): readonly MeterEffects[];
};

export type Payer = {
  readonly context: MeterContext;
  /** As it is now, for a question. */
  now(): MeterState;
  /** The same, for a decision. */
  open(): MeterDraft;
};

/**
 * Whether the customer's spend cap leaves room for usage that takes the meter from one state to
 * another.
 */
export type Affords = (before: MeterState, after: MeterState) => boolean;

/**
 * The state of a meter while a decision changes it, and what that writes. Lives inside one
 * decision. Most decisions record one usage: they have a transfer, a period and nothing else, so
 * the rest is made when it is needed.
 */
export class MeterDraft {
  readonly context: MeterContext;
  readonly transfers: Transfer[] = [];
  readonly before: MeterState;
  state: MeterState;
  /** The account of a period for which what is drawn of a pool was admitted only because it fits. */
  guarded: string | null = null;
  #stateChanged = false;
  #isArmed = false;
  /** Before the first use that tells; null without one, and where there are no alerts. */
  #beforeUse: MeterState | null = null;
  readonly #periods: PeriodChange[] = [];
  #grants: Map<string, Grant> | null = null;
  #members: CountedMember[] | null = null;
  #events: LedgerEvent[] | null = null;
  #spans: Map<string, SpanChange> | null = null;
  #marks: StretchMark[] | null = null;
  #reservations: Map<string, Reservation> | null = null;
  #pooled: PooledPeriod[] | null = null;
  #pool: MeterDraft | null = null;
  readonly #lists = new OwnLists();
  #topUpChanged = false;
  #topUpOrders: TopUpOrder[] | null = null;
  /** Of a pool. */
  #poolMembers: Map<string, MeterDraft> | null = null;
  /** Of a member: the state for which its pool has paid in this decision. */
  drawn: MeterState;

  constructor(context: MeterContext, state: MeterState) {
    this.context = context;
    this.before = state;
    this.state = state;
    this.drawn = state;
  }

  /** The pool's side of this decision; null where no pool pays. */
  get pool(): MeterDraft | null {
    const payer = this.context.credits?.payer ?? null;
    if (payer === null) return null;
    this.#pool ??= payer.open();
    return this.#pool;
  }

  /** See `Credits.mayDraw`. */
  mayDraw(): boolean {
    return this.context.credits?.mayDraw(this) ?? true;
  }

  /** Of a pool: a member of it in this decision. */
  member(meterId: string, make: () => MeterDraft): MeterDraft {
    this.#poolMembers ??= new Map();
    const known = this.#poolMembers.get(meterId) ?? make();
    this.#poolMembers.set(meterId, known);
    return known;
  }

  get members(): readonly MeterDraft[] {
    return this.#poolMembers === null ? NONE : [...this.#poolMembers.values()];
  }

  /**
   * Many steps in a row, between which nobody keeps a state: each costs the same, however many
   * periods and spans there are.
   */
  inARow(steps: () => void): void {
    this.#lists.own();
    steps();
    this.#lists.share();
  }

  get isChanged(): boolean {
    return this.state !== this.before;
  }

  /** Replaces fields that the meter's own row holds. */
  change(fields: Partial<MeterState>): void {
    this.state = { ...this.state, ...fields };
    this.#stateChanged = true;
  }

  /** Replaces fields of a period of the state, and writes its account. Returns the period. */
  changePeriod(before: Period, fields: Partial<Omit<Period, 'accountId'>>): Period {
    const after = { ...before, ...fields, opened: true, updatedAt: this.context.now };
    assert(after.granted >= 0n && after.reserved >= 0n, 'I4: totals are never negative');
    assert(after.consumed === (after.aggregate > 0n ? after.aggregate : 0n), 'I4: the floor');
    this.#periods.push({ before, after });
    if (this.state.current.accountId === after.accountId) {
      const isUse = after.consumed > before.consumed || after.reserved > before.reserved;
      if (isUse) this.firesSince(this.state);
      this.state = { ...this.state, current: after };
      return after;
    }
    this.state = { ...this.state, others: this.othersWith(after) };
    return after;
  }

  /** Alerts that are past at the end and were not past then have been reached by this decision. */
  firesSince(before: MeterState): void {
    if (this.context.alerts !== null) this.#beforeUse ??= before;
  }

  /** The other periods, and this one among them. */
  othersWith(period: Period): readonly Period[] {
    const others = this.#lists.mine(this.state.others);
    put(others, period, ({ accountId }) => accountId === period.accountId);
    return others;
  }

  /** A pool pays for the period from now on. */
  payBy(period: Period, rate: bigint): void {
    const paid = { ...period, rate };
    const { accountId } = period;
    (this.#pooled ??= []).push({ accountId, rate });
    if (this.state.current.accountId === accountId) this.state = { ...this.state, current: paid };
    else this.state = { ...this.state, others: this.othersWith(paid) };
  }

  countMember(accountId: string, member: bigint): void {
    (this.#members ??= []).push({ accountId, member });
  }

  /** Replaces or adds a grant; one that has ended leaves the state and stays in the store. */
  putGrant(grant: Grant): void {
    this.#write(grant);
    const { grants, ended } = this.state;
    this.change({
      grants: withGrant(grants, grant),
      ended: withEnded(ended, grant, this.#keptSince),
    });
  }

  /** Replaces or adds a span; without `isLive` it leaves the state and stays in the store. */
  putSpan(span: Span, isLive = true): void {
    this.#spans ??= new Map();
    this.#spans.set(span.id, { span, isLive });
    const spans = this.#lists.mine(this.state.spans);
    const isSame = ({ id }: Span): boolean => id === span.id;
    if (isLive) put(spans, span, isSame);
    else remove(spans, span.start, isSame);
    this.#setSpans(spans);
  }

  /** Replaces many spans of the state at once. */
  changeSpans(changed: readonly Span[]): void {
    if (changed.length === 0) return;
    this.#spans ??= new Map();
    for (const span of changed) this.#spans.set(span.id, { span, isLive: true });
    const byId = new Map(changed.map((span) => [span.id, span]));
    this.#setSpans(this.state.spans.map((span) => byId.get(span.id) ?? span));
  }

  /** Many spans leave the state at once; they stay in the store. */
  dropSpans(dropped: readonly Span[]): void {
    if (dropped.length === 0) return;
    this.#spans ??= new Map();
    for (const span of dropped) this.#spans.set(span.id, { span, isLive: false });
    const ids = new Set(dropped.map(({ id }) => id));
    this.#setSpans(this.state.spans.filter(({ id }) => !ids.has(id)));
  }

  /** Spans have rows of their own: the meter's row stays as it is. */
  #setSpans(spans: readonly Span[]): void {
    this.state = { ...this.state, spans };
  }

  /**
   * Replaces or adds a reservation; one that is resolved leaves the state and stays in the store.
   * Reservations have rows of their own: the meter's row changes only where one expires before the
   * meter's alarm.
   */
  putReservation(reservation: Reservation): void {
    this.#reservations ??= new Map();
    this.#reservations.set(reservation.id, reservation);
    const reservations = withReservation(this.state.reservations, reservation);
    this.state = { ...this.state, reservations };
    if (reservation.status === 'open' && reservation.expiresAt < this.state.nextDue) {
      this.#stateChanged = true;
    }
  }

  /** Replaces the automatic top-up. A charge that begins with it is ordered. */
  changeTopUp(next: AutoTopUp): void {
    const { topUp: before } = this.state;
    if (next === before) return;
    const { now } = this.context;
    this.change({ topUp: { ...next, updatedAt: now } });
    this.#topUpChanged = true;
    const { charge } = next;
    if (charge === null || charge.paymentId === before?.charge?.paymentId) return;
    this.#topUpOrders ??= [];
    this.#topUpOrders.push(orderOf(this.context, next, charge));
  }

  /** What the decision leaves may be too little: then a top-up is ordered with it. */
  #lookAtLevel(topUp: AutoTopUp): void {
    const { ids, now, customer, meter } = this.context;
    const next = look(topUp, {
      level: balance(snapshotOf(this.state)),
      now,
      mayTake: (amount) => inRange(promised(this.state) + amount),
      paymentId: (number) => ids.derive('top-up', customer.id, meter.id, String(number)),
    });
    this.changeTopUp(next);
  }

  /** Settles what is used and held on the grants, so that their set may change: of a level nothing. */
  checkpoint(): void {
    if (this.state.isLevel) return;
    if (this.state.current.reserved > 0n) this.#takeOver();
    const spent = spentOf(this.state);
    const due = spent - this.state.allocated;
    assert(due >= 0n, 'what is used or held no more is settled at once');
    const { grants, rest } = burn(this.state.grants, due);
    this.burned(grants);
    this.change({ allocated: spent - rest });
  }

  /** What a node of the release before has settled of holds. */
  #takeOver(): void {
    const { accountId } = this.state.current;
    for (const one of this.state.reservations) {
      if (one.settled === 0n || one.accountId !== accountId) continue;
      this.change({ allocated: this.state.allocated + one.settled });
      this.putReservation({ ...one, settled: 0n });
    }
  }

  /** A boundary of the current period (balance.md 1): what was used before it is settled, and kept apart. */
  boundary(at: number): void {
    this.checkpoint();
    const { current, isLevel, stretch } = this.state;
    const { accountId, aggregate, start: begin, end } = current;
    if (isLevel || at < begin || (end !== null && at >= end)) return;
    const isUsed = aggregate !== stretch.aggregate;
    const start = boundaryAt(this.state, at, isUsed);
    if (start === stretch.start && !isUsed) return;
    this.change({ stretch: { start, aggregate } });
    if (isUsed) this.putMarks([{ accountId, start, aggregate, carried: [] }]);
  }

  putMarks(marks: readonly StretchMark[]): void {
    if (marks.length === 0) return;
    (this.#marks ??= []).push(...marks);
    this.state = { ...this.state, marks: withMarks(this.state.marks, marks, this.#keptSince) };
  }

  get #keptSince(): number {
    return keptSince(this.state.reservations, this.context.now);
  }

  /** The same grants, of which more or less is used. */
  burned(grants: readonly Grant[]): void {
    if (grants === this.state.grants) return;
    for (const [index, grant] of grants.entries()) {
      if (grant !== this.state.grants[index]) this.#write(grant);
    }
    this.change({ grants });
  }

  /** As the store is to hold it after the decision. */
  #write(grant: Grant): void {
    this.#grants ??= new Map();
    this.#grants.set(grant.id, grant);
  }

  /** The period of an account that memory has. */
  period(accountId: string): Period {
    const isIts = (one: Period): boolean => one.accountId === accountId;
    const { current, others } = this.state;
    return isIts(current) ? current : must(others.findLast(isIts), 'memory has its period');
  }

  /** A period that is in the state, as it is by now. */
  again({ accountId, start }: Period): Period {
    const { current, others } = this.state;
    if (current.accountId === accountId) return current;
    return must(startingAt(others, start), 'a period stays in its place');
  }

  /** Credits a period's account, the current one's by default, or takes a credit back. */
  credit(id: string, amount: bigint, at: number, before: Period = this.state.current): void {
    if (amount === 0n) return;
    this.transfers.push({
      id,
      kind: amount > 0n ? 'single' : 'reverse',
      slot: this.context.customer.slot,
      debit: this.context.books.grants,
      credit: before.accountId,
      amount: amount > 0n ? amount : -amount,
      hold: null,
      at,
      usage: null,
    });
    this.changePeriod(before, { granted: before.granted + amount });
  }

  /** After a grant, and in a new period, what was announced may be announced again. */
  arm(): void {
    this.#isArmed = true;
    this.change({ exhausted: false });
  }

  /** Takes back alerts, where something since the last time may have led back from them. */
  settleAlerts(at: number): void {
    if (!this.#isArmed) return;
    this.#isArmed = false;
    recoverAlerts(this, at);
  }

  /** Returns the id of the event. */
  announceAlert(type: 'alert.triggered' | 'alert.recovered', telling: Telling): string {
    const data = alertData(this.context.meter, this.state, telling);
    return this.event(type, { at: telling.at, by: leaderOf(this.state.grants) }, data);
  }

  /**
   * `by`: the grant that caused it. For a grant of a subscription, what caused that grant. Returns
   * the id of the event.
   */
  event(
    type: LedgerEvent['type'],
    { at, by }: { readonly at: number; readonly by: Grant | null },
    data: Record<string, unknown>,
  ): string {
    const { customer, meter, ids, subscriptions } = this.context;
    const subscription = subscriptions.get(by?.subscriptionId ?? '');
    const timestamp = Math.max(at, this.state.eventAt + 1);
    const sequence = this.state.sequence + 1n;
    const { periodStart, periodEnd } = snapshotOf(this.state);
    const id = ids.next();
    this.#events ??= [];
    this.#events.push({
      id,
      type,
      objectType: 'ENTITLEMENT',
      objectId: this.state.entitlementId,
      accountId: customer.id,
      timestamp,
      sequence,
      data: {
        customerId: customer.id,
        externalCustomerId:
          subscription === undefined ? customer.externalId : externalIdOf(subscription, customer),
        // The merchant's own id is not in memory: it is added where the event is written.
        ...(subscription !== undefined && { metadata: subscription.signup.metadata }),
        featureKey: meter.slug,
        meterId: meter.id,
        periodStart: iso(periodStart),
        periodEnd: iso(periodEnd),
        ...data,
      },
    });
    this.change({ sequence, eventAt: timestamp });
    return id;
  }

  /** The state at the end: alerts, the top-up and the next due time are settled, once. */
  settled(): MeterState {
    this.settleAlerts(this.context.now);
    if (this.#beforeUse !== null) fireAlerts(this, this.#beforeUse);
    if (this.state.topUp !== null) this.#lookAtLevel(this.state.topUp);
    if (this.#stateChanged) {
      const nextDue = nextDueOf(this.state);
      this.state = { ...this.state, nextDue };
    }
    return this.state;
  }

  /** The finished effects, with those on other meters. */
  effects(): MeterEffects {
    const beside = this.context.credits?.settle(this) ?? NONE;
    this.settled();
    return {
      kind: 'meter',
      customer: this.context.customer,
      meter: this.context.meter,
      state: this.state,
      transfers: this.transfers,
      periods: this.#periods,
      grants: this.#grants === null ? NONE : [...this.#grants.values()],
      events: this.#events ?? NONE,
      members: this.#members ?? NONE,
      spans: this.#spans === null ? NONE : [...this.#spans.values()],
      marks: this.#marks ?? NONE,
      reservations: this.#reservations === null ? NONE : [...this.#reservations.values()],
      pooled: this.#pooled ?? NONE,
      beside,
      topUpChanged: this.#topUpChanged,
      topUpOrders: this.#topUpOrders ?? NONE,
      stateChanged: this.#stateChanged,
    };
  }
}

const NONE: readonly never[] = [];
