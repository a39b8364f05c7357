// The meters, in memory for /check and /track.
//
// Called by the metering routes, once for each feature of a request. A known answer comes without a
// promise.
// Holds: an archived or deleted meter stops counting, and a new one counts, within a second on
// every node (src/platform/postgres/changes.ts). A change of one meter drops all entries of its
// organisation: that is rare and needs no index. Memory is bounded by ENTRIES_MAX, unknown names
// included. When it is full, it is emptied; so is one organisation that exceeds its part.
import type { Changes, ChangeKind, Subscriber } from '../platform/postgres/changes.ts';
import type { UsageMeter } from '../records/meters.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

export type MeterCatalogue = {
  /** The active meter with this slug. */
  bySlug(scope: Tenant, slug: string): UsageMeter | null | Promise<UsageMeter | null>;
  /** The active meters that this event name feeds. */
  byEventName(
    scope: Tenant,
    eventName: string,
  ): readonly UsageMeter[] | Promise<readonly UsageMeter[]>;
};

export type MeterSource = {
  readonly findBySlug: (scope: Tenant, slug: string) => Promise<UsageMeter | null>;
  readonly listByEventName: (scope: Tenant, eventName: string) => Promise<readonly UsageMeter[]>;
};

const ENTRIES_MAX = 100_000;
/**
 * The most entries of one tenant, unknown names included. Beyond it that tenant's entries are
 * dropped, and no others.
 */
const ENTRIES_EACH_MAX = 5000;

type Entries = {
  readonly bySlug: Map<string, UsageMeter | null>;
  readonly byEventName: Map<string, readonly UsageMeter[]>;
};

export function openMeterCatalogue(options: {
  source: MeterSource;
  changes: Changes;
}): MeterCatalogue {
  const catalogue = new Catalogue(options.source, options.changes);
  options.changes.subscribe(catalogue);
  return catalogue;
}

class Catalogue implements MeterCatalogue, Subscriber {
  readonly #source: MeterSource;
  readonly #changes: Changes;
  readonly #test = new Map<string, Entries>();
  readonly #live = new Map<string, Entries>();
  #size = 0;
  /** Raised by every change: what was read before one must not be kept. */
  #generation = 0;

  constructor(source: MeterSource, changes: Changes) {
    this.#source = source;
    this.#changes = changes;
  }

  bySlug(scope: Tenant, slug: string): UsageMeter | null | Promise<UsageMeter | null> {
    const known = this.#entriesOf(scope)?.bySlug.get(slug);
    return known === undefined ? this.#findBySlug(scope, slug) : known;
  }

  byEventName(
    scope: Tenant,
    eventName: string,
  ): readonly UsageMeter[] | Promise<readonly UsageMeter[]> {
    return this.#entriesOf(scope)?.byEventName.get(eventName) ?? this.#list(scope, eventName);
  }

  changed(kind: ChangeKind, id: string): void {
    if (kind !== 'meter') return;
    this.#generation += 1;
    for (const entries of [this.#test.get(id), this.#live.get(id)]) {
      if (entries !== undefined) this.#size -= entries.bySlug.size + entries.byEventName.size;
    }
    this.#test.delete(id);
    this.#live.delete(id);
  }

  reset(): void {
    this.#generation += 1;
    this.#test.clear();
    this.#live.clear();
    this.#size = 0;
  }

  async #findBySlug(scope: Tenant, slug: string): Promise<UsageMeter | null> {
    const generation = this.#generation;
    const meter = await this.#source.findBySlug(scope, slug);
    if (this.#mayKeep(generation)) this.#room(scope).bySlug.set(slug, meter);
    return meter;
  }

  async #list(scope: Tenant, eventName: string): Promise<readonly UsageMeter[]> {
    const generation = this.#generation;
    const meters = await this.#source.listByEventName(scope, eventName);
    if (this.#mayKeep(generation)) this.#room(scope).byEventName.set(eventName, meters);
    return meters;
  }

  #mayKeep(generation: number): boolean {
    return this.#changes.trusted && generation === this.#generation;
  }

  #entriesOf({ organisationId, mode }: Tenant): Entries | undefined {
    return (mode === 'live' ? this.#live : this.#test).get(organisationId);
  }

  /** Where one more entry goes. */
  #room(scope: Tenant): Entries {
    if (this.#size >= ENTRIES_MAX) this.reset();
    // Two concurrent look-ups of one name are counted twice: it is only emptied earlier.
    this.#size += 1;
    const known = this.#entriesOf(scope);
    if (known !== undefined) {
      const size = known.bySlug.size + known.byEventName.size;
      if (size < ENTRIES_EACH_MAX) return known;
      this.#size -= size;
    }
    const entries: Entries = { bySlug: new Map(), byEventName: new Map() };
    (scope.mode === 'live' ? this.#live : this.#test).set(scope.organisationId, entries);
    return entries;
  }
}
