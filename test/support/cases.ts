/** How many cases of a property are enough. With a planted fault (test/mutate) fewer are, and nobody asks for the smallest that fails. */
export const CASES_MAX = Number(process.env['CASES_MAX'] ?? Infinity);
