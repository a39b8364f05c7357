import { LateBudget } from '../metering/settlement/anew.ts';
import { entitlementId, periodAccountId, usageAccountId } from '../kernel/derived-ids.ts';
import { DUE_WORK_MAX, METERS_KEPT_MAX } from '../limits.ts';
import { type Meter, type MeterState, emptyMeterState, emptyPeriod } from '../metering/meter.ts';
import { advanced } from '../metering/advance.ts';
import { dueWork, recoversFirst, sleepsLong, workBefore } from '../metering/asleep.ts';
import type { Alert, AlertsOf } from '../metering/alert.ts';
import type { Alerts } from '../metering/alerts.ts';
import { creditsAsIs, creditsOfMember, creditsOfPool } from '../metering/credits.ts';
import type { Affords, Credits, MeterContext } from '../metering/meter-draft.ts';
import type { Pool, PoolOf } from '../metering/pool.ts';
import type { Payment } from '../payments/payment.ts';
import type { PaymentContext } from '../payments/payment-draft.ts';
import type { Wants } from '../event.ts';
import type { Ids, SharedClock } from '../ports.ts';
import { type SpanCosts, Spending } from '../subscriptions/spend-cap.ts';
import type { Billing } from '../subscriptions/subscription.ts';
import type { SubscriptionContext } from '../subscriptions/subscription-draft.ts';
import type { Actor } from './actor.ts';
import { BoundedCache } from './bounded-cache.ts';
import { Costs, type KnownCosts, mayCost, type Version } from './costs.ts';
import { type Holdings, MembersNow, PoolMembers } from './pool-members.ts';

/** A meter that is to be moved to now, before the decision that lacks it. */
export type Asleep = {
  readonly kind: 'asleep';
  readonly meterId: string;
  /** Whether more is due of it than one decision does. */
  readonly isLong: boolean;
};

/** What the rules may know of a customer: of its actor, or of a copy that is at another time. */
export type Known = Pick<Actor, 'customer' | 'billing' | 'alerts'> &
  Holdings & {
    readonly now?: number;
    /** Under a spend cap, once it was asked; each meter that changes tells it. */
    readonly costs: KnownCosts;
  };

type ContextsDeps = {
  readonly ids: Ids;
  readonly orgClock: SharedClock;
  readonly bounds: CustomerBounds;
  readonly wants: Wants;
  readonly alertsOf: AlertsOf;
  readonly poolOf: PoolOf;
  /** The number of this node's seat: the other sides of its transfers belong to it. */
  readonly node: number;
};

/** The bounds of one customer. Infinity: no bound. */
export type CustomerBounds = {
  /** Meters that the customer has anything on. */
  readonly meters: number;
  readonly grantsPerMeter: number;
  /** Of all meters. What a plan gives is bounded by the subscriptions: it is not refused. */
  readonly grants: number;
  /** Live subscriptions. At the bound only one that was paid for starts. */
  readonly subscriptions: number;
};

/**
 * What the pure rules get beside the state that they decide on: the time, ids, bounds, accounts.
 */
export class Contexts {
  /** Of the unit that is decided. */
  readonly late = new LateBudget();
  readonly #deps: ContextsDeps;
  readonly #meters = new BoundedCache<Meter>(METERS_KEPT_MAX);
  /** Of what a customer is billed: an immutable value. */
  readonly #spending = new WeakMap<Billing, Spending>();
  readonly #spanCosts: SpanCosts = new WeakMap();
  readonly #members = new PoolMembers();
  readonly #books = new BoundedCache<MeterContext['books']>(METERS_KEPT_MAX);

  constructor(deps: ContextsDeps) {
    this.#deps = deps;
  }

  /** One object for each meter. The fields that usage depends on never change. */
  meter(meter: Meter): Meter {
    return this.#meters.get(meter.id) ?? this.#meters.keep(meter.id, meter);
  }

  ofMeter(actor: Known, meter: Meter, version: Version = 'tentative'): MeterContext {
    const pool = this.#deps.poolOf(meter);
    if (pool === null) return this.#alone(actor, meter, version);
    return this.#alone(actor, meter, version, this.#creditsOf(actor, meter, { pool, version }));
  }

