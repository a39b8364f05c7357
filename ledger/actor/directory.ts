import { assert } from '../assert.ts';
import { LOADS_CONCURRENT_MAX, LOAD_KEYS_MAX, MAILBOX_MAX } from '../limits.ts';
import type { Mode } from '../meter.ts';
import type { Timers } from '../ports.ts';
import type { ExternalKey, LoadedCustomer, Storage } from '../storage.ts';
import { Actor } from './actor.ts';
import { Batcher } from './batcher.ts';

export type Tenant = { readonly organisationId: string; readonly mode: Mode };
export type CustomerRef = { readonly id: string } | { readonly externalId: string };

/**
 * Finds the actor of a customer, loading it once however many ask. Lives for one term of a node: a node that lost its seat throws
 * its directory away with all that is in it.
 *
 * Memory is bounded by `actorsMax`: beyond it, actors that nobody asked for since the last sweep and that have nothing in flight
 * are dropped (a second-chance queue, which costs the hot path one store). An actor is only a cache: dropping one costs a load.
 */
export class Directory {
  readonly #actors = new Map<string, Actor>();
  /** By mode and organisation, then by the merchant's own id: short keys, hashed once. */
  readonly #byExternalId = { test: new Map<string, Names>(), live: new Map<string, Names>() };
  readonly #loads: Batcher<string, Actor>;
  readonly #names: Batcher<ExternalKey, string>;
  readonly #actorsMax: number;
  readonly #timers: Timers;
  #evicted = 0;
  /** How often a customer's row was said to have changed. */
  #told = 0;
  #sweeping = false;

  constructor(deps: { storage: Storage; timers: Timers; actorsMax: number }) {
    const { storage, timers } = deps;
    const bounds = {
      keysMax: LOAD_KEYS_MAX,
      concurrentMax: LOADS_CONCURRENT_MAX,
      waitingMax: MAILBOX_MAX,
    };
    this.#actorsMax = deps.actorsMax;
    this.#timers = timers;
    this.#loads = new Batcher({
      ...bounds,
      timers,
      nameOf: (id) => id,
      load: async (ids) => {
        // A row that was changed while it was read is read again: what is entered is never older than what was told.
        let began: number;
        let loaded: readonly LoadedCustomer[];
        do {
          began = this.#told;
          loaded = await storage.loadCustomers(ids);
        } while (began !== this.#told);
        return loaded.map((row) => [
          row.customer.id,
          this.#enter(new Actor(row.customer, row.meters)),
        ]);
      },
    });
    this.#names = new Batcher({
      ...bounds,
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
    return { actors: this.#actors.size, evicted: this.#evicted, loading: this.#loads.waiting };
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
    if (actor !== undefined && !this.#dropOutdated(actor)) return actor;
    return this.#loads.get(id);
  }

  #dropOutdated(actor: Actor): boolean {
    if (!actor.outdated || actor.pending > 0) return false;
    this.#drop(actor);
    return true;
  }

  /** The customer's row changed: the next call loads it again. */
  forget(id: string): void {
    this.#told += 1;
    const actor = this.#actors.get(id);
    if (actor === undefined) return;
    this.#unname(actor);
    if (actor.pending === 0) this.#drop(actor);
    // In use: it stays the one actor of its customer, and is dropped by whoever finds it idle.
    else actor.outdated = true;
  }

  forgetAll(): void {
    this.#told += 1;
    for (const id of this.#actors.keys()) this.forget(id);
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

  #enter(actor: Actor): Actor {
    const known = this.#actors.get(actor.customer.id);
    if (known !== undefined) return known;
    this.#actors.set(actor.customer.id, actor);
    const { externalId, mode, organisationId } = actor.customer;
    if (externalId !== null) {
      const names = this.#byExternalId[mode].get(organisationId) ?? new Map<string, Actor>();
      this.#byExternalId[mode].set(organisationId, names.set(externalId, actor));
    }
    this.#sweepSoon();
    return actor;
  }

  /** Not now: whoever waits for what was just loaded shall find it. */
  #sweepSoon(): void {
    if (this.#sweeping || this.#actors.size <= this.#actorsMax) return;
    this.#sweeping = true;
    this.#timers.soon(() => {
      this.#sweeping = false;
      this.#sweep();
    });
  }

  /** Drops the oldest that are idle, down to the bound. Gives up after one round, when all are in use. */
  #sweep(): void {
    let looks = this.#actors.size;
    for (const [id, actor] of this.#actors) {
      if (this.#actors.size <= this.#actorsMax || looks === 0) return;
      looks -= 1;
      if (actor.touched || actor.pending > 0) {
        actor.touched = false;
        this.#actors.delete(id);
        this.#actors.set(id, actor);
        continue;
      }
      this.#unname(actor);
      this.#drop(actor);
      this.#evicted += 1;
    }
  }

  /** From here on it decides nothing: whoever still holds it looks its customer up again. */
  #drop(actor: Actor): void {
    assert(actor.pending === 0, 'an actor in use is not dropped');
    actor.dropped = true;
    this.#actors.delete(actor.customer.id);
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
