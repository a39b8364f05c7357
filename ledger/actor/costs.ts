import { must } from '../kernel/assert.ts';
import type { Meter, MeterState } from '../metering/meter.ts';
import { withReserved } from '../metering/capped.ts';
import type { Spending } from '../subscriptions/spend-cap.ts';

/** Of a customer's memory: what the next decision sees, and what the database has. */
export type Version = 'tentative' | 'durable';

/** A meter of a customer, one object as long as there is something on it. */
export type KnownMeter = { readonly meter: Meter } & {
  readonly [V in Version]?: MeterState | undefined;
};

/** Of one customer, once they were asked for. */
export type KnownCosts = { [V in Version]: Costs | null };

type Meters = ReadonlyMap<string, KnownMeter>;

type Cost = ReturnType<Spending['costOf']>;

/** Of one meter, as long as its state is this one and nothing is due of it. */
type MeterCost = {
  readonly state: MeterState;
  readonly from: number;
  readonly until: number;
  readonly used: Cost;
  readonly promised: Cost;
};

/** `from`, `until`: when nothing is due that is not reckoned. */
type Total = Omit<MeterCost, 'state'>;

const NOTHING: Total = { used: 0n, promised: 0n, from: -Infinity, until: Infinity };

/**
 * What the usage of all of a customer's meters comes to under its spend cap, in one version.
 *
 * How: a decision changes few meters, and each of them says so (`changed`). So it costs those that
 * have changed, however many others there are.
 */
export class Costs {
  readonly spending: Spending;
  readonly #version: Version;
  /** null: to be reckoned whole. */
  #total: Total | null = null;
  readonly #ofMeters = new WeakMap<KnownMeter, MeterCost>();
  readonly #changed = new Set<KnownMeter>();

  constructor(spending: Spending, version: Version) {
    this.spending = spending;
    this.#version = version;
  }

  get used(): Cost {
    return this.#now.used;
  }

  /** What all meters but one come to if all that is reserved is used. */
  promisedBeside(meters: Meters, { id }: Meter): Cost {
    const own = meters.get(id);
    return this.#now.promised - ((own && this.#ofMeters.get(own)?.promised) ?? 0n);
  }

  changed(meter: KnownMeter): void {
    this.#changed.add(meter);
  }

  /** Reckons what has changed, or is due by now. */
  update(meters: Meters, at: At): void {
    const total = this.#total;
    const isKept = total !== null && isAt(total, at.now);
    if (isKept && this.#changed.size === 0) return;
    // Whole the next time, should this one fail.
    this.#total = null;
    this.#total = isKept ? this.#corrected(total, meters, at) : this.#sum(meters, at);
    this.#changed.clear();
  }

  get #now(): Total {
    return must(this.#total, 'costs are reckoned before they are asked for');
  }

  #sum(meters: Meters, at: At): Total {
    let total = NOTHING;
    for (const one of meters.values()) total = plus(total, this.#costOf(one, at));
    return total;
  }

  #corrected(before: Total, meters: Meters, at: At): Total {
    let total = before;
    for (const one of this.#changed) {
      total = minus(total, this.#ofMeters.get(one));
      // What was refused may have left nothing.
      if (meters.get(one.meter.id) === one) total = plus(total, this.#costOf(one, at));
      else this.#ofMeters.delete(one);
    }
    return total;
  }

  /** null where there is nothing on it. */
  #costOf(one: KnownMeter, { now, advanced }: At): MeterCost | null {
    const { meter } = one;
    const state = one[this.#version];
    const known = this.#ofMeters.get(one);
    if (known !== undefined && known.state === state && isAt(known, now)) return known;
    this.#ofMeters.delete(one);
    if (state === undefined) return null;
    if (!mayCost(state)) {
      const free = { ...NOTHING, state };
      this.#ofMeters.set(one, free);
      return free;
    }
    const isNow = now < state.nextDue;
    const moved = isNow ? state : advanced(meter, state);
    const cost = {
      state,
      from: isNow ? -Infinity : now,
      until: moved.nextDue,
      used: this.spending.costOf(meter, moved),
      promised: this.spending.costOf(meter, withReserved(moved)),
    };
    this.#ofMeters.set(one, cost);
    return cost;
  }
}

type At = {
  readonly now: number;
  /** The state of a meter of which something is due, as it is now. */
  readonly advanced: (meter: Meter, state: MeterState) => MeterState;
};

/** Whether usage of it is sold, or may be without another decision. */
export function mayCost({ spans, grants }: MeterState): boolean {
  return spans.length > 0 || grants.some(({ price }) => price !== null);
}

function isAt({ from, until }: Total, now: number): boolean {
  return from <= now && now < until;
}

function plus(total: Total, cost: MeterCost | null): Total {
  if (cost === null) return total;
  return {
    used: total.used + cost.used,
    promised: total.promised + cost.promised,
    from: Math.max(total.from, cost.from),
    until: Math.min(total.until, cost.until),
  };
}

/** It may say sooner than it must that something is due. */
function minus(total: Total, cost: MeterCost | undefined): Total {
  if (cost === undefined) return total;
  return { ...total, used: total.used - cost.used, promised: total.promised - cost.promised };
}
