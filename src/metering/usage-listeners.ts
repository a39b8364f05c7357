// Who has an endpoint that hears of usage: `usage.recorded` is written for nobody else.
//
// Who calls: whoever records usage, for each call, without a promise. The routes of endpoints tell of a change (src/platform/postgres/changes.ts),
// so that the next request counts it on every node.
// Holds: whoever subscribes misses nothing: where this process does not know, or would not hear of a change, the answer is yes, and
// the worst of that is an event that nobody is sent.
// Does not: keep anything of those who do not subscribe. All who do are read together: that is a few, and changes are rare.
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

/** Everyone whose usage some endpoint wants to hear of. */
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
        // While changes are not heard this is not asked either; `reset` comes when they are again.
        if (changes.trusted) timers.after(RETRY_MS, () => this.#refreshSoon());
      }
    }
  }
}
