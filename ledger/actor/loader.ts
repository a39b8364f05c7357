import { EVENT_LATE_MS_MAX } from '../limits.ts';
import type { Meter } from '../metering/meter.ts';
import type { Missing } from '../metering/usage.ts';
import type { SharedClock } from '../ports.ts';
import type { Storage } from '../storage.ts';
import type { Actor } from './actor.ts';

type LackingItem = { readonly actor: Actor; readonly meter: Meter; readonly missing: Missing };

/** A decision could not be made yet: memory lacks these. */
export class Lacking {
  readonly items: readonly LackingItem[];

  constructor(items: readonly LackingItem[]) {
    this.items = items;
  }
}

/** Reads into actors what a decision lacked: earlier periods, members of a `unique` meter. */
export class Loader {
  readonly #storage: Storage;
  readonly #orgClock: SharedClock;

  constructor({ storage, orgClock }: { storage: Storage; orgClock: SharedClock }) {
    this.#storage = storage;
    this.#orgClock = orgClock;
  }

  async load({ items }: Lacking): Promise<void> {
    for (const item of items) await this.#load(item);
  }

  async #load({ actor, meter, missing }: LackingItem): Promise<void> {
    const { id: customerId, slot } = actor.customer;
    actor.held += 1;
    try {
      if (missing.kind === 'history') {
        const since = this.#orgClock.now(actor.customer) - EVENT_LATE_MS_MAX;
        const { meterId = meter.id } = missing;
        const of = { slot, customerId, meterId };
        actor.learnHistory(meterId, await this.#storage.loadHistory(of, since));
      } else {
        const { accountId, member } = missing;
        const found = await this.#storage.loadMembers({ slot, accountId }, [member]);
        actor.learnMembers(accountId, [member], found);
      }
    } finally {
      actor.held -= 1;
    }
  }
}
