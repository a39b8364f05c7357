// The organisations with an endpoint for `usage.recorded`: the event is written only for them.
//
// Called for each call that records usage, without a promise. The routes of endpoints publish a
// change (src/platform/postgres/changes.ts), so the next request sees it on every node.
// Holds: a subscriber misses nothing. If this process does not know, or may miss changes, the
// answer is yes; at worst an event is written that no endpoint gets.
// Does not: keep anything of organisations without such an endpoint. The list is read as a whole:
// it is short, and changes are rare.
import type { Timers } from '../../ledger/ports.ts';
import type { Changes, ChangeKind, Subscriber } from '../platform/postgres/changes.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

export type UsageSubscriptions = {
  wantsUsage(scope: Tenant): boolean;
};

const RETRY_MS = 1000;

type Known = { readonly test: ReadonlySet<string>; readonly live: ReadonlySet<string> };

export async function openUsageSubscriptions(options: {
  readonly list: () => Promise<readonly Tenant[]>;
  readonly changes: Changes;
  readonly timers: Timers;
}): Promise<UsageSubscriptions> {
  const subscriptions = new Subscriptions(options);
  options.changes.subscribe(subscriptions);
  await subscriptions.refresh();
  return subscriptions;
}

/** The tenants with an endpoint for usage. */
export async function listUsageSubscribers(sql: Executor): Promise<Tenant[]> {
  return sql<Tenant[]>`
    select distinct o.id as "organisationId", w.mode
    from webhook_endpoints w join organisations o on o.id = w.organisation_id or o.group_id = w.group_id
    where w.deleted_at is null and w.event_types && '{usage.recorded,*}'`;
}

class Subscriptions implements UsageSubscriptions, Subscriber {
  readonly #options: Parameters<typeof openUsageSubscriptions>[0];
  /** Organisations; null while they could not be read. */
  #known: Known | null = null;
  #isStale = false;
  #reading: Promise<void> | null = null;

  constructor(options: Parameters<typeof openUsageSubscriptions>[0]) {
    this.#options = options;
  }

  wantsUsage({ organisationId, mode }: Tenant): boolean {
    if (this.#known === null || !this.#options.changes.trusted) return true;
    return this.#known[mode].has(organisationId);
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
        const scopes = await list();
        const of = (mode: Tenant['mode']): ReadonlySet<string> =>
          new Set(
            scopes.filter((scope) => scope.mode === mode).map((scope) => scope.organisationId),
          );
        this.#known = { test: of('test'), live: of('live') };
      } catch {
        this.#known = null;
        // Without changes coming in this is not asked either; `reset` follows when they come again.
        if (changes.trusted) timers.after(RETRY_MS, () => this.#refreshSoon());
      }
    }
  }
}
