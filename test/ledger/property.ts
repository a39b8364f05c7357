import fc from 'fast-check';
import { CASES_MAX, casesOf } from '../support/cases.ts';

/** Fixed, so that every run is the same. A failure prints it with the path to the case. */
const SEED = 20_260_131;

/**
 * The property holds for `runs` cases, a part of them in the short run. Name the test with
 * `seeded`, so that the seed is in the output.
 */
export function holds<T>(property: fc.IProperty<T>, runs: number): void {
  fc.assert(property, parametersOf(runs));
}

/** The same of a property that waits. */
export function holdsLater<T>(property: fc.IAsyncProperty<T>, runs: number): Promise<void> {
  return fc.assert(property, parametersOf(runs));
}

function parametersOf(runs: number) {
  return {
    seed: SEED,
    numRuns: casesOf(runs),
    endOnFailure: CASES_MAX !== Infinity,
    includeErrorInReport: true,
  };
}

export const seeded = (name: string): string => `${name} (seed ${SEED})`;
