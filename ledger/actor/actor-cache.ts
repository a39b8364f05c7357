import { assert } from '../kernel/assert.ts';
import { LOADS_CONCURRENT_MAX, LOAD_KEYS_MAX, MAILBOX_MAX } from '../limits.ts';
import type { Timers } from '../ports.ts';
import { slotOf } from '../kernel/slot.ts';
import { Batcher } from '../kernel/batcher.ts';
import { NotOwner, type OwnSlots } from './own-slots.ts';

/** An actor as the cache sees it. */
export type CachedActor = {
  readonly id: string;
  readonly slot: number;
  /** Since the last sweep. */
  touched: boolean;
  /** Decisions that are not yet durable. An actor with any may not be dropped. */
  readonly pending: number;
  /** Calls that are about to decide on it. If it were dropped, each would start again. */
  held: number;
  /**
   * Whether it was dropped. Another actor may have the same id now, so this one decides nothing.
   */
  dropped: boolean;
  /** Its estimated memory in bytes (`weight.ts`). */
  readonly bytes: number;
  /** Called with the change of `bytes`. */
  onGrown: (bytes: number) => void;
};

/** Whose growth nobody watches. */
export const unwatched = (): void => undefined;

/** What may be in memory; what is in use is, whatever that is. */
export type CacheBounds = { readonly actors: number; readonly bytes: number };

/** Of what a node's memory has room for: each kind may be so many, and has a part of the bytes. */
export function partOf(
  { actors, bytes }: CacheBounds,
  kind: 'customers' | 'payments' | 'guests',
): CacheBounds {
  return { actors, bytes: kind === 'customers' ? (bytes * 3) / 4 : bytes / 8 };
}

/**
 * The actors of one kind in memory, for the slots of this node. Lives for one ownership session.
 *
 * How: an actor is loaded once, however many calls ask for it. Beyond `max` (actors and bytes) it
 * drops idle actors that were not asked for since the last sweep. This is a second-chance queue,
 * which costs the hot path one store.
 *
 * Holds: an actor with decisions in flight is never dropped. Dropping another costs one load.
 */
export class ActorCache<A extends CachedActor> {
  readonly #actors = new Map<string, A>();
  readonly #loads: Batcher<string, A>;
  readonly #slots: OwnSlots;
  readonly #max: CacheBounds;
  readonly #timers: Timers;
  readonly #onEnter: (actor: A) => void;
  readonly #onDrop: (actor: A) => void;
  readonly #onGrown = (bytes: number): void => {
    this.#bytes += bytes;
    this.#sweepSoon();
  };
  #bytes = 0;
  #evicted = 0;
  #sweeping = false;

  constructor(options: {
    slots: OwnSlots;
    timers: Timers;
    max: CacheBounds;
    load: (ids: readonly string[]) => Promise<readonly A[]>;
    onEnter?: (actor: A) => void;
    onDrop?: (actor: A) => void;
  }) {
    const { slots, timers, max, load } = options;
    this.#slots = slots;
    this.#max = max;
    this.#timers = timers;
    this.#onEnter = options.onEnter ?? (() => undefined);
    this.#onDrop = options.onDrop ?? (() => undefined);
    this.#loads = new Batcher({
      keysMax: LOAD_KEYS_MAX,
      concurrentMax: LOADS_CONCURRENT_MAX,
      waitingMax: MAILBOX_MAX,
      timers,
      nameOf: (id) => id,
      load: async (ids) => {
        const mark = slots.mark();
        const loaded = await load(ids);
        return loaded.map((actor) => [
          actor.id,
          this.#enter(actor, slots.isSince(mark, actor.slot)),
        ]);
      },
    });
  }

  get size(): number {
    return this.#actors.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get evicted(): number {
    return this.#evicted;
  }

  get loading(): number {
    return this.#loads.waiting;
  }

  ids(): IterableIterator<string> {
    return this.#actors.keys();
  }

  /** Only if it is in memory. */
  get(id: string): A | undefined {
    return this.#actors.get(id);
  }

  /**
   * The actor; for a tenant, where that is known. It may be `dropped` on arrival, if its slot was
   * lost meanwhile.
   * @throws NotOwner where its slot is not ours
   */
  async find(id: string, tenant?: string): Promise<A | null> {
    if (!this.#slots.has(slotOf(id))) throw new NotOwner();
    const actor = this.#actors.get(id) ?? (await this.#loads.get(id, tenant));
    if (actor !== null) actor.touched = true;
    return actor;
  }

  /** Drops the actor. It decides nothing from now on: callers that hold it look it up again. */
  drop(actor: A): void {
    assert(actor.pending === 0, 'an actor in use is not dropped');
    this.#forget(actor);
  }

  /** Drops the actors of lost slots. Their earlier decisions still become durable. */
  dropLost(): void {
    for (const actor of this.#actors.values()) {
      if (!this.#slots.has(actor.slot)) this.#forget(actor);
    }
  }

  #enter(loaded: A, isOurs: boolean): A {
    const actor = this.#actors.get(loaded.id) ?? loaded;
    if (actor !== loaded) return actor;
    if (!isOurs) {
      actor.dropped = true;
      return actor;
    }
    this.#actors.set(actor.id, actor);
    this.#bytes += actor.bytes;
    actor.onGrown = this.#onGrown;
    this.#onEnter(actor);
    this.#sweepSoon();
    return actor;
  }

  #forget(actor: A): void {
    this.#onDrop(actor);
    actor.dropped = true;
    actor.onGrown = unwatched;
    this.#bytes -= actor.bytes;
    this.#actors.delete(actor.id);
  }

  /** Not now: the callers that wait for a load must find the actor first. */
  #sweepSoon(): void {
    if (this.#sweeping || !this.#isOver()) return;
    this.#sweeping = true;
    this.#timers.soon(() => {
      this.#sweeping = false;
      this.#sweep();
    });
  }

  #isOver(): boolean {
    return this.#actors.size > this.#max.actors || this.#bytes > this.#max.bytes;
  }

  /**
   * Drops the oldest that are idle, down to the bound. Gives up after one round, when all are in
   * use.
   */
  #sweep(): void {
    let looks = this.#actors.size;
    for (const [id, actor] of this.#actors) {
      if (looks === 0 || !this.#isOver()) return;
      looks -= 1;
      if (actor.touched || actor.pending > 0 || actor.held > 0) {
        actor.touched = false;
        this.#actors.delete(id);
        this.#actors.set(id, actor);
        continue;
      }
      this.drop(actor);
      this.#evicted += 1;
    }
  }
}
