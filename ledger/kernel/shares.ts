import { assert } from './assert.ts';

/**
 * `amount` divided as the weights are, to the smallest coin: each gets its whole coins, and those
 * that came nearest to one more get what is left, the first ones first. No share is above its
 * weight.
 */
export function sharesOf(amount: bigint, weights: readonly bigint[]): readonly bigint[] {
  const all = weights.reduce((sum, weight) => sum + weight, 0n);
  assert(amount >= 0n && amount <= all, 'what is divided is within the weights');
  if (amount === 0n) return weights.map(() => 0n);
  const shares = weights.map((weight, place) => {
    assert(weight >= 0n, 'a weight is never negative');
    return { place, whole: (amount * weight) / all, rest: (amount * weight) % all };
  });
  const left = shares.reduce((rest, { whole }) => rest - whole, amount);
  const nearest = shares.toSorted((a, b) => (a.rest === b.rest ? 0 : a.rest > b.rest ? -1 : 1));
  const more = new Set(nearest.slice(0, Number(left)).map(({ place }) => place));
  return shares.map(({ place, whole }) => (more.has(place) ? whole + 1n : whole));
}
