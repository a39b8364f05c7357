/**
 * The number of cases of a property. With a planted fault (test/mutate) it is lower, and failing
 * cases are not shrunk.
 */
export const CASES_MAX = Number(process.env['CASES_MAX'] ?? Infinity);

/** A planted fault is shown as many cases: the short run tries no fewer. */
const FEWEST = 60;
/** Of the cases, in the short run. */
const SHARE = 1 / 4;
/** The long run tries all cases of the files that import this (test/run/long.ts). */
const IS_ALL = process.env['TEST_CASES'] === 'all';

/** Of `all` cases, those that this run tries. */
export function casesOf(all: number): number {
  if (CASES_MAX !== Infinity || IS_ALL) return Math.min(all, CASES_MAX);
  return Math.max(Math.min(all, FEWEST), Math.ceil(all * SHARE));
}

/**
 * Of the cases of a table, those that this run tries: all, or one in four, the first and the last
 * among them.
 */
export function someOf<T>(all: readonly T[]): readonly T[] {
  if (IS_ALL) return all;
  return all.filter((_, n) => n === all.length - 1 || n % (1 / SHARE) === 0);
}
