import { ALERT_DECISIONS_AT_ONCE, EVENT_LATE_MS_MAX } from '../limits.ts';
import { someAtOnce } from '../kernel/some-at-once.ts';
import type { Missing } from '../metering/usage.ts';
import type { SharedClock } from '../ports.ts';
import type { Storage } from '../storage.ts';
import type { Actor } from './actor.ts';
import type { Asleep } from './contexts.ts';
import { Sleepers, type Tick } from './sleepers.ts';

type LackingItem = { readonly actor: Actor; readonly missing: Missing | Asleep };

/** A decision could not be made yet: memory lacks these. */
export class Lacking {
  readonly items: readonly LackingItem[];

  constructor(items: readonly LackingItem[]) {
    this.items = items;
  }
}

/** What is due of a meter that the answer depends on comes first. */
export function asleep(actor: Actor, meterId: string, isLong = true): Lacking {
  return new Lacking([{ actor, missing: { kind: 'asleep', meterId, isLong } }]);
}

/**
 * Does what a decision lacked: reads earlier periods and members of a `unique` meter into actors,
 * and moves meters to now that were asleep.
 */
export class Loader {
  readonly #storage: Storage;
  readonly #orgClock: SharedClock;
  readonly #sleepers: Sleepers;

  constructor({ storage, orgClock }: { storage: Storage; orgClock: SharedClock }, tick: Tick) {
    this.#storage = storage;
    this.#orgClock = orgClock;
    this.#sleepers = new Sleepers(tick);
  }

  async load({ items }: Lacking): Promise<void> {
    const short = new Map<string, { readonly actor: Actor; readonly meterId: string }>();
    for (const { actor, missing } of items) {
      if (missing.kind !== 'asleep') {
        await this.#load(actor, missing);
      } else if (missing.isLong) {
        await this.#sleepers.wake(actor, missing);
      } else {
        const { meterId } = missing;
        short.set(`${actor.id} ${meterId}`, { actor, meterId });
      }
    }
    await someAtOnce(short.values(), ALERT_DECISIONS_AT_ONCE, ({ actor, meterId }) =>
      this.#sleepers.wake(actor, { meterId, isLong: false }),
    );
  }

  async #load(actor: Actor, missing: Missing): Promise<void> {
    actor.held += 1;
    try {
      if (missing.kind === 'history') {
        await loadHistory(
          { storage: this.#storage, orgClock: this.#orgClock },
          actor,
          missing.meterId,
        );
      } else {
        const { slot } = actor.customer;
        const { accountId, member } = missing;
        const found = await this.#storage.loadMembers({ slot, accountId }, [member]);
        actor.learnMembers(accountId, [member], found);
      }
    } finally {
      actor.held -= 1;
    }
  }
}

/** What may still be used late, or is held, is settled anew from it. */
export async function loadHistory(
  { storage, orgClock }: { readonly storage: Storage; readonly orgClock: SharedClock },
  actor: Actor,
  meterId: string,
): Promise<void> {
  const { id: customerId, slot } = actor.customer;
  const since = orgClock.now(actor.customer) - EVENT_LATE_MS_MAX;
  actor.learnHistory(meterId, await storage.loadHistory({ slot, customerId, meterId }, since));
}
