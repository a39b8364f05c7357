import { assert } from './assert.ts';

/**
 * Periods of a recurring allowance: period n runs from `anchor + n x interval` to `anchor + (n + 1) x interval`, clamped to the
 * month (31 Jan, 28 Feb, 31 Mar) and computed from the anchor, never chained from the last one, so that nothing drifts (decisions
 * 7). UTC. Times are milliseconds since the epoch.
 */
export const INTERVALS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Interval = (typeof INTERVALS)[number];

export type Cycle = { readonly anchor: number; readonly interval: Interval };

const FIXED_MS: Partial<Record<Interval, number>> = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
};
const MONTHS: Partial<Record<Interval, number>> = { month: 1, quarter: 3, year: 12 };

/** Start of period `n`, which is also the end of period `n - 1`. */
export function boundary(cycle: Cycle, n: number): number {
  assert(Number.isSafeInteger(n), 'periods are counted in whole numbers');
  const fixed = FIXED_MS[cycle.interval];
  if (fixed !== undefined) return cycle.anchor + n * fixed;
  return addMonths(cycle.anchor, n * (MONTHS[cycle.interval] ?? 1));
}

function addMonths(anchor: number, months: number): number {
  const from = new Date(anchor);
  const month = from.getUTCMonth() + months;
  // Day 0 of the next month is the last day of this one.
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), lastDay);
  return Date.UTC(from.getUTCFullYear(), month, day) + timeOfDay(anchor);
}

function timeOfDay(at: number): number {
  return ((at % 86_400_000) + 86_400_000) % 86_400_000;
}

/** The `n` whose period holds `at`: boundary(n) <= at < boundary(n + 1). Negative before the anchor. */
export function periodIndex(cycle: Cycle, at: number): number {
  const fixed = FIXED_MS[cycle.interval];
  if (fixed !== undefined) return Math.floor((at - cycle.anchor) / fixed);
  const from = new Date(cycle.anchor);
  const to = new Date(at);
  const months =
    (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + (to.getUTCMonth() - from.getUTCMonth());
  let n = Math.floor(months / (MONTHS[cycle.interval] ?? 1)) + 1;
  while (boundary(cycle, n) > at) n -= 1;
  return n;
}
