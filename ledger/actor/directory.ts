import { LOADS_CONCURRENT_MAX, LOAD_KEYS_MAX, MAILBOX_MAX } from '../limits.ts';
import type { Tenant, Timers } from '../ports.ts';
import type { ExternalKey, LoadedCustomer, Storage } from '../storage.ts';
import { Actor } from './actor.ts';
import { Batcher } from './batcher.ts';
import { Residents } from './residents.ts';

export type CustomerRef = { readonly id: string } | { readonly externalId: string };

/**
 * Finds the actor of a customer, by id or by the merchant's own name for it. Lives for one term of a node: a node that lost its seat
 * throws its directory away with all that is in it.
 */
export class Directory {
  readonly #actors: Residents<Actor>;
  /** By mode and organisation, then by the merchant's own id: short keys, hashed once. */
  readonly #byExternalId = { test: new Map<string, Names>(), live: new Map<string, Names>() };
  readonly #names: Batcher<ExternalKey, string>;
  /** How often a customer's row was said to have changed. */
  #told = 0;

  constructor(deps: { storage: Storage; timers: Timers; actorsMax: number }) {
    const { storage, timers } = deps;
    this.#actors = new Residents({
      timers,
      max: deps.actorsMax,
      load: async (ids) => {
        // A row that was changed while it was read is read again: what is entered is never older than what was told.
        let began: number;
        let loaded: readonly LoadedCustomer[];
        do {
          began = this.#told;
          loaded = await storage.loadCustomers(ids);
        } while (began !== this.#told);
        return loaded.map((row) => new Actor(row.customer, row.meters, row.subscriptions));
      },
      onEnter: (actor) => this.#name(actor),
      onDrop: (actor) => this.#unname(actor),
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

  get size(): number {
    return this.#actors.size;
  }

  get stats(): Readonly<Record<string, number>> {
    const { size, evicted, loading } = this.#actors;
    return { actors: size, evicted, loading };
  }

  /** The tenant's customer; null where it has none of that name. Without a promise where the actor is in memory. */
  find(tenant: Tenant, ref: CustomerRef): Actor | null | Promise<Actor | null> {
    const byId = 'id' in ref;
    const actor = byId
      ? this.#actors.get(ref.id)
      : this.#byExternalId[tenant.mode].get(tenant.organisationId)?.get(ref.externalId);
    if (actor === undefined || this.#dropOutdated(actor)) return this.#load(tenant, ref);
    actor.touched = true;
    // A name was looked up among the tenant's own.
    return !byId || belongs(actor, tenant) ? actor : null;
  }

  /** By id, whoever's it is: for alarms. */
  async findAny(id: string): Promise<Actor | null> {
    const actor = this.#actors.get(id);
    if (actor !== undefined) this.#dropOutdated(actor);
    return this.#actors.find(id);
  }

  #dropOutdated(actor: Actor): boolean {
    if (!actor.outdated || actor.pending > 0) return false;
    this.#actors.drop(actor);
    return true;
  }

  /** The customer's row changed: the next call loads it again. */
  forget(id: string): void {
    this.#told += 1;
    const actor = this.#actors.get(id);
    if (actor === undefined) return;
    this.#unname(actor);
    if (actor.pending === 0) this.#actors.drop(actor);
    // In use: it stays the one actor of its customer, and is dropped by whoever finds it idle.
    else actor.outdated = true;
  }

  forgetAll(): void {
    this.#told += 1;
    for (const id of this.#actors.ids()) this.forget(id);
  }

  async #load(tenant: Tenant, ref: CustomerRef): Promise<Actor | null> {
    if ('id' in ref) {
      const actor = await this.findAny(ref.id);
      return actor !== null && belongs(actor, tenant) ? actor : null;
    }
    for (let before: string | null = null; ;) {
      const id = await this.#names.get({ ...tenant, externalId: ref.externalId });
      const actor = id === null ? null : await this.findAny(id);
      if (actor === null) return null;
      // The name may have moved to another customer meanwhile. One that is in use keeps its old name for as long as it is: then
      // the database has said so twice.
      if (actor.customer.externalId === ref.externalId || id === before) return actor;
      before = id;
    }
  }

  #name(actor: Actor): void {
    const { externalId, mode, organisationId } = actor.customer;
    if (externalId === null) return;
    const names = this.#byExternalId[mode].get(organisationId) ?? new Map<string, Actor>();
    this.#byExternalId[mode].set(organisationId, names.set(externalId, actor));
  }

  #unname(actor: Actor): void {
    const { externalId, mode, organisationId } = actor.customer;
    if (externalId === null) return;
    const names = this.#byExternalId[mode].get(organisationId);
    if (names?.get(externalId) === actor) names.delete(externalId);
    if (names?.size === 0) this.#byExternalId[mode].delete(organisationId);
  }
}

type Names = Map<string, Actor>;

function belongs({ customer }: Actor, tenant: Tenant): boolean {
  return customer.organisationId === tenant.organisationId && customer.mode === tenant.mode;
}

function externalName({ mode, organisationId, externalId }: ExternalKey): string {
  return `${mode}${organisationId}${externalId}`;
}
