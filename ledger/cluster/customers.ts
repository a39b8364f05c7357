import type { Actor } from '../actor/actor.ts';
import { Batcher } from '../actor/batcher.ts';
import { belongs, type CustomerRef, Directory } from '../actor/directory.ts';
import { everySlot, NotHere } from '../actor/own-slots.ts';
import { LOADS_CONCURRENT_MAX, LOAD_KEYS_MAX, MAILBOX_MAX } from '../limits.ts';
import type { Tenant, Timers } from '../ports.ts';
import { partOf, type Room } from '../actor/actor-cache.ts';
import { slotOf } from '../kernel/slot.ts';
import type { ExternalKey, Storage } from '../storage.ts';
import { Guest } from './remote-customer.ts';
import type { Member } from './member.ts';

/** A customer: its actor where it lives here, else who it is. */
export type Found = Actor | Guest;

/** Finds customers, by id or by the merchant's own name for them, wherever they live. */
export class Customers {
  readonly #member: Member;
  readonly #guests: Directory<Guest>;
  readonly #names: Batcher<ExternalKey, string>;

  constructor(deps: { member: Member; storage: Storage; timers: Timers; room: Room }) {
    const { member, storage, timers, room } = deps;
    this.#member = member;
    this.#guests = new Directory({
      slots: everySlot(),
      timers,
      max: partOf(room, 'guests'),
      load: async (ids) => (await storage.identifyCustomers(ids)).map((row) => new Guest(row)),
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
    return { guests: this.#guests.size };
  }

  /** The tenant's customer; null where it has none of that name. Without a promise where it is in memory. */
  find(tenant: Tenant, ref: CustomerRef): Found | null | Promise<Found | null> {
    const here = this.#member.term?.directory.peek(tenant, ref);
    if (here !== undefined) return here;
    const guest = this.#guests.peek(tenant, ref);
    const isElsewhere = guest && this.#member.place(guest.slot).kind !== 'here';
    return isElsewhere === true ? guest : this.#look(tenant, ref);
  }

  /** The customer's row was changed by somebody else: read it again. */
  forget(id: string): void {
    this.#member.term?.directory.forget(id);
    this.#guests.forget(id);
  }

  /** Any customer's row may have been changed. */
  forgetAll(): void {
    this.#member.term?.directory.forgetAll();
    this.#guests.forgetAll();
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
      // The name may have moved to another customer meanwhile. One that is in use keeps its old name for as long as it is: then
      // the database has said so twice.
      if (found.customer.externalId === ref.externalId || id === before) return found;
      before = id;
    }
  }

  async #load(id: string, { organisationId }: Tenant): Promise<Found | null> {
    const place = this.#member.place(slotOf(id));
    if (place.kind !== 'here') return this.#guests.find(id, organisationId);
    try {
      return await place.term.directory.find(id, organisationId);
    } catch (error) {
      if (error instanceof NotHere) return this.#guests.find(id, organisationId);
      throw error;
    }
  }
}

function externalName({ mode, organisationId, externalId }: ExternalKey): string {
  return `${mode}${organisationId}${externalId}`;
}
