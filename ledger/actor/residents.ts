import { assert } from '../assert.ts';
import { LOADS_CONCURRENT_MAX, LOAD_KEYS_MAX, MAILBOX_MAX } from '../limits.ts';
import type { Timers } from '../ports.ts';
import { Batcher } from './batcher.ts';

/** An actor, as whoever keeps it in memory sees it. */
export type Resident = {
  readonly id: string;
  /** Since the last sweep. */
  touched: boolean;
  /** Decisions that are not yet durable. An actor with any may not be dropped. */
  readonly pending: number;
  /** Whether it was let go: another one may stand for the same id now, so this one decides nothing any more. */
  dropped: boolean;
};

/**
 * Actors of one kind in memory, each loaded once however many ask. Lives for one term of a node.
 *
 * Memory is bounded by `max`: beyond it, actors that nobody asked for since the last sweep and that have nothing in flight are
 * dropped (a second-chance queue, which costs the hot path one store). An actor is only a cache: dropping one costs a load.
 */
export class Residents<A extends Resident> {
  readonly #actors = new Map<string, A>();
  readonly #loads: Batcher<string, A>;
  readonly #max: number;
  readonly #timers: Timers;
  readonly #onDrop: (actor: A) => void;
  #evicted = 0;
  #sweeping = false;

  constructor(options: {
    timers: Timers;
    max: number;
    load: (ids: readonly string[]) => Promise<readonly A[]>;
    onEnter?: (actor: A) => void;
    onDrop?: (actor: A) => void;
  }) {
    const { timers, max, load, onEnter = () => undefined, onDrop = () => undefined } = options;
    this.#max = max;
    this.#timers = timers;
    this.#onDrop = onDrop;
    this.#loads = new Batcher({
      keysMax: LOAD_KEYS_MAX,
      concurrentMax: LOADS_CONCURRENT_MAX,
      waitingMax: MAILBOX_MAX,
      timers,
      nameOf: (id) => id,
      load: async (ids) =>
        (await load(ids)).map((loaded) => {
          const actor = this.#actors.get(loaded.id) ?? loaded;
          if (actor === loaded) {
            this.#actors.set(actor.id, actor);
            onEnter(actor);
            this.#sweepSoon();
          }
          return [actor.id, actor];
        }),
    });
  }

  get size(): number {
    return this.#actors.size;
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

  async find(id: string): Promise<A | null> {
    const actor = this.#actors.get(id) ?? (await this.#loads.get(id));
    if (actor !== null) actor.touched = true;
    return actor;
  }

  /** From here on it decides nothing: whoever still holds it looks it up again. */
  drop(actor: A): void {
    assert(actor.pending === 0, 'an actor in use is not dropped');
    this.#onDrop(actor);
    actor.dropped = true;
    this.#actors.delete(actor.id);
  }

  /** Not now: whoever waits for what was just loaded shall find it. */
  #sweepSoon(): void {
    if (this.#sweeping || this.#actors.size <= this.#max) return;
    this.#sweeping = true;
    this.#timers.soon(() => {
      this.#sweeping = false;
      this.#sweep();
    });
  }

  /** Drops the oldest that are idle, down to the bound. Gives up after one round, when all are in use. */
  #sweep(): void {
    let looks = this.#actors.size;
    for (const [id, actor] of this.#actors) {
      if (this.#actors.size <= this.#max || looks === 0) return;
      looks -= 1;
      if (actor.touched || actor.pending > 0) {
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
