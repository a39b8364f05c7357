import { DAY_MS, HOUR_MS } from './durations.ts';
import { assert } from './assert.ts';

/**
 * Periods of a recurring allowance. Period n runs from `anchor + n x count x interval` to the next
 * such time.
 *
 * What holds: a day that a month does not have becomes its last day (31 Jan, 28 Feb, 31 Mar). Each
 * boundary is computed from the anchor, not from the last one, so nothing drifts
 * (docs/spec/subscriptions.md#subscriptions). In a time zone, days and longer units keep the wall
 * clock of the anchor; an hour is always an hour. Times are milliseconds since the epoch.
 */
export const INTERVALS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Interval = (typeof INTERVALS)[number];

export type Cycle = {
  readonly anchor: number;
  readonly interval: Interval;
  readonly count: number;
  /** `UTC` or a zone of the IANA database. */
  readonly zone: string;
};

/** What one interval is made of: each is whole hours, days or months. */
const PARTS: Record<Interval, { readonly unit: Unit; readonly size: number }> = {
  hour: { unit: 'hours', size: 1 },
  day: { unit: 'days', size: 1 },
  week: { unit: 'days', size: 7 },
  month: { unit: 'months', size: 1 },
  quarter: { unit: 'months', size: 3 },
  year: { unit: 'months', size: 12 },
};
type Unit = 'hours' | 'days' | 'months';

const FIXED_MS: Record<Unit, number | null> = { hours: HOUR_MS, days: DAY_MS, months: null };

/** Start of period `n`, which is also the end of period `n - 1`. */
export function boundary(cycle: Cycle, n: number): number {
  const { anchor, zone } = cycle;
  const { unit, size } = stepOf(cycle);
  const units = n * size;
  assert(Number.isSafeInteger(units), 'periods are counted in whole numbers');
  const fixed = fixedMs(unit, zone);
  if (fixed !== null) return anchor + units * fixed;
  return zone === 'UTC' ? addMonths(anchor, units) : addInZone(cycle, unit, units);
}

/**
 * The `n` whose period holds `at`: boundary(n) <= at < boundary(n + 1). Negative before the anchor.
 */
export function periodIndex(cycle: Cycle, at: number): number {
  const { anchor, zone } = cycle;
  const { unit, size } = stepOf(cycle);
  const fixed = fixedMs(unit, zone);
  if (fixed !== null) return Math.floor((at - anchor) / (size * fixed));
  const units = unit === 'days' ? (at - anchor) / DAY_MS : monthsBetween(anchor, at);
  let n = Math.floor(units / size) + 1;
  while (boundary(cycle, n) > at) n -= 1;
  if (zone === 'UTC') return n;
  // A zone may change its offset by more than a day: whole calendar days have been skipped.
  while (boundary(cycle, n + 1) <= at) n += 1;
  return n;
}

function stepOf({ interval, count }: Cycle): { unit: Unit; size: number } {
  assert(Number.isSafeInteger(count) && count > 0, 'a period is at least one interval');
  const { unit, size } = PARTS[interval];
  return { unit, size: size * count };
}

/** How long the unit always is; null where that depends on the calendar. */
function fixedMs(unit: Unit, zone: string): number | null {
  return unit === 'days' && zone !== 'UTC' ? null : FIXED_MS[unit];
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
  return ((at % DAY_MS) + DAY_MS) % DAY_MS;
}

function monthsBetween(anchor: number, at: number): number {
  const from = new Date(anchor);
  const to = new Date(at);
  return (
    (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + (to.getUTCMonth() - from.getUTCMonth())
  );
}

/**
 * The anchor's wall clock, `n` units later. A time that the clock skips becomes the one after the
 * gap, a repeated time the first of the two.
 */
function addInZone({ anchor, zone }: Cycle, unit: Unit, units: number): number {
  const from = Temporal.Instant.fromEpochMilliseconds(anchor).toZonedDateTimeISO(zone);
  const on = (more: number): number => from.add({ [unit]: units + more }).epochMilliseconds;
  const at = on(0);
  if (unit !== 'days') return at;
  // A zone that crosses the date line has no such day. The period would be empty, so it gets half
  // of the two days around it.
  const following = on(1);
  if (following > at) return at;
  const half = on(-1) + (following - on(-1)) / 2;
  assert(half < following, 'boundaries ascend');
  return Math.floor(half);
}
