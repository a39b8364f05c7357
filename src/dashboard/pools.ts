// Which pool of credits pays for a feature, as far as the dashboard looks.
import type { Tollhouse } from '../client/index.ts';
import type { Meter } from '../client/types.ts';
import { firstOf } from './serve/lists.ts';

/** As many as are looked through for the pool that pays. */
const METERS_MAX = 200;

export const metersOf = (api: Tollhouse): Promise<readonly Meter[]> =>
  firstOf(api.meters.list({ limit: METERS_MAX }), METERS_MAX);

/** The slug of the pool whose list in force has the feature, or null. */
export function poolOf(feature: string, meters: readonly Meter[]): string | null {
  const pays = meters.find(({ creditCosts }) =>
    creditCosts.some(({ featureKey }) => featureKey === feature),
  );
  return pays?.slug ?? null;
}