  /** `credits`: null without the meters that it shares credits with. */
  #alone(
    actor: Known,
    meter: Meter,
    version: Version,
    credits: Credits | null = null,
  ): MeterContext {
    const { ids, bounds } = this.#deps;
    const { customer, billing } = actor;
    const { subscriptions, account } = billing[version];
    return {
      customer,
      meter,
      now: this.nowOf(actor),
      ids,
      grantsMax: bounds.grantsPerMeter,
      subscriptions,
      books: this.#booksOf(meter),
      affords: account.spendCap === null ? null : this.affordsOf(actor, meter, version),
      alerts: this.#alertsFor(actor, meter),
      credits,
      late: this.late,
    };
  }

  #creditsOf(
    actor: Known,
    meter: Meter,
    { pool, version }: { readonly pool: Pool; readonly version: Version },
  ): Credits {
    const alone = (one: Meter): MeterContext => this.#alone(actor, one, version);
    // Mostly nothing is due of any meter, so nobody looks at each of a pool's.
    const { dueFrom = -Infinity } = actor;
    const members = new MembersNow(this.#members.of(pool, actor), version, {
      contextOf: alone,
      dueFrom: this.nowOf(actor) < dueFrom ? dueFrom : null,
    });
    if (pool.meter.id === meter.id) return creditsOfPool(pool, members);
    const paying = this.meter(pool.meter);
    const side = { context: alone(paying), state: this.#stateOf(actor, paying, version) };
    return creditsOfMember(pool, side, { meterId: meter.id, members });
  }

  /** For a decision that moves nothing else: of a member, its pool pays as it is. */
  apart(actor: Known, meter: Meter): MeterContext {
    const version = 'tentative';
    const pool = this.#deps.poolOf(meter);
    if (pool === null || pool.meter.id === meter.id) return this.#alone(actor, meter, version);
    const paying = this.meter(pool.meter);
    const state = this.#stateOf(actor, paying, version);
    const side = { context: this.#alone(actor, paying, version), state };
    return this.#alone(actor, meter, version, creditsAsIs(pool, side));
  }

  #stateOf(actor: Known, meter: Meter, version: Version): MeterState {
    const known = actor.customerMeters.get(meter.id);
    return known?.[version] ?? this.emptyState(actor, meter);
  }

  /** What the customer's spend cap leaves in one version of its memory; null without a cap. */
  affordsOf(actor: Known, meter: Meter, version: Version): Affords | null {
    const spending = this.spendingOf(actor, version);
    if (spending === null) return null;
    return (before, after) => {
      const others = this.costsOf(actor, version, spending).promisedBeside(
        actor.customerMeters,
        meter,
      );
      return spending.allows({ meter, before, after }, others);
    };
  }

  /** What the customer's usage comes to under its spend cap, now. */
  costsOf(actor: Known, version: Version, spending: Spending): Costs {
    const kept = actor.costs[version];
    const costs = kept?.spending === spending ? kept : new Costs(spending, version);
    actor.costs[version] = costs;
    costs.update(actor.customerMeters, {
      now: this.nowOf(actor),
      advanced: (meter, state) => advanced(this.ofMeter(actor, meter, version), state),
    });
    return costs;
  }

  /** null without a spend cap. */
  spendingOf(actor: Known, version: Version): Spending | null {
    const billing = actor.billing[version];
    const { spendCap } = billing.account;
    if (spendCap === null) return null;
    const now = this.nowOf(actor);
    const known = this.#spending.get(billing);
    if (known?.isOf(now) === true) return known;
    const spending = new Spending(spendCap, billing, now, this.#spanCosts);
    this.#spending.set(billing, spending);
    return spending;
  }

  /** What is to be done before anything is decided on a meter; null for nothing. */
  asleepBefore(actor: Actor, context: MeterContext, state: MeterState): Asleep | null {
    if (actor.isUpToDate(context.now)) return null;
    const sleeper = this.sleeperBehind(actor, context, { state, max: DUE_WORK_MAX });
    if (sleeper !== null) return sleeper;
    const recovering = recoversFirst(context, state);
    return recovering === null ? null : { kind: 'asleep', meterId: recovering, isLong: false };
  }

  /**
   * A meter of which something is due, where more than `max` is due of all that the answer depends
   * on: under a spend cap, all that are sold.
   */
  sleeperBehind(
    actor: Actor,
    context: MeterContext,
    { state, max }: { readonly state: MeterState; readonly max: number },
  ): Asleep | null {
    if (actor.isUpToDate(context.now)) return null;
    const meterId = sleepsLong(context, state, max);
    if (meterId === null) return actor.isCapped ? this.sleeperAmongSold(actor) : null;
    return { kind: 'asleep', meterId, isLong: workBefore(context, state) > DUE_WORK_MAX };
  }

  /** The same of the meters that a spend cap is about, before one is set or asked. */
  sleeperAmongSold(actor: Actor): Asleep | null {
    const now = this.nowOf(actor);
    let work = 0;
    const meterId = actor.firstDue((one) => {
      if (mayCost(one)) work += dueWork(one, now);
      return work > DUE_WORK_MAX;
    }, now);
    return meterId === null ? null : { kind: 'asleep', meterId, isLong: true };
  }

  /**
   * A meter that is due, and is much by itself; or one whose pool is, with all that shares its
   * credits. All pools count together: a decision on a subscription may move each of them.
   */
  sleeperBefore(actor: Actor, isMuch: (state: MeterState) => boolean): Asleep | null {
    const now = this.nowOf(actor);
    const weighed = new Set<Pool>();
    let work = 0;
    const meterId = actor.firstDue((state, meter) => {
      const pool = this.#deps.poolOf(meter);
      if (pool === null) return isMuch(state);
      if (weighed.has(pool)) return false;
      weighed.add(pool);
      work += workBefore(this.ofMeter(actor, meter), this.stateOf(actor, meter));
      return work > DUE_WORK_MAX;
    }, now);
    return meterId === null ? null : { kind: 'asleep', meterId, isLong: true };
  }

  #alertsFor({ customer, alerts: own }: Known, meter: Meter): Alerts | null {
    const { alertsOf, wants } = this.#deps;
    const ofAll = alertsOf(meter);
    const ofOne = own.get(meter.id) ?? NONE;
    if (ofAll.length === 0 && ofOne.length === 0) return null;
    const all = ofOne.length === 0 ? ofAll : [...ofAll, ...ofOne];
    return { all, hears: (type) => wants(customer, type), mayFire: true };
  }

  /** The customer as at an earlier time. */
  knownAt({ customer, billing, alerts, customerMeters, metersVersion }: Actor, now: number): Known {
    return {
      customer,
      billing,
      alerts,
      customerMeters,
      metersVersion,
      now,
      costs: { tentative: null, durable: null },
    };
  }

  nowOf({ customer, now }: Known): number {
    return now ?? this.#deps.orgClock.now(customer);
  }

  ofSubscriptions(actor: Known): Omit<SubscriptionContext, 'spans'> {
    return { customer: actor.customer, now: this.nowOf(actor), ids: this.#deps.ids };
  }

  ofPayment({ organisationId, mode, currency }: Payment): PaymentContext {
    const { orgClock, ids, node } = this.#deps;
    const clearing = ids.derive('clearing', organisationId, mode, currency, String(node));
    return { now: orgClock.now({ organisationId, mode }), ids, clearing };
  }

  stateOf(actor: Actor, meter: Meter): MeterState {
    return actor.customerMeter(meter)?.tentative ?? this.emptyState(actor, meter);
  }

  /** The state of a meter that the customer never used. */
  emptyState(actor: Known, meter: Meter): MeterState {
    const { ids } = this.#deps;
    const key = { customerId: actor.customer.id, meterId: meter.id };
    const period = emptyPeriod(periodAccountId(ids, { ...key, start: 0 }), 0, null);
    // There is nothing to load of it.
    return { ...emptyMeterState(meter, entitlementId(ids, key), period), historyLoaded: true };
  }

  /** Whether the customer has this meter or may have one more. */
  hasRoom(actor: Actor, meter: Meter): boolean {
    return (
      actor.customerMeter(meter) !== undefined ||
      actor.customerMeters.size < this.#deps.bounds.meters
    );
  }

  /** Whether the customer may be given one more grant by hand. */
  hasRoomForGrant(actor: Actor): boolean {
    let grants = 0;
    for (const { tentative } of actor.customerMeters.values()) {
      grants += tentative?.grants.length ?? 0;
    }
    return grants < this.#deps.bounds.grants;
  }

  #booksOf(meter: Meter): MeterContext['books'] {
    const known = this.#books.get(meter.id);
    if (known !== undefined) return known;
    const { ids } = this.#deps;
    const node = String(this.#deps.node);
    return this.#books.keep(meter.id, {
      usage: usageAccountId(ids, meter.id, this.#deps.node),
      grants: ids.derive('grants', meter.id, node),
    });
  }
}

const NONE: readonly Alert[] = [];
