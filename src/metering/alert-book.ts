// The alerts that a merchant has for each customer, in memory for the decisions of the ledger.
//
// Called for each usage, without a promise. The routes of alerts publish a change
// (src/platform/postgres/changes.ts), so the next usage sees it on every node.
// Holds: an organisation's alerts are read again as a whole when one of them changes, and nothing is
// kept of organisations without any. While this process may miss changes, what it knows stays: a
// threshold that was reached meanwhile fires with the next usage.
// Does not: hold alerts of single customers, which are with their actors.
import type { Alert, AlertsOf } from '../../ledger/metering/alert.ts';
import type { Timers } from '../../ledger/ports.ts';
import type { Changes, ChangeKind, Subscriber } from '../platform/postgres/changes.ts';
import type { listAlertsForAll } from '../records/alerts.ts';

const RETRY_MS = 1000;
const NONE: readonly Alert[] = [];

type Options = {
  /** Of an organisation; null: of all. */
  readonly list: (organisationId: string | null) => ReturnType<typeof listAlertsForAll>;
  readonly changes: Changes;
  readonly timers: Timers;
};

export async function openAlertBook(options: Options): Promise<{ readonly of: AlertsOf }> {
  const book = new Book(options);
  options.changes.subscribe(book);
  await book.refresh(null);
  return book;
}

class Book implements Subscriber {
  readonly #options: Options;
  readonly #byMeter = new Map<string, readonly Alert[]>();
  /** The meters of each organisation that have alerts. */
  readonly #metersOf = new Map<string, readonly string[]>();
  /** What is to be read again; null: everything. */
  #stale = new Set<string | null>();
  #reading: Promise<void> | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  readonly of: AlertsOf = ({ id }) => this.#byMeter.get(id) ?? NONE;

  async changed(kind: ChangeKind, id: string): Promise<void> {
    if (kind === 'alert') await this.refresh(id);
  }

  reset(): void {
    this.#refreshSoon(null);
  }

  /** Resolves when all that was committed before counts here. Never rejects. */
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
        } catch {
          // Without changes coming in this is not asked either; `reset` follows when they come again.
          if (changes.trusted) timers.after(RETRY_MS, () => this.#refreshSoon(organisationId));
        }
      }
    }
  }

  #replace(organisationId: string | null, alerts: Awaited<ReturnType<Options['list']>>): void {
    const before =
      organisationId === null
        ? this.#metersOf.values()
        : [this.#metersOf.get(organisationId) ?? []];
    for (const meters of before) for (const id of meters) this.#byMeter.delete(id);
    if (organisationId === null) this.#metersOf.clear();
    else this.#metersOf.delete(organisationId);
    for (const [meterId, of] of Map.groupBy(alerts, (alert) => alert.meterId)) {
      const own = of.map(({ id, type, threshold }) => ({ id, type, threshold }));
      this.#byMeter.set(meterId, own);
    }
    for (const [owner, of] of Map.groupBy(alerts, (alert) => alert.organisationId)) {
      this.#metersOf.set(owner, [...new Set(of.map(({ meterId }) => meterId))]);
    }
  }
}
