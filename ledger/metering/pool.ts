import type { Meter } from './meter.ts';

/**
 * Pools: a meter of credits that pays for the use of other meters, its members (beyond.md 4).
 *
 * A pool's definition is configuration. A list of costs counts for each customer from the first
 * period of the pool that begins when the list is there, or later.
 */
export type Pool = {
  /** Its units are credits. */
  readonly meter: Meter;
  /** Each list of costs that it has had, ascending by `since`. */
  readonly costs: readonly PoolCosts[];
};

export type PoolCosts = {
  /** Milliseconds of the organisation's clock; 0 for the list that the pool was made with. */
  readonly since: number;
  /** By the id of the member's meter. */
  readonly members: ReadonlyMap<string, PoolMember>;
};

export type PoolMember = {
  readonly meter: Meter;
  /** Credits, scaled as the pool's, for one scaled unit of the member. Above 0. */
  readonly rate: bigint;
};

/**
 * The pool that this meter is, or that it is a member of by any of the pool's lists; null for
 * neither. Called for each decision, without a promise.
 */
export type PoolOf = (meter: Meter) => Pool | null;
