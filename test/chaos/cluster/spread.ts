/** The minimum, the median and the maximum. */
export function spread(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  return [sorted[0], middle, sorted.at(-1)].map((number) => Math.round(number ?? 0)).join('/');
}
