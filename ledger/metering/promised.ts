import type { Grant } from './grants.ts';
import type { MeterState } from './meter.ts';

/**
 * What the period's credits may come to without another grant: what was granted, what grants give
 * later, and what a top-up gives that is being charged.
 */
export function promised({
  current,
  grants,
  topUp,
}: Pick<MeterState, 'current' | 'grants' | 'topUp'>): bigint {
  let units = current.granted + (topUp?.charge?.amount ?? 0n);
  for (const grant of grants) {
    units += rolloverOf(grant) + (grant.started ? 0n : (grant.amount ?? 0n));
  }
  return units;
}

/** What may roll over beside the grant itself. */
export function rolloverOf({ recurs }: Grant): bigint {
  return recurs?.rollover?.max ?? 0n;
}
