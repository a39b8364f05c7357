import type { Tenant } from '../kernel/tenant.ts';
import type { Customer } from '../metering/meter.ts';
import type { Timers } from '../ports.ts';
import type { OwnSlots } from './own-slots.ts';
import { type CachedActor, ActorCache, type CacheBounds } from './actor-cache.ts';

export type CustomerRef = { readonly id: string } | { readonly externalId: string };

/** What represents a customer in memory: an actor, or a `RemoteCustomer`. */
type Named = CachedActor & {
  readonly customer: Customer;
  /** Whether its customer's row was changed by somebody else while it was in use. */
  outdated: boolean;
};

/** Customers whose rows have changed. */
type ChangedCustomers = { readonly ids: Set<string>; isAll: boolean };

/**
 * Customers in memory, by id and by the merchant's own id. A directory of actors lives for one
 * ownership session: when the seat is lost it is dropped with everything in it.
 */
export class Directory<A extends Named> {
  readonly #cache: ActorCache<A>;
  /** By mode and organisation, then by the merchant's own id: short keys, hashed once. */
  readonly #byExternalId = {
    test: new Map<string, Map<string, A>>(),
    live: new Map<string, Map<string, A>>(),
  };
  /** For each load in progress: the customers whose rows changed since it began. */
  readonly #loads = new Set<ChangedCustomers>();

  constructor(options: {
    slots: OwnSlots;
    timers: Timers;
    max: CacheBounds;
    load: (ids: readonly string[]) => Promise<readonly A[]>;
  }) {
    const { load, ...rest } = options;
    this.#cache = new ActorCache({
      ...rest,
      load: (ids) => this.#read(() => load(ids)),
      onEnter: (actor) => this.#name(actor),
      onDrop: (actor) => this.#unname(actor),
    });
  }

  get size(): number {
    return this.#cache.size;
  }

  get stats(): Readonly<Record<string, number>> {
    const { size, bytes, evicted, loading } = this.#cache;
    return { actors: size, actorBytes: bytes, evicted, loading };
  }

  /**
   * The tenant's customer, if it is in memory. null: it is another tenant's. undefined: not in
   * memory.
   */
  peek(tenant: Tenant, ref: CustomerRef): A | null | undefined {
    const byId = 'id' in ref;
    const found = byId
      ? this.#cache.get(ref.id)
      : this.#byExternalId[tenant.mode].get(tenant.organisationId)?.get(ref.externalId);
    if (found === undefined || this.#dropOutdated(found)) return undefined;
    found.touched = true;
    // A name was looked up among the tenant's own.
    return !byId || belongs(found, tenant) ? found : null;
  }

  /** By id, for any tenant, if it is in memory. */
  get(id: string): A | undefined {
    const found = this.#cache.get(id);
    if (found === undefined || this.#dropOutdated(found)) return undefined;
    found.touched = true;
    return found;
  }

  /** By id, for any tenant. @throws NotOwner, see `ActorCache.find` */
  find(id: string, tenant?: string): Promise<A | null> {
    const found = this.#cache.get(id);
    if (found !== undefined) this.#dropOutdated(found);
    return this.#cache.find(id, tenant);
  }

  /** The customer's row changed: the next call loads it again. */
  forget(id: string): void {
    for (const load of this.#loads) load.ids.add(id);
    const found = this.#cache.get(id);
    if (found === undefined) return;
    this.#unname(found);
    if (found.pending === 0) this.#cache.drop(found);
    // In use: it stays the only actor of its customer. It is dropped when it is idle.
    else found.outdated = true;
  }

  forgetAll(): void {
    for (const load of this.#loads) load.isAll = true;
    for (const id of this.#cache.ids()) this.forget(id);
  }

  /** See `ActorCache.dropLost`. */
  dropLost(): void {
    this.#cache.dropLost();
  }

  /** A row that changes while it is read is read again, so a stale row is never entered. */
  async #read(load: () => Promise<readonly A[]>): Promise<readonly A[]> {
    for (;;) {
      const changed: ChangedCustomers = { ids: new Set(), isAll: false };
      this.#loads.add(changed);
      try {
        const loaded = await load();
        if (!changed.isAll && !loaded.some(({ id }) => changed.ids.has(id))) return loaded;
      } finally {
        this.#loads.delete(changed);
      }
    }
  }

  #dropOutdated(actor: A): boolean {
    if (!actor.outdated || actor.pending > 0) return false;
    this.#cache.drop(actor);
    return true;
  }

  #name(actor: A): void {
    const { externalId, mode, organisationId } = actor.customer;
    if (externalId === null) return;
    const names = this.#byExternalId[mode].get(organisationId) ?? new Map<string, A>();
    this.#byExternalId[mode].set(organisationId, names.set(externalId, actor));
  }

  #unname(actor: A): void {
    const { externalId, mode, organisationId } = actor.customer;
    if (externalId === null) return;
    const names = this.#byExternalId[mode].get(organisationId);
    if (names?.get(externalId) === actor) names.delete(externalId);
    if (names?.size === 0) this.#byExternalId[mode].delete(organisationId);
  }
}

export function belongs(
  { customer }: { readonly customer: Customer },
  { organisationId, mode }: Tenant,
): boolean {
  return customer.organisationId === organisationId && customer.mode === mode;
}
