// Bins of time: the hours, days or months of a calendar in a time zone.
//
// How it works: days and months are periods that begin at midnight (`calendar.ts`), so a day of 23
// or 25 hours is one bin. An hour begins where the clock strikes it or jumps into it: the hour that
// a clock shows twice is two bins.
// Holds: the edges ascend and cover the range without a gap. In every zone of today an edge lies on
// a quarter of an hour. Times are milliseconds since the epoch.
import { DAY_MS, HOUR_MS } from '../../ledger/kernel/durations.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { boundary, type Cycle, periodIndex } from '../../ledger/kernel/calendar.ts';

export const BINS = ['hour', 'day', 'month'] as const;
export type Bin = (typeof BINS)[number];

export type Calendar = {
  readonly bin: Bin;
  /** `UTC` or a zone of the IANA database. */
  readonly zone: string;
};

export const BINS_MAX = 1000;

/**
 * No bin is longer: a clock goes back by an hour, a zone crosses the date line, a month has 31
 * days.
 */
const LONGEST_MS: Record<Bin, number> = {
  hour: 2 * HOUR_MS,
  day: 2 * DAY_MS + HOUR_MS,
  month: 33 * DAY_MS,
};

/**
 * The edges of the bins that cover `[from, to)`: `from`, the calendar's edges in between, `to`. So
 * the first bin and the last are cut. `from` is before `to`.
 */
export function edgesOf(
  calendar: Calendar,
  { from, to }: { readonly from: number; readonly to: number },
): readonly number[] | 'too_many' {
  if ((to - from) / LONGEST_MS[calendar.bin] > BINS_MAX) return 'too_many';
  const edges = [from];
  const next = edgesAfter(calendar, from);
  for (let at = next(); at < to; at = next()) {
    edges.push(at);
    if (edges.length > BINS_MAX) return 'too_many';
  }
  edges.push(to);
  return edges;
}

/** The end of the bin that holds `at`. */
export function endOfBin(calendar: Calendar, at: number): number {
  return edgesAfter(calendar, at)();
}

/** The start of the bin that holds `at`. */
export function startOfBin(calendar: Calendar, at: number): number {
  const next = edgesAfter(calendar, at - LONGEST_MS[calendar.bin]);
  // An edge, since no bin is longer.
  let edge = next();
  for (let after = next(); after <= at; after = next()) edge = after;
  return edge;
}

/** The start of the `count`th bin before an edge; of days and months, by the calendar. */
export function binsBefore({ bin, zone }: Calendar, edge: number, count: number): number {
  if (bin === 'hour') return edge - count * HOUR_MS;
  const cycle = cycleOf(bin, zone);
  return boundary(cycle, periodIndex(cycle, edge) - count);
}

/** Returns what returns the next edge each time. */
function edgesAfter({ bin, zone }: Calendar, at: number): () => number {
  if (bin === 'hour') {
    let edge = at;
    return () => (edge = nextHour(edge, zone));
  }
  const cycle = cycleOf(bin, zone);
  let n = periodIndex(cycle, at);
  return () => boundary(cycle, (n += 1));
}

/** A first of the month at midnight, which every zone had. */
function cycleOf(interval: 'day' | 'month', zone: string): Cycle {
  const anchor =
    zone === 'UTC'
      ? Date.UTC(2000, 0)
      : Temporal.PlainDate.from('2000-01-01').toZonedDateTime(zone).epochMilliseconds;
  return { anchor, interval, count: 1, zone };
}

/** Where the clock next strikes an hour, or jumps past one. */
function nextHour(at: number, zone: string): number {
  if (zone === 'UTC') return Math.floor(at / HOUR_MS) * HOUR_MS + HOUR_MS;
  const now = clockAt(at, zone);
  const struck = at + HOUR_MS - intoHour(now);
  if (clockAt(struck, zone).offsetNanoseconds === now.offsetNanoseconds) return struck;
  const jump = must(now.getTimeZoneTransition('next'), 'where the clock jumps').epochMilliseconds;
  const after = clockAt(jump, zone);
  const isEdge = intoHour(after) === 0 || after.hour !== clockAt(jump - 1, zone).hour;
  return isEdge ? jump : nextHour(jump, zone);
}

const clockAt = (at: number, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);

/** What the clock shows after the full hour, in milliseconds. */
const intoHour = ({ minute, second, millisecond }: Temporal.ZonedDateTime): number =>
  (minute * 60 + second) * 1000 + millisecond;
