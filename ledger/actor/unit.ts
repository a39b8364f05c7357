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

/** The memory of actors, as a decision changes it. */
export type Memory = {
  /** Applies effects to an actor's memory, as part of the unit. */
  apply<E extends Effects>(actor: Deciding<E>, effects: E): void;
  /** Takes back what was applied, but for the first `keep` effects. */
  discard(keep?: number): void;
};

/** What a unit is to do. */
export type Work<T> = {
  /** What it is called for operators. */
  readonly op: string;
  readonly size: UnitSize;
  /** Ids that the caller chose, by its idempotency keys. */
  readonly keys: readonly string[];
  /** All of one organisation, and at least one. */
  readonly actors: readonly Subject[];
  /** Decides and applies; calls `discard` where what was refused must leave no trace. */
  decide(memory: Memory): T;
};

/** The unit's keys were used before: look up what was answered. */
export const DUPLICATE = Symbol('duplicate');

type Applied = {
  readonly actor: Deciding<Effects>;
  readonly effects: Effects;
  readonly before: unknown;
};

/** Who submitted a unit. It is told once. */
type Submitter<T> = {
  /** The outcome is durable. */
  settled(outcome: T | typeof DUPLICATE, keys: readonly string[]): void;
  failed(error: unknown): void;
};

/**
 * Something decided on one actor or on many, as a whole. It may be decided again after a rollback.
 * Each event that is recorded makes one, so it has no promise and no closures of its own.
 */
export class ActorUnit<T> implements Unit, Memory {
  readonly tenant: string;
  readonly subject: string;
  readonly op: string;
  readonly size: UnitSize;
  readonly keys: readonly string[];
  effects: Effects[] = [];
  readonly #actors: readonly Subject[];
  readonly #work: Work<T>;
  /** One for each of `effects`. */
  #applied: Applied[] = [];
  #outcome: T | undefined;
  readonly #submitter: Submitter<T>;

  constructor(work: Work<T>, submitter: Submitter<T>) {
    const { actors } = work;
    const first = must(actors[0], 'a unit is about somebody');
    this.tenant = first.organisationId;
    this.subject = first.id;
    this.op = work.op;
    this.size = work.size;
    this.keys = work.keys;
    this.#actors = actors;
    for (const actor of actors) actor.held += 1;
    this.#work = work;
    this.#submitter = submitter;
  }

  decide(): void {
    this.#clear();
    try {
      this.#outcome = this.#work.decide(this);
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  apply<E extends Effects>(actor: Deciding<E>, effects: E): void {
    this.#applied.push({ actor, effects, before: actor.apply(effects) });
    this.effects.push(effects);
  }

  discard(keep = 0): void {
    const undone = this.#applied.splice(keep);
    for (const { actor, effects, before } of undone.reverse()) actor.unapply(effects, before);
    this.effects.splice(keep);
  }

  #clear(): void {
    if (this.effects.length === 0) return;
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
    const { keys } = this;
    if (how === 'committed') this.#submitter.settled(this.#outcome as T, keys);
    else if (how === 'duplicate') this.#submitter.settled(DUPLICATE, keys);
    else this.#submitter.failed(errorOf(how));
  }
}

function errorOf(how: Exclude<Settled, 'committed' | 'duplicate'>): unknown {
  if (how === 'overloaded') return new LedgerUnavailable('too much is waiting');
  if (how === 'slow') return new TooSlow('it was not written in time: nothing of it');
  if (how === 'unavailable') return new LedgerUnavailable('this node cannot write now');
  return how.failed;
}
