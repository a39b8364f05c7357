import type { Members, Side } from '../metering/credits.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { Meter } from '../metering/meter.ts';
import type { Pool } from '../metering/pool.ts';
import type { KnownMeter, Version } from './costs.ts';

/** What a customer has anything on. `metersVersion`: how often a meter came or went. */
export type Holdings = {
  /** Until then nothing is due of any of them. Left out where that is not known. */
  readonly dueFrom?: number;
  readonly customerMeters: ReadonlyMap<string, KnownMeter>;
  readonly metersVersion: number;
};

type Kept = { readonly version: number; readonly meters: readonly KnownMeter[] };

type OfPool = {
  /** By any of its lists. */
  readonly ids: ReadonlySet<string>;
  readonly ofCustomers: WeakMap<Holdings['customerMeters'], Kept>;
};

/**
 * The meters of a customer that are members of a pool. Each decision of a pool asks, so they are
 * listed once, and again where the customer has got another meter or the pool another list.
 */
export class PoolMembers {
  readonly #pools = new WeakMap<Pool, OfPool>();

  of(pool: Pool, { customerMeters, metersVersion }: Holdings): readonly KnownMeter[] {
    const { ids, ofCustomers } = this.#of(pool);
    const known = ofCustomers.get(customerMeters);
    if (known?.version === metersVersion) return known.meters;
    const meters = [...customerMeters.values()].filter(({ meter }) => ids.has(meter.id));
    ofCustomers.set(customerMeters, { version: metersVersion, meters });
    return meters;
  }

  #of(pool: Pool): OfPool {
    const known = this.#pools.get(pool);
    if (known !== undefined) return known;
    const ids = new Set(pool.costs.flatMap(({ members }) => [...members.keys()]));
    const of: OfPool = { ids, ofCustomers: new WeakMap() };
    this.#pools.set(pool, of);
    return of;
  }
}

/**
 * Of one decision: as they are when it first looks. Most decisions look at nothing but the time.
 */
export class MembersNow implements Members {
  readonly #meters: readonly KnownMeter[];
  readonly #version: Version;
  readonly #contextOf: (meter: Meter) => MeterContext;
  #dueFrom: number | null;
  #sides: readonly Side[] | null = null;

  constructor(
    meters: readonly KnownMeter[],
    version: Version,
    {
      contextOf,
      dueFrom,
    }: {
      readonly contextOf: (meter: Meter) => MeterContext;
      /** Where it is known without a look at them: then, or sooner. */
      readonly dueFrom: number | null;
    },
  ) {
    this.#meters = meters;
    this.#version = version;
    this.#contextOf = contextOf;
    this.#dueFrom = dueFrom;
  }

  get dueFrom(): number {
    return (this.#dueFrom ??= this.#earliest());
  }

  get sides(): readonly Side[] {
    return (this.#sides ??= this.#meters.flatMap((one) => this.#sideOf(one) ?? []));
  }

  #earliest(): number {
    let from = Infinity;
    for (const one of this.#meters) {
      const state = one[this.#version];
      if (state !== undefined && state.nextDue < from) from = state.nextDue;
    }
    return from;
  }

  #sideOf(one: KnownMeter): Side | null {
    const { meter } = one;
    const state = one[this.#version];
    if (state === undefined) return null;
    const contextOf = this.#contextOf;
    return {
      state,
      // Most look at the state alone.
      get context() {
        return contextOf(meter);
      },
    };
  }
}
