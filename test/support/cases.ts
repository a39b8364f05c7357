/**
 * The number of cases of a property. With a planted fault (test/mutate) it is lower, and failing
 * cases are not shrunk.
 */
export const CASES_MAX = Number(process.env['CASES_MAX'] ?? Infinity);
