import { must } from '../kernel/assert.ts';
import type { Meter, MeterState } from '../metering/meter.ts';
import type { MeterContext, MeterEffects } from '../metering/meter-draft.ts';
import { STALE } from '../outcome.ts';
import { LedgerUnavailable } from '../ports.ts';
import type { CachedActor } from './actor-cache.ts';
import type { Actor } from './actor.ts';
import type { ActorStore } from './actor-store.ts';
import type { Contexts } from './contexts.ts';
import type { Journal } from './journal.ts';
import { Lacking, type Loader } from './loader.ts';
import { ActorUnit, type Apply, DUPLICATE, type Subject } from './unit.ts';

/**
 * Something to decide and write. It takes a unit, or several where the first ones find out more.
 */
export type Task<T> = {
  /** The unit to submit now. STALE: an actor of it was dropped. Lacking: memory has too little. */
  unit(): ActorUnit<T | Lacking | typeof STALE>;
  /** Finds its actors again. */
  reload(): Promise<void>;
  /** Earlier calls used some of the unit's keys. The outcome, or RETRY for a unit without them. */
  onDuplicate(keys: readonly string[]): Promise<T | typeof RETRY>;
};

/** The task submits another unit. */
export const RETRY = Symbol('retry');

/**
 * Runs decisions on actors, and reads of actors.
 *
 * Holds: a decision is durable when its outcome leaves here. A read is answered only under a valid
 * lease, and never from an actor that was dropped.
 *
 * Does not: decide (the pure rooms), order or write units (`journal.ts`).
 */
export class Executor {
  readonly #journal: Journal;
  readonly #store: ActorStore;
  readonly #contexts: Contexts;
  readonly #loader: Loader;

  constructor(deps: { journal: Journal; store: ActorStore; contexts: Contexts; loader: Loader }) {
    this.#journal = deps.journal;
    this.#store = deps.store;
    this.#contexts = deps.contexts;
    this.#loader = deps.loader;
  }

  /**
   * Submits the task's units until one is decided and durable. @throws NotOwner, LedgerUnavailable
   */
  async run<T>(task: Task<T>): Promise<T> {
    for (;;) {
      const unit = task.unit();
      this.#journal.submit(unit);
      const outcome = await unit.done;
      if (outcome === STALE) {
        await task.reload();
      } else if (outcome === DUPLICATE) {
        const known = await task.onDuplicate(unit.keys);
        if (known !== RETRY) return known;
      } else if (outcome instanceof Lacking) {
        await this.#loader.load(outcome);
      } else {
        return outcome;
      }
    }
  }

  /** One decision on one actor. `decide` may return STALE: the actor is found again. */
  async decideOn<A extends CachedActor & Subject, T>(
    op: string,
    find: () => Promise<A>,
    keys: readonly string[],
    decide: (actor: A, apply: Apply) => T | typeof STALE,
  ): Promise<T | typeof DUPLICATE> {
    let actor = await find();
    return this.run<T | typeof DUPLICATE>({
      unit: () => {
        const own = actor;
        return new ActorUnit<T | typeof DUPLICATE | Lacking | typeof STALE>({
          op,
          size: SOME_ROWS,
          keys,
          actors: [own],
          run: (apply) => (own.dropped ? STALE : decide(own, apply)),
        });
      },
      reload: async () => {
        actor = await find();
      },
      onDuplicate: () => Promise.resolve(DUPLICATE),
    });
  }

  /** One decision on one meter of a customer. */
  async decideOnMeter<T>(
    customerId: string,
    meter: Meter,
    decision: (
      context: MeterContext,
      state: MeterState,
      actor: Actor,
    ) => { readonly outcome: T; readonly effects: MeterEffects | null },
    /** An id that is used once, and the outcome where it was used before. */
    once: { readonly id: string; readonly used: T } | null = null,
  ): Promise<T> {
    const decided = await this.decideOn(
      'meter',
      () => this.#store.actorOf(customerId),
      once === null ? [] : [once.id],
      (actor, apply) => {
        const state = this.#contexts.stateOf(actor, meter);
        const context = this.#contexts.ofMeter(actor, meter);
        const { outcome, effects } = decision(context, state, actor);
        if (effects !== null) apply(actor, effects);
        return outcome;
      },
    );
    return decided === DUPLICATE ? must(once, 'a duplicate has an id').used : decided;
  }

  /** An answer from the memory of an actor. @throws LedgerUnavailable */
  async read<A extends CachedActor | null, T>(
    find: () => Promise<A>,
    answer: (actor: A) => T,
  ): Promise<T> {
    for (;;) {
      const actor = await find();
      if (actor?.dropped === true) continue;
      // Checked last: the process may have stood still while it looked the actor up.
      if (!this.#journal.isLeaseValid()) throw new LedgerUnavailable('the lease is not renewed');
      return answer(actor);
    }
  }
}

/** The size of a small decision, before it is made. */
const SOME_ROWS = { rows: 8, bytes: 0 };
