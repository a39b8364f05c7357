import { entitlementId, periodAccountId, usageAccountId } from '../kernel/derived-ids.ts';
import { METERS_KEPT_MAX } from '../limits.ts';
import { type Meter, type MeterState, emptyMeterState, emptyPeriod } from '../metering/meter.ts';
import { advanced } from '../metering/advance.ts';
import type { Alert, AlertsOf } from '../metering/alert.ts';
import type { Alerts } from '../metering/alerts.ts';
import { withReserved } from '../metering/capped.ts';
import { type Side, creditsOfMember, creditsOfPool } from '../metering/credits.ts';
import type { Affords, Credits, MeterContext } from '../metering/meter-draft.ts';
import type { Pool, PoolOf } from '../metering/pool.ts';
import type { Payment } from '../payments/payment.ts';
import type { PaymentContext } from '../payments/payment-draft.ts';
import type { Wants } from '../event.ts';
import type { Ids, SharedClock } from '../ports.ts';
import { type ClosedCosts, type MeterNow, Spending } from '../subscriptions/spend-cap.ts';
import type { Billing } from '../subscriptions/subscription.ts';
import type { SubscriptionContext } from '../subscriptions/subscription-draft.ts';
import type { Actor } from './actor.ts';
import { BoundedCache } from './bounded-cache.ts';

/** Of a customer's memory: what the next decision sees, and what the database has. */
export type Version = 'tentative' | 'durable';

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
  /** Live subscriptions. At the bound only one that was paid for starts. */
  readonly subscriptions: number;
};

/**
 * What the pure rules get beside the state that they decide on: the time, ids, bounds, accounts.
 */
export class Contexts {
  readonly #deps: ContextsDeps;
  readonly #meters = new BoundedCache<Meter>(METERS_KEPT_MAX);
  /** Of what a customer is billed: an immutable value. */
  readonly #spending = new WeakMap<Billing, Spending>();
  readonly #closedCosts: ClosedCosts = new WeakMap();
  readonly #memberIds = new WeakMap<Pool, ReadonlySet<string>>();
  readonly #books = new BoundedCache<MeterContext['books']>(METERS_KEPT_MAX);

  constructor(deps: ContextsDeps) {
    this.#deps = deps;
  }

  /** One object for each meter. The fields that usage depends on never change. */
  meter(meter: Meter): Meter {
    return this.#meters.get(meter.id) ?? this.#meters.keep(meter.id, meter);
  }

  ofMeter(actor: Actor, meter: Meter, version: Version = 'tentative'): MeterContext {
    const pool = this.#deps.poolOf(meter);
    const context = this.#alone(actor, meter, version);
    return pool === null
      ? context
      : { ...context, credits: this.#creditsOf(actor, meter, { pool, version }) };
  }

  /** Without the meters that it shares credits with. */
  #alone(actor: Actor, meter: Meter, version: Version): MeterContext {
    const { orgClock, ids, bounds } = this.#deps;
    const { customer, billing } = actor;
    const { subscriptions, account } = billing[version];
    return {
      customer,
      meter,
      now: orgClock.now(customer),
      ids,
      grantsMax: bounds.grantsPerMeter,
      subscriptions,
      books: this.#booksOf(meter),
      affords: account.spendCap === null ? null : this.affordsOf(actor, meter, version),
      alerts: this.#alertsFor(actor, meter),
      credits: null,
    };
  }

