import type { Tenant } from '../kernel/tenant.ts';
import { type MeterContext, type MeterEffects } from '../metering/meter-draft.ts';
import { entitlementId, periodAccountId } from '../kernel/derived-ids.ts';
import {
  type CheckAnswer,
  type Meter,
  type MeterState,
  emptyMeterState,
  emptyPeriod,
} from '../metering/meter.ts';
import { must } from '../kernel/assert.ts';
import { KeyedMutex } from '../kernel/keyed-mutex.ts';
import { STALE } from '../outcome.ts';
import { LedgerUnavailable } from '../ports.ts';
import type { Clock, Ids, Log, SharedClock, Timers } from '../ports.ts';
import { Journal, type JournalDeps, type Lease } from './journal.ts';
import type { Payment } from '../payments/payment.ts';
import type { PaymentContext } from '../payments/payment-draft.ts';
import type { SubscriptionContext } from '../subscriptions/subscription-draft.ts';
import type { Fence, Storage } from '../storage.ts';
import { Actor } from './actor.ts';
import { Directory } from './directory.ts';
import { METERS_KEPT_MAX } from '../limits.ts';
import { BoundedCache } from './bounded-cache.ts';
import { OwnSlots } from './own-slots.ts';
import { PaymentActor } from './payment-actor.ts';
import { RecentIds } from './recent-ids.ts';
import { partOf, type CachedActor, ActorCache, type CacheBounds } from './actor-cache.ts';
import { ActorUnit, type Apply, DUPLICATE, type Subject } from './unit.ts';

export type OwnershipSessionDeps = {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly orgClock: SharedClock;
  readonly ids: Ids;
  readonly timers: Timers;
  readonly log: Log;
  readonly leaseMs: number;
  /** What one customer may have. */
  readonly bounds: CustomerBounds;
  /** What may be in memory of customers and payments (but never less than what is in use). */
  readonly room: CacheBounds;
  /** Something about the payment is to be asked again, of whoever moves the money. */
  readonly onPaymentDue: (paymentId: string) => Promise<void>;
  /** Time has brought something about on the subscription: it is to be decided, and what follows carried out. */
  readonly onSubscriptionDue: (
    tenant: Tenant,
    subscription: { readonly customerId: string; readonly id: string },
  ) => Promise<void>;
  /** What whoever asked is told of a check. Made where the answer is kept, and once for as long as it is: a text travels best, too. */
  readonly render: (answer: CheckAnswer, meter: Meter) => string;
  /** Whether anybody is told of this tenant's usage: asked once for each decision, so it may not wait. */
  readonly wantsUsage: (tenant: Tenant) => boolean;
  readonly onFlush: JournalDeps['onFlush'];
};

/** Infinity for any number. */
export type CustomerBounds = {
  /** Meters with anything on them. */
  readonly meters: number;
  readonly grantsPerMeter: number;
  /** Live ones, beyond which no more are started but by what was paid. */
  readonly subscriptions: number;
};

/** All memory of a node between taking its seat and losing it. */
export class OwnershipSession {
  readonly journal: Journal;
  readonly slots = new OwnSlots();
  readonly directory: Directory<Actor>;
  readonly payments: ActorCache<PaymentActor>;
  readonly recent = new RecentIds();
  /** What has a key and is on its way: a second call with the key waits for the first. */
  readonly mutex = new KeyedMutex<string>();
  readonly deps: OwnershipSessionDeps;
  readonly #meters = new BoundedCache<Meter>(METERS_KEPT_MAX);
  readonly #books = new BoundedCache<MeterContext['books']>(METERS_KEPT_MAX);

  constructor(
    deps: OwnershipSessionDeps,
    seat: { fence: Fence; askedAt: Lease; onLost: JournalDeps['onLost'] },
  ) {
    this.deps = deps;
    const { storage, timers, room } = deps;
    const { slots } = this;
    this.directory = new Directory({
      slots,
      timers,
      max: partOf(room, 'customers'),
      load: async (ids) =>
        (await storage.loadCustomers(ids)).map(
          ({ customer, meters, subscriptions }) => new Actor(customer, meters, subscriptions),
        ),
    });
    this.payments = new ActorCache({
      slots,
      timers,
      max: partOf(room, 'payments'),
      load: async (ids) =>
        (await storage.loadPayments(ids)).map((state) => new PaymentActor(state)),
    });
    this.journal = new Journal({ ...deps, onLost: seat.onLost }, seat);
  }

  get stats(): Readonly<Record<string, number>> {
    const { size: paymentActors, bytes: paymentBytes, loading: paymentsLoading } = this.payments;
    const { loading = 0, ...directory } = this.directory.stats;
    return {
      ...this.journal.stats,
      ...directory,
      paymentActors,
      paymentBytes,
      slots: this.slots.size,
      loading: loading + paymentsLoading,
    };
  }

  /** The slots are another node's now, or on their way there: nothing of theirs is decided or answered here any more. */
  lose(slots: readonly number[]): void {
    this.slots.lose(slots);
    this.directory.dropLost();
    this.payments.dropLost();
  }

