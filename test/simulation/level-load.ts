// Usage of a meter that carries its level, of customers whose periods end while it comes.
import type { Grant } from '../../ledger/metering/grants.ts';
import type { Random } from '../support/random.ts';
import { T0 } from './catalogue.ts';
import type { Usage } from './calls.ts';
import type { World } from './world.ts';

const HOUR_MS = 3_600_000;
const LATE_MS = 5000;

type Allowance = Pick<
  Grant,
  'source' | 'amount' | 'recurs' | 'effectiveAt' | 'expiresAt' | 'priority' | 'createdAt'
>;

/**
 * Allowances of an hour, each of which begins anew once in the run. The first one lasts; the others
 * lead the periods for a while.
 */
export function allowancesOf(random: Random, activeMs: number): readonly Allowance[] {
  return Array.from({ length: random.integer(1, 4) }, (_, index) => {
    const anchor = T0 + random.integer(200, activeMs) - HOUR_MS;
    return {
      source: 'manual' as const,
      amount: 1000n,
      recurs: {
        cycle: { anchor, interval: 'hour' as const, count: 1, zone: 'UTC' },
        rollover: null,
      },
      effectiveAt: anchor,
      expiresAt: index === 0 ? null : T0 + random.integer(200, activeMs),
      priority: 100 - index,
      createdAt: anchor,
    };
  });
}

/** A level that is set now, or was some time ago. */
export function levelled({ random, schedule, catalogue }: World, usage: Usage): Usage {
  const ago = random.chance(0.4) ? null : random.integer(1, LATE_MS);
  const request = {
    ...usage.request,
    value: BigInt(random.integer(0, 12)),
    member: null,
    eventAt: ago === null ? null : Math.floor(T0 + schedule.now - ago),
  };
  return { ...usage, meter: catalogue.meters.disk, request };
}