  #creditsOf(
    actor: Actor,
    meter: Meter,
    { pool, version }: { readonly pool: Pool; readonly version: Version },
  ): Credits {
    const members = () => this.#membersOf(actor, pool, version);
    if (pool.meter.id === meter.id) return creditsOfPool(pool, members);
    const paying = this.meter(pool.meter);
    const context = this.#alone(actor, paying, version);
    const state = this.#stateOf(actor, paying, version);
    return creditsOfMember(pool, { context, state }, { meterId: meter.id, members });
  }

  #membersOf(actor: Actor, pool: Pool, version: Version): readonly Side[] {
    const ids = this.#memberIdsOf(pool);
    const alone = (meter: Meter) => this.#alone(actor, meter, version);
    return [...actor.customerMeters.values()].flatMap(({ meter, [version]: state }) => {
      if (state === undefined || !ids.has(meter.id)) return [];
      return [
        {
          state,
          // Most decisions look at the state alone.
          get context() {
            return alone(meter);
          },
        },
      ];
    });
  }

  /** By any of its lists, of which there may be many: reckoned once. */
  #memberIdsOf(pool: Pool): ReadonlySet<string> {
    const known = this.#memberIds.get(pool);
    if (known !== undefined) return known;
    const ids = new Set(pool.costs.flatMap(({ members }) => [...members.keys()]));
    this.#memberIds.set(pool, ids);
    return ids;
  }

  #stateOf(actor: Actor, meter: Meter, version: Version): MeterState {
    const known = actor.customerMeters.get(meter.id);
    return known?.[version] ?? this.emptyState(actor, meter);
  }

  /** What the customer's spend cap leaves in one version of its memory; null without a cap. */
  affordsOf(actor: Actor, meter: Meter, version: Version): Affords | null {
    const spending = this.spendingOf(actor, version);
    if (spending === null) return null;
    return (before, after) => {
      const others = this.metersOf(actor, version)
        .filter((one) => one.meter.id !== meter.id)
        .map((one) => ({ meter: one.meter, state: withReserved(one.state) }));
      return spending.allows({ meter, before, after }, spending.spent(others));
    };
  }

  /** null without a spend cap. */
  spendingOf(actor: Actor, version: Version): Spending | null {
    const billing = actor.billing[version];
    const { spendCap } = billing.account;
    if (spendCap === null) return null;
    const now = this.#deps.orgClock.now(actor.customer);
    const known = this.#spending.get(billing);
    if (known?.isOf(now) === true) return known;
    const spending = new Spending(spendCap, billing, now, this.#closedCosts);
    this.#spending.set(billing, spending);
    return spending;
  }

  /** The customer's meters as they are now. */
  metersOf(actor: Actor, version: Version): readonly MeterNow[] {
    const now = this.#deps.orgClock.now(actor.customer);
    const meters: MeterNow[] = [];
    for (const { meter, [version]: state } of actor.customerMeters.values()) {
      if (state === undefined) continue;
      const isNow = now < state.nextDue;
      meters.push({
        meter,
        state: isNow ? state : advanced(this.ofMeter(actor, meter, version), state),
      });
    }
    return meters;
  }

  #alertsFor({ customer, alerts: own }: Actor, meter: Meter): Alerts | null {
    const { alertsOf, wants } = this.#deps;
    const ofAll = alertsOf(meter);
    const ofOne = own.get(meter.id) ?? NONE;
    if (ofAll.length === 0 && ofOne.length === 0) return null;
    const all = ofOne.length === 0 ? ofAll : [...ofAll, ...ofOne];
    return { all, hears: (type) => wants(customer, type), mayFire: true };
  }

  ofSubscriptions({ customer }: Actor): Omit<SubscriptionContext, 'spans'> {
    const { orgClock, ids } = this.#deps;
    return { customer, now: orgClock.now(customer), ids };
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
  emptyState(actor: Actor, meter: Meter): MeterState {
    const { ids } = this.#deps;
    const key = { customerId: actor.customer.id, meterId: meter.id };
    const period = emptyPeriod(periodAccountId(ids, { ...key, start: 0 }), 0, null);
    // There is nothing to load of it.
    return { ...emptyMeterState(meter.id, entitlementId(ids, key), period), historyLoaded: true };
  }

  /** Whether the customer has this meter or may have one more. */
  hasRoom(actor: Actor, meter: Meter): boolean {
    return (
      actor.customerMeter(meter) !== undefined ||
      actor.customerMeters.size < this.#deps.bounds.meters
    );
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
