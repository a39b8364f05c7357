// The organisations with an endpoint for an event that is written only for them (`HEARD_EVENTS`).
//
// Called for each call that records usage, without a promise. The routes of endpoints publish a
// change (src/platform/postgres/changes.ts), so the next request sees it on every node.
// Holds: a listener misses nothing. If this process does not know, or may miss changes, the
// answer is yes; at worst an event is written that no endpoint gets.
// Does not: keep anything of organisations without such an endpoint. The list is read as a whole:
// it is short, and changes are rare.
import { HEARD_EVENTS, type HeardEvent, type Wants } from '../../ledger/event.ts';
import type { Timers } from '../../ledger/ports.ts';
import type { Changes, ChangeKind, Subscriber } from '../platform/postgres/changes.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

export type EventListeners = {
  readonly wants: Wants;
};

/** A tenant, and an event that an endpoint of it hears. */
type Listener = Tenant & { readonly type: HeardEvent };

const RETRY_MS = 1000;

/** Organisations, by event and mode. */
type Known = Readonly<Record<HeardEvent, Readonly<Record<Tenant['mode'], ReadonlySet<string>>>>>;

export async function openEventListeners(options: {
  readonly list: () => Promise<readonly Listener[]>;
  readonly changes: Changes;
  readonly timers: Timers;
}): Promise<EventListeners> {
  const listeners = new Listeners(options);
  options.changes.subscribe(listeners);
  await listeners.refresh();
  return listeners;
}

export async function listListeners(sql: Executor): Promise<Listener[]> {
  return sql<Listener[]>`
    select distinct o.id as "organisationId", w.mode, h.type
    from webhook_endpoints w join organisations o on o.id = w.organisation_id or o.group_id = w.group_id
    join unnest(${[...HEARD_EVENTS]}::text[]) h (type) on w.event_types && array[h.type, '*']
    where w.deleted_at is null`;
}

class Listeners implements EventListeners, Subscriber {
  readonly #options: Parameters<typeof openEventListeners>[0];
  /** null while they could not be read. */
  #known: Known | null = null;
  #isStale = false;
  #reading: Promise<void> | null = null;

  constructor(options: Parameters<typeof openEventListeners>[0]) {
    this.#options = options;
  }

  wants({ organisationId, mode }: Tenant, type: HeardEvent): boolean {
    if (this.#known === null || !this.#options.changes.trusted) return true;
    return this.#known[type][mode].has(organisationId);
  }

  async changed(kind: ChangeKind): Promise<void> {
    if (kind === 'webhook_endpoint') await this.refresh();
  }

  reset(): void {
    this.#refreshSoon();
  }

  /** Resolves when all that was committed before counts here. */
  refresh(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#read().finally(() => (this.#reading = null));
    return this.#reading;
  }

  #refreshSoon(): void {
    this.refresh().catch(() => undefined);
  }

  /** Never rejects. Again, while something changed since it began. */
  async #read(): Promise<void> {
    const { list, changes, timers } = this.#options;
    while (this.#isStale) {
      this.#isStale = false;
      try {
        const listeners = await list();
        const of = (type: HeardEvent, mode: Tenant['mode']): ReadonlySet<string> =>
          new Set(
            listeners
              .filter((one) => one.type === type && one.mode === mode)
              .map((one) => one.organisationId),
          );
        const both = (type: HeardEvent) => ({ test: of(type, 'test'), live: of(type, 'live') });
        this.#known = Object.fromEntries(HEARD_EVENTS.map((type) => [type, both(type)])) as Known;
      } catch {
        this.#known = null;
        // Without changes coming in this is not asked either; `reset` follows when they come again.
        if (changes.trusted) timers.after(RETRY_MS, () => this.#refreshSoon());
      }
    }
  }
}
