import type { SharedClock, Timers } from '../ports.ts';
import { must } from '../kernel/assert.ts';
import { inSlices } from '../kernel/slices.ts';
import { someAtOnce } from '../kernel/some-at-once.ts';
import type { Storage } from '../storage.ts';
import { Actor } from './actor.ts';
import { ActorCache, type CacheBounds, partOf } from './actor-cache.ts';
import { Directory } from './directory.ts';
import { loadHistory } from './loader.ts';
import { OwnSlots } from './own-slots.ts';
import { PaymentActor } from './payment-actor.ts';

/**
 * The actors in memory of one ownership session, and the slots that they belong to.
 *
 * Holds: an actor is loaded once, however many ask for it. An actor of a slot that is lost is
 * dropped at once and decides nothing more.
 */
export class ActorStore {
  readonly slots = new OwnSlots();
  readonly directory: Directory<Actor>;
  readonly payments: ActorCache<PaymentActor>;

  constructor({
    storage,
    timers,
    orgClock,
    cacheBounds,
  }: {
    readonly storage: Storage;
    readonly orgClock: SharedClock;
    readonly timers: Timers;
    readonly cacheBounds: CacheBounds;
  }) {
    const { slots } = this;
    this.directory = new Directory({
      slots,
      timers,
      max: partOf(cacheBounds, 'customers'),
      load: async (ids) => {
        const actors: Actor[] = [];
        const loaded = await storage.loadCustomers(ids);
        await inSlices(timers, loaded, ({ customer, meters, billing, alerts }) => {
          const actor = new Actor(customer, meters, billing);
          actor.learnAlerts(alerts);
          actors.push(actor);
          return 1 + meters.length;
        });
        await someAtOnce(actors.flatMap(holding), HISTORIES_AT_ONCE, ({ actor, meterId }) =>
          loadHistory({ storage, orgClock }, actor, meterId),
        );
        return actors;
      },
    });
    this.payments = new ActorCache({
      slots,
      timers,
      max: partOf(cacheBounds, 'payments'),
      load: async (ids) =>
        (await storage.loadPayments(ids)).map((state) => new PaymentActor(state)),
    });
  }

  get stats(): Readonly<Record<string, number>> {
    const { size: paymentActors, bytes: paymentBytes, loading: paymentsLoading } = this.payments;
    const { loading = 0, ...directory } = this.directory.stats;
    return {
      ...directory,
      paymentActors,
      paymentBytes,
      slots: this.slots.size,
      loading: loading + paymentsLoading,
    };
  }

  /** The slots are another node's now, or on their way there. */
  lose(slots: readonly number[]): void {
    this.slots.lose(slots);
    this.directory.dropLost();
    this.payments.dropLost();
  }

  /** The actor of a customer that exists. @throws NotOwner */
  async actorOf(customerId: string, organisationId?: string): Promise<Actor> {
    const found = await this.directory.find(customerId, organisationId);
    return must(found, 'a customer that was found before');
  }

  /** The customer's actor now: the same one, unless it was dropped. @throws NotOwner */
  async again(actor: Actor): Promise<Actor> {
    return actor.dropped ? this.actorOf(actor.id, actor.organisationId) : actor;
  }
}

const HISTORIES_AT_ONCE = 4;

/**
 * Its meters of which something is held: it may be let go of at any time, and is settled anew then.
 */
function holding(actor: Actor): { readonly actor: Actor; readonly meterId: string }[] {
  const held = [...actor.customerMeters.values()].filter(
    ({ tentative }) => (tentative?.reservations.length ?? 0) > 0,
  );
  return held.map(({ meter }) => ({ actor, meterId: meter.id }));
}