  context(actor: Actor, meter: Meter): MeterContext {
    const { orgClock, ids } = this.deps;
    const { customer, billing } = actor;
    return {
      customer,
      meter,
      now: orgClock.now(customer),
      ids,
      grantsMax: this.deps.bounds.grantsPerMeter,
      subscriptions: billing.tentative.subscriptions,
      books: this.#booksOf(meter),
    };
  }

  subscriptionContext({ customer }: Actor): SubscriptionContext {
    const { orgClock, ids } = this.deps;
    return { customer, now: orgClock.now(customer), ids };
  }

  /** The state of a meter that the customer never touched. */
  emptyState(actor: Actor, meter: Meter): MeterState {
    const { ids } = this.deps;
    const key = { customerId: actor.customer.id, meterId: meter.id };
    const period = emptyPeriod(periodAccountId(ids, { ...key, start: 0 }), 0, null);
    return emptyMeterState(meter.id, entitlementId(ids, key), period);
  }

  /** Whether the customer may have something on this meter. */
  hasRoom(actor: Actor, meter: Meter): boolean {
    return (
      actor.customerMeter(meter) !== undefined ||
      actor.customerMeters.size < this.deps.bounds.meters
    );
  }

  stateOf(actor: Actor, meter: Meter): MeterState {
    return actor.customerMeter(meter)?.tentative ?? this.emptyState(actor, meter);
  }

  /**
   * One decision on one actor, answered when it is durable. The actor is looked up again where it was dropped meanwhile, or where `run`
   * says so.
   */
  async decideOn<A extends CachedActor & Subject, T>(
    op: string,
    find: () => Promise<A>,
    keys: readonly string[],
    run: (actor: A, apply: Apply) => T | typeof STALE,
  ): Promise<T | typeof DUPLICATE> {
    for (;;) {
      const actor = await find();
      const unit = new ActorUnit<T | typeof STALE>({
        op,
        size: SOME_ROWS,
        keys,
        actors: [actor],
        run: (apply) => (actor.dropped ? STALE : run(actor, apply)),
      });
      const outcome = await this.submit(unit);
      if (outcome !== STALE) return outcome;
    }
  }

  /** One decision on one meter, answered when it is durable. @throws NotOwner */
  async decide<T>(
    customerId: string,
    meter: Meter,
    decision: (
      context: MeterContext,
      state: MeterState,
      actor: Actor,
    ) => { readonly outcome: T; readonly effects: MeterEffects | null },
    /** An id that is used once, and the outcome where it was used before. */
    once: { readonly id: string; readonly used: T } | null = null,
  ): Promise<T> {
    const decided = await this.decideOn(
      'meter',
      () => this.actorOf(customerId),
      once === null ? [] : [once.id],
      (actor, apply) => {
        const state = this.stateOf(actor, meter);
        const { outcome, effects } = decision(this.context(actor, meter), state, actor);
        if (effects !== null) apply(actor, effects);
        return outcome;
      },
    );
    return decided === DUPLICATE ? must(once, 'a duplicate has an id').used : decided;
  }

  /** The one object that stands for this meter here. What a meter's usage depends on never changes. */
  meter(meter: Meter): Meter {
    return this.#meters.get(meter.id, () => meter);
  }

  /** An answer from the memory of an actor that was not dropped meanwhile. @throws LedgerUnavailable */
  async read<A extends CachedActor | null, T>(
    find: () => Promise<A>,
    answer: (actor: A) => T,
  ): Promise<T> {
    for (;;) {
      const actor = await find();
      if (actor?.dropped === true) continue;
      this.mustBeValid();
      return answer(actor);
    }
  }

  /** For an answer from memory: asked last, because a process may have stood still since. @throws LedgerUnavailable */
  mustBeValid(): void {
    if (!this.journal.isLeaseValid()) throw new LedgerUnavailable('the lease is not renewed');
  }

  /** The customer's actor. @throws NotOwner */
  async actorOf(customerId: string, organisationId?: string): Promise<Actor> {
    const found = await this.directory.find(customerId, organisationId);
    return must(found, 'a customer that was found before');
  }

  /** The actor that is now that customer's. @throws NotOwner */
  async again(actor: Actor): Promise<Actor> {
    return actor.dropped ? this.actorOf(actor.id, actor.organisationId) : actor;
  }

  submit<T>(unit: ActorUnit<T>): Promise<T | typeof DUPLICATE> {
    this.journal.submit(unit);
    return unit.done;
  }

  paymentContext({ organisationId, mode, currency }: Payment): PaymentContext {
    const { orgClock, ids } = this.deps;
    const clearing = ids.derive(
      'clearing',
      organisationId,
      mode,
      currency,
      String(this.journal.node),
    );
    return { now: orgClock.now({ organisationId, mode }), ids, clearing };
  }

  #booksOf(meter: Meter): MeterContext['books'] {
    return this.#books.get(meter.id, () => {
      const { ids } = this.deps;
      const node = String(this.journal.node);
      return {
        usage: ids.derive('usage', meter.id, node),
        grants: ids.derive('grants', meter.id, node),
      };
    });
  }
}

/** What one decision writes, more or less, before it is made. */
const SOME_ROWS = { rows: 8, bytes: 0 };
