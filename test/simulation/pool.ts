// The pool of credits of a run: it pays for two meters, at costs that change while it runs.
import type { Meter } from '../../ledger/metering/meter.ts';
import type { Pool, PoolCosts } from '../../ledger/metering/pool.ts';
import type { Random } from '../support/random.ts';
import { type Catalogue, T0 } from './catalogue.ts';

const LISTS_MAX = 3;
const RUN_MS = 6000;

export function poolOf(random: Random, { meters }: Catalogue): Pool {
  const member = (meter: Meter) =>
    [meter.id, { meter, rate: BigInt(random.integer(1, 5)) }] as const;
  const later = Array.from({ length: random.integer(0, LISTS_MAX - 1) }, () => {
    return T0 + random.integer(1, RUN_MS);
  });
  const costs = [0, ...later.toSorted((a, b) => a - b)].map((since): PoolCosts => {
    const isAll = since === 0 || random.chance(0.7);
    const members = isAll ? [meters.tokens, meters.images] : [meters.tokens];
    return { since, members: new Map(members.map(member)) };
  });
  return { meter: meters.credits, costs };
}

export function membersOf({ costs }: Pool): ReadonlySet<string> {
  return new Set(costs.flatMap(({ members }) => [...members.keys()]));
}

/** Whether the meter is the pool, or one that it pays for by any of its lists. */
export function isOfPool(pool: Pool | null, meter: Meter): boolean {
  if (pool === null) return false;
  return meter.id === pool.meter.id || pool.costs.some(({ members }) => members.has(meter.id));
}
