// What a merchant has defined beside its meters, in memory for the decisions of the ledger: one
// thing for each meter that has one.
//
// Called for each usage, without a promise. The routes publish a change
// (src/platform/postgres/changes.ts), so the next usage sees it on every node.
// Holds: what an organisation has is read again as a whole when some of it changes, and nothing is
// kept of organisations without any. While this process may miss changes, what it knows stays. No
// process serves before it has read once: without its pools usage would not be paid for.
import type { Timers } from '../../ledger/ports.ts';
import type { Changes, ChangeKind, Subscriber } from '../platform/postgres/changes.ts';

const RETRY_MS = 1000;

export type MeterBook<T> = {
  /** What the meter with this id has. */
  of(meterId: string): T | undefined;
};

export type BookEntry<T> = {
  readonly organisationId: string;
  readonly meterId: string;
  readonly value: T;
};

type Options<T> = {
  /** What changes it. */
  readonly kind: ChangeKind;
  /** Of an organisation; null: of all. Each meter once. */
  readonly list: (organisationId: string | null) => Promise<readonly BookEntry<T>[]>;
  readonly changes: Changes;
  readonly timers: Timers;
};

/** What a book is read from, and how it hears of changes. */
export type BookSource<T> = Pick<Options<T>, 'changes' | 'timers'> & {
  readonly list: (organisationId: string | null) => Promise<readonly T[]>;
};

/** @throws where it cannot be read now */
export async function openMeterBook<T>(options: Options<T>): Promise<MeterBook<T>> {
  const book = new Book(options);
  options.changes.subscribe(book);
  await book.refresh(null);
  return book;
}

class Book<T> implements MeterBook<T>, Subscriber {
  readonly #options: Options<T>;
  readonly #byMeter = new Map<string, T>();
  /** The meters of each organisation that have something. */
  readonly #metersOf = new Map<string, readonly string[]>();
  /** What is to be read again; null: everything. */
  #stale = new Set<string | null>();
  #reading: Promise<void> | null = null;
  #isRead = false;

  constructor(options: Options<T>) {
    this.#options = options;
  }

  of(meterId: string): T | undefined {
    return this.#byMeter.get(meterId);
  }

  async changed(kind: ChangeKind, id: string): Promise<void> {
    if (kind === this.#options.kind) await this.refresh(id);
  }

  reset(): void {
    this.#refreshSoon(null);
  }

  /**
   * Resolves when all that was committed before counts here. Rejects only before it was read once.
   */
  refresh(organisationId: string | null): Promise<void> {
    this.#stale.add(organisationId);
    this.#reading ??= this.#read().finally(() => (this.#reading = null));
    return this.#reading;
  }

  #refreshSoon(organisationId: string | null): void {
    this.refresh(organisationId).catch(() => undefined);
  }

  /** Again, while something changed since it began. */
  async #read(): Promise<void> {
    const { list, changes, timers } = this.#options;
    while (this.#stale.size > 0) {
      const stale = this.#stale;
      this.#stale = new Set();
      const asked = stale.has(null) ? [null] : [...stale];
      for (const organisationId of asked) {
        try {
          this.#replace(organisationId, await list(organisationId));
          this.#isRead ||= organisationId === null;
        } catch (error) {
          if (!this.#isRead) throw error;
          // Without changes coming in this is not asked either; `reset` follows when they come
          // again.
          if (changes.trusted) timers.after(RETRY_MS, () => this.#refreshSoon(organisationId));
        }
      }
    }
  }

  #replace(organisationId: string | null, entries: readonly BookEntry<T>[]): void {
    const before =
      organisationId === null
        ? this.#metersOf.values()
        : [this.#metersOf.get(organisationId) ?? []];
    for (const meters of before) for (const id of meters) this.#byMeter.delete(id);
    if (organisationId === null) this.#metersOf.clear();
    else this.#metersOf.delete(organisationId);
    for (const { meterId, value } of entries) this.#byMeter.set(meterId, value);
    for (const [owner, of] of Map.groupBy(entries, (entry) => entry.organisationId)) {
      this.#metersOf.set(
        owner,
        of.map(({ meterId }) => meterId),
      );
    }
  }
}
