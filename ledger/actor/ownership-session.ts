import { KeyedMutex } from '../kernel/keyed-mutex.ts';
import { LongWork } from '../kernel/long-work.ts';
import { UPCOMING_KEPT_MAX } from '../limits.ts';
import type { AlertsOf } from '../metering/alert.ts';
import type { CheckAnswer, Meter } from '../metering/meter.ts';
import type { PoolOf } from '../metering/pool.ts';
import type { Wants } from '../event.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Clock, Ids, Log, SharedClock, Timers } from '../ports.ts';
import type { Fence, Storage } from '../storage.ts';
import type { CacheBounds } from './actor-cache.ts';
import type { KnownUpcoming } from './ahead.ts';
import { ActorStore } from './actor-store.ts';
import { BoundedCache } from './bounded-cache.ts';
import { Contexts, type CustomerBounds } from './contexts.ts';
import { Executor } from './executor.ts';
import { Journal, type JournalDeps } from './journal.ts';
import type { Moment } from './lease.ts';
import { Loader } from './loader.ts';
import { RecentIds } from './recent-ids.ts';
import { tick } from './tick.ts';

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
  /** Memory for customers and payments. Actors in use stay, also beyond it. */
  readonly cacheBounds: CacheBounds;
  /** The payment's alarm is due: its processor must be asked again. */
  readonly onPaymentDue: (paymentId: string) => Promise<void>;
  /** The subscription's alarm is due: it must be decided, and its outbox tasks carried out. */
  readonly onSubscriptionDue: (
    tenant: Tenant,
    subscription: { readonly customerId: string; readonly id: string },
  ) => Promise<void>;
  /**
   * The reply to a check as text. It is made once for each kept answer, and is cheap to send
   * between nodes.
   */
  readonly render: (answer: CheckAnswer, meter: Meter) => string;
  /** Called for each decision, so it is synchronous. */
  readonly wants: Wants;
  /** As this node knows them; what it is told of is soon what the database has. */
  readonly alertsOf: AlertsOf;
  /** As this node knows it: a list of costs is answered when every node does. */
  readonly poolOf: PoolOf;
  readonly onFlush: JournalDeps['onFlush'];
  readonly onTopUpsOrdered: JournalDeps['onTopUpsOrdered'];
};

/**
 * Everything that a node has in memory between taking its seat and losing it.
 *
 *     store      the actors, and the slots that they belong to
 *     contexts   what the pure rules get beside an actor's state
 *     executor   runs decisions and reads
 *     journal    writes decisions
 *
 * When the seat is lost the session is thrown away as a whole.
 */
export class OwnershipSession {
  readonly deps: OwnershipSessionDeps;
  readonly journal: Journal;
  readonly store: ActorStore;
  readonly contexts: Contexts;
  readonly executor: Executor;
  /** Ids that were used lately: they are looked up before they are decided. */
  readonly recent = new RecentIds();
  /** A second call with a key waits until the first one is done. */
  readonly mutex = new KeyedMutex<string>();
  readonly longWork: LongWork;
  /** By subscription. */
  readonly upcoming = new BoundedCache<KnownUpcoming>(UPCOMING_KEPT_MAX);

  constructor(
    deps: OwnershipSessionDeps,
    seat: { fence: Fence; askedAt: Moment; onLost: JournalDeps['onLost'] },
  ) {
    this.deps = deps;
    this.longWork = new LongWork(deps);
    this.journal = new Journal({ ...deps, onLost: seat.onLost }, seat);
    this.store = new ActorStore(deps);
    this.contexts = new Contexts({ ...deps, node: seat.fence.node });
    const { journal, store, contexts } = this;
    const loader = new Loader(deps, (customerId, meterId) => tick(this, customerId, meterId));
    this.executor = new Executor({ journal, store, contexts, loader });
  }

  get stats(): Readonly<Record<string, number>> {
    return { ...this.journal.stats, ...this.store.stats };
  }
}
