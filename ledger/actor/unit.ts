import { must } from '../kernel/assert.ts';
import type { Effects } from '../effects.ts';
import { LedgerUnavailable, TooSlow } from '../ports.ts';
import type { UnitSize } from './unit-size.ts';
import type { Settled, Unit } from './journal-unit.ts';

/** An actor as a unit sees it: memory that takes decisions over, back, or for good. */
export type Deciding<E extends Effects> = {
  readonly pending: number;
  /** Returns what `unapply` needs. */
  apply(effects: E): unknown;
  unapply(effects: E, before: unknown): void;
  commit(effects: E): void;
  rollback(effects: E): void;
};

/** What a unit is about: it stays in memory until the unit is settled. */
export type Subject = {
  readonly id: string;
  readonly organisationId: string;
  readonly pending: number;
  held: number;
};

/** Applies effects to an actor's memory, as part of the unit. */
export type Apply = <E extends Effects>(actor: Deciding<E>, effects: E) => void;

/** Takes back what was applied, but for the first `keep` effects. */
export type Discard = (keep?: number) => void;

/** The unit's keys were used before: look up what was answered. */
export const DUPLICATE = Symbol('duplicate');

type Applied = {
  readonly actor: Deciding<Effects>;
  readonly effects: Effects;
  readonly before: unknown;
};

/**
 * Something decided on one actor or on many, as a whole: `run` decides and applies, and may be run
 * again after a rollback. The promise resolves with its outcome when that is durable.
 */
export class ActorUnit<T> implements Unit {
  readonly tenant: string;
  readonly subject: string;
  readonly op: string;
  readonly size: UnitSize;
  readonly keys: readonly string[];
  effects: Effects[] = [];
  readonly done: Promise<T | typeof DUPLICATE>;
  readonly #actors: readonly Subject[];
  readonly #run: (apply: Apply, discard: Discard) => T;
  #applied: Applied[] = [];
  #outcome: T | undefined;
  #resolve: (outcome: T | typeof DUPLICATE) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  /**
   * All `actors` are one organisation's. `run` calls `discard` where what was refused must leave no
   * trace.
   */
  constructor(options: {
    op: string;
    keys: readonly string[];
    actors: readonly Subject[];
    size: UnitSize;
    run: (apply: Apply, discard: Discard) => T;
  }) {
    const first = must(options.actors[0], 'a unit is about somebody');
    this.tenant = first.organisationId;
    this.subject = first.id;
    this.op = options.op;
    this.size = options.size;
    this.keys = options.keys;
    this.#actors = options.actors;
    for (const actor of this.#actors) actor.held += 1;
    this.#run = options.run;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  decide(): void {
    this.#clear();
    try {
      this.#outcome = this.#run(
        (actor, effects) => {
          this.#applied.push({ actor, effects, before: actor.apply(effects) });
          this.effects.push(effects);
        },
        (keep) => this.#discard(keep),
      );
    } catch (error) {
      this.#discard();
      throw error;
    }
  }

  #discard(keep = 0): void {
    const undone = this.#applied.splice(keep);
    for (const { actor, effects, before } of undone.reverse()) actor.unapply(effects, before);
    this.effects.splice(keep);
  }

  #clear(): void {
    this.#applied = [];
    this.effects = [];
  }

  isWaiting(): boolean {
    return this.#actors.some((actor) => actor.pending > 0);
  }

  commit(): void {
    for (const { actor, effects } of this.#applied) actor.commit(effects);
  }

  rollback(): void {
    for (const { actor, effects } of this.#applied) actor.rollback(effects);
    this.#clear();
  }

  settle(how: Settled): void {
    for (const actor of this.#actors) actor.held -= 1;
    if (how === 'committed') this.#resolve(this.#outcome as T);
    else if (how === 'duplicate') this.#resolve(DUPLICATE);
    else if (how === 'overloaded') this.#reject(new LedgerUnavailable('too much is waiting'));
    else if (how === 'slow') this.#reject(new TooSlow('it was not written in time: nothing of it'));
    else if (how === 'unavailable')
      this.#reject(new LedgerUnavailable('this node cannot write now'));
    else this.#reject(how.failed);
  }
}
