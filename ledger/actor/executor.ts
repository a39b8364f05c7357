import { NotOwner } from './own-slots.ts';
import { must } from '../kernel/assert.ts';
import type { Meter, MeterState } from '../metering/meter.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import { STALE } from '../outcome.ts';
import { LedgerUnavailable } from '../ports.ts';
import type { CachedActor } from './actor-cache.ts';
import type { Actor } from './actor.ts';
import type { ActorStore } from './actor-store.ts';
import type { Contexts } from './contexts.ts';
import type { Journal } from './journal.ts';
import { Lacking, type Loader } from './loader.ts';
import { ActorUnit, DUPLICATE, type Memory, type Subject, type Work } from './unit.ts';

/**
 * Something to decide and write. It takes a unit, or several where the first ones find out more; it
 * says for each what that one is to do. STALE: an actor of it was dropped. Lacking: memory has too
 * little.
 */
export type Task<T> = Work<T | Lacking | typeof STALE> & {
  /** Finds its actors again. RETRY, or the outcome where that is known now. */
  reload(): Promise<T | typeof RETRY>;
  /** Earlier calls used some of the unit's keys. The outcome, or RETRY for a unit without them. */
  onDuplicate(keys: readonly string[]): Promise<T | typeof RETRY>;
  /** Nothing more is asked of it. */
  onEnd?(how: 'has_outcome' | 'failed'): void;
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
  readonly #deps: ExecutorDeps;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  /**
   * Submits the task's units until one is decided and durable. @throws NotOwner, LedgerUnavailable
   */
  run<T>(task: Task<T>): Promise<T> {
    return new Run(this.#deps, task).start();
  }

  /** One decision on one actor. `decide` may return STALE: the actor is found again. */
  async decideOn<A extends CachedActor & Subject, T>(
    op: string,
    find: () => Promise<A>,
    keys: readonly string[],
    decide: (actor: A, memory: Memory) => T | Lacking | typeof STALE,
  ): Promise<T | typeof DUPLICATE> {
    let actor = await find();
    return this.run<T | typeof DUPLICATE>({
      op,
      size: SOME_ROWS,
      keys,
      get actors() {
        return [actor];
      },
      decide: (memory) => (actor.dropped ? STALE : decide(actor, memory)),
      reload: async () => {
        actor = await find();
        return RETRY;
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
    { once = null, op = 'meter' }: { readonly once?: Once<T> | null; readonly op?: string } = {},
  ): Promise<T> {
    const decided = await this.decideOn(
      op,
      () => this.#deps.store.actorOf(customerId),
      once === null ? [] : [once.id],
      (actor, memory) => {
        const { contexts } = this.#deps;
        const state = contexts.stateOf(actor, meter);
        const context = contexts.ofMeter(actor, meter);
        contexts.late.begin();
        const missing = op === TICK ? null : contexts.asleepBefore(actor, context, state);
        if (missing !== null) return new Lacking([{ actor, missing }]);
        const { outcome, effects } = decision(context, state, actor);
        if (effects !== null) memory.apply(actor, effects);
        return outcome;
      },
    );
    return decided === DUPLICATE ? must(once, 'a duplicate has an id').used : decided;
  }

  /** An answer from the memory of an actor. @throws LedgerUnavailable */
  async read<A extends CachedActor | null, T>(
    find: () => Promise<A>,
    answer: (actor: A) => T | Lacking,
  ): Promise<T> {
    for (;;) {
      const actor = await find();
      if (actor?.dropped === true) continue;
      // Checked last: the process may have stood still while it looked the actor up.
      if (!this.#deps.journal.isLeaseValid())
        throw new LedgerUnavailable('the lease is not renewed');
      const answered = answer(actor);
      if (!(answered instanceof Lacking)) return answered;
      await this.#deps.loader.load(answered);
    }
  }
}

/** An id that is used once, and the outcome where it was used before. */
type Once<T> = { readonly id: string; readonly used: T };

type ExecutorDeps = {
  readonly journal: Journal;
  readonly store: ActorStore;
  readonly contexts: Contexts;
  readonly loader: Loader;
};

type RunDeps = Pick<ExecutorDeps, 'journal' | 'loader'>;

/**
 * One task, from its first unit to its outcome.
 *
 * Each event that is recorded makes one. Nearly all have their outcome after one unit, so this has
 * one promise, and no async function before a second unit is needed: each would cost four objects.
 */
class Run<T> {
  readonly #deps: RunDeps;
  readonly #task: Task<T>;
  readonly #done = Promise.withResolvers<T>();
  #isOver = false;

  constructor(deps: RunDeps, task: Task<T>) {
    this.#deps = deps;
    this.#task = task;
  }

  start(): Promise<T> {
    this.#submit();
    return this.#done.promise;
  }

  /** Called by the unit: it is durable, or its keys were used before. */
  settled(outcome: T | Lacking | typeof STALE | typeof DUPLICATE, keys: readonly string[]): void {
    if (outcome === STALE) this.#after(this.#task.reload());
    else if (outcome === DUPLICATE) this.#after(this.#task.onDuplicate(keys));
    else if (outcome instanceof Lacking) this.#after(this.#load(outcome));
    else this.#succeed(outcome);
  }

  /** Called by the unit: it will not be durable. */
  failed(error: unknown): void {
    this.#end('failed');
    this.#done.reject(error);
  }

  #succeed(outcome: T): void {
    this.#end('has_outcome');
    this.#done.resolve(outcome);
  }

  #submit(): void {
    try {
      this.#deps.journal.submit(new ActorUnit(this.#task, this));
    } catch (error) {
      this.failed(error);
    }
  }

  /** Finds out more: the outcome, or RETRY for another unit. */
  #after(finding: Promise<T | typeof RETRY>): void {
    finding.then(
      (known) => (known === RETRY ? this.#submit() : this.#succeed(known)),
      (error: unknown) => this.failed(error),
    );
  }

  async #load(lacking: Lacking): Promise<T | typeof RETRY> {
    try {
      await this.#deps.loader.load(lacking);
      return RETRY;
    } catch (error) {
      if (!(error instanceof NotOwner)) throw error;
      // The actor moved meanwhile: as where it was dropped.
      return this.#task.reload();
    }
  }

  #end(how: 'has_outcome' | 'failed'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#task.onEnd?.(how);
  }
}

/** What does all that is due waits for nothing of it. */
export const TICK = 'tick';

/** The size of a small decision, before it is made. */
const SOME_ROWS = { rows: 8, bytes: 0 };
