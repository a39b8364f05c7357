import type { Tenant } from '../kernel/tenant.ts';
import type { Actor } from '../actor/actor.ts';
import { Batcher } from '../kernel/batcher.ts';
import { belongs, type CustomerRef, Directory } from '../actor/directory.ts';
import { everySlot, NotOwner } from '../actor/own-slots.ts';
import { LOADS_CONCURRENT_MAX, LOAD_KEYS_MAX, MAILBOX_MAX } from '../limits.ts';
import type { Timers } from '../ports.ts';
import { partOf, type CacheBounds } from '../actor/actor-cache.ts';
import { slotOf } from '../kernel/slot.ts';
import type { ExternalKey, Storage } from '../storage.ts';
import { RemoteCustomer } from './remote-customer.ts';
import type { Member } from './member.ts';

/** A customer: its actor if this node owns it, else a `RemoteCustomer`. */
export type Found = Actor | RemoteCustomer;

/** Finds customers on any node, by id or by the merchant's own id. */
export class Customers {
  readonly #member: Member;
  readonly #remote: Directory<RemoteCustomer>;
  readonly #names: Batcher<ExternalKey, string>;

  constructor(deps: {
    member: Member;
    storage: Storage;
    timers: Timers;
    cacheBounds: CacheBounds;
  }) {
    const { member, storage, timers, cacheBounds } = deps;
    this.#member = member;
    this.#remote = new Directory({
      slots: everySlot(),
      timers,
      max: partOf(cacheBounds, 'guests'),
      load: async (ids) =>
        (await storage.identifyCustomers(ids)).map((row) => new RemoteCustomer(row)),
    });
    this.#names = new Batcher({
      keysMax: LOAD_KEYS_MAX,
      concurrentMax: LOADS_CONCURRENT_MAX,
      waitingMax: MAILBOX_MAX,
      timers,
      nameOf: externalName,
      load: async (keys) =>
        (await storage.resolveCustomers(keys)).map((found) => [externalName(found), found.id]),
    });
  }

  get stats(): Readonly<Record<string, number>> {
    return { guests: this.#remote.size };
  }

  /** The tenant's customer; null where there is none. Synchronous where it is in memory. */
  find(tenant: Tenant, ref: CustomerRef): Found | null | Promise<Found | null> {
    const known = this.peek(tenant, ref);
    return known === undefined ? this.#look(tenant, ref) : known;
  }

  /** The same of a customer in memory; undefined where it is not known. */
  peek(tenant: Tenant, ref: CustomerRef): Found | null | undefined {
    const here = this.#member.session?.store.directory.peek(tenant, ref);
    if (here !== undefined) return here;
    const remote = this.#remote.peek(tenant, ref);
    const isElsewhere = remote && this.#member.locate(remote.slot).kind !== 'here';
    return isElsewhere === true ? remote : undefined;
  }

  /** The customer's row changed: read it again. */
  forget(id: string): void {
    this.#member.session?.store.directory.forget(id);
    this.#remote.forget(id);
  }

  /** Any customer's row may have been changed. */
  forgetAll(): void {
    this.#member.session?.store.directory.forgetAll();
    this.#remote.forgetAll();
  }

  async #look(tenant: Tenant, ref: CustomerRef): Promise<Found | null> {
    const refusal = this.#member.refusal();
    if (refusal !== null) throw refusal;
    if ('id' in ref) {
      const found = await this.#load(ref.id, tenant);
      return found !== null && belongs(found, tenant) ? found : null;
    }
    const { organisationId } = tenant;
    for (let before: string | null = null; ;) {
      const id = await this.#names.get({ ...tenant, externalId: ref.externalId }, organisationId);
      const found = id === null ? null : await this.#load(id, tenant);
      if (found === null) return null;
      // The external id may have moved to another customer meanwhile. A customer in use keeps its
      // old one in memory; then the database confirms it by answering twice.
      if (found.customer.externalId === ref.externalId || id === before) return found;
      before = id;
    }
  }

  async #load(id: string, { organisationId }: Tenant): Promise<Found | null> {
    const location = this.#member.locate(slotOf(id));
    if (location.kind !== 'here') return this.#remote.find(id, organisationId);
    try {
      return await location.session.store.directory.find(id, organisationId);
    } catch (error) {
      if (error instanceof NotOwner) return this.#remote.find(id, organisationId);
      throw error;
    }
  }
}

function externalName({ mode, organisationId, externalId }: ExternalKey): string {
  return `${mode}${organisationId}${externalId}`;
}
