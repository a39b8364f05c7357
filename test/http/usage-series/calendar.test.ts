// The bins of a calendar: a table of what clocks do, and random ranges against what `Intl` says a
// clock shows at each quarter of an hour.
import { expect, test } from 'bun:test';
import {
  type Bin,
  BINS_MAX,
  binsBefore,
  edgesOf,
  endOfBin,
  startOfBin,
} from '../../../src/metering/calendar-bins.ts';
import { type Random, withSeed } from '../../support/random.ts';

const HOUR = 3_600_000;

type Row = readonly [
  what: string,
  zone: string,
  bin: Bin,
  from: string,
  to: string,
  hours: readonly number[],
];

// prettier-ignore
const ROWS: readonly Row[] = [
  ['whole days', 'UTC', 'day', '2026-03-01T00:00Z', '2026-03-04T00:00Z', [24, 24, 24]],
  ['cut at both ends', 'UTC', 'day', '2026-03-01T18:00Z', '2026-03-03T06:00Z', [6, 24, 6]],
  ['within one bin', 'UTC', 'day', '2026-03-01T18:00Z', '2026-03-01T19:00Z', [1]],
  ['an end on an edge', 'UTC', 'hour', '2026-03-01T18:30Z', '2026-03-01T20:00Z', [0.5, 1]],
  ['a day of 23 hours', 'Europe/Berlin', 'day', '2026-03-27T23:00Z', '2026-03-30T22:00Z', [24, 23, 24]],
  ['a day of 25 hours', 'Europe/Berlin', 'day', '2026-10-23T22:00Z', '2026-10-26T23:00Z', [24, 25, 24]],
  ['the hour that is skipped', 'Europe/Berlin', 'hour', '2026-03-29T00:00Z', '2026-03-29T02:00Z', [1, 1]],
  ['the hour that comes twice', 'Europe/Berlin', 'hour', '2026-10-25T00:00Z', '2026-10-25T02:00Z', [1, 1]],
  ['a day that begins at one', 'America/Havana', 'day', '2026-03-07T05:00Z', '2026-03-09T04:00Z', [24, 23]],
  ['a day with midnight twice', 'America/Havana', 'day', '2026-11-01T04:00Z', '2026-11-02T05:00Z', [25]],
  ['a zone of :45', 'Asia/Kathmandu', 'hour', '2026-03-01T00:00Z', '2026-03-01T02:00Z', [0.25, 1, 0.75]],
  ['a day in a zone of :30', 'Asia/Kolkata', 'day', '2026-03-01T00:00Z', '2026-03-03T00:00Z', [18.5, 24, 5.5]],
  ['half an hour forward', 'Australia/Lord_Howe', 'hour', '2026-10-03T14:30Z', '2026-10-03T17:00Z', [1, 0.5, 1]],
  ['half an hour back', 'Australia/Lord_Howe', 'hour', '2026-04-04T14:00Z', '2026-04-04T16:30Z', [1.5, 1]],
  ['past the hour, from a quarter to', 'Pacific/Chatham', 'hour', '2016-09-24T13:15Z', '2016-09-24T15:15Z', [0.75, 0.25, 1]],
  ['back to a quarter to', 'Pacific/Chatham', 'hour', '2016-04-02T12:15Z', '2016-04-02T15:15Z', [1, 0.75, 0.25, 1]],
  ['months', 'UTC', 'month', '2026-01-31T00:00Z', '2026-03-15T12:00Z', [24, 28 * 24, 14.5 * 24]],
  ['a leap year', 'UTC', 'month', '2028-02-01T00:00Z', '2028-03-01T00:00Z', [29 * 24]],
  ['a month with a short day', 'America/New_York', 'month', '2026-03-01T05:00Z', '2026-04-01T04:00Z', [31 * 24 - 1]],
  ['the last hour of time', 'UTC', 'hour', '9999-12-31T23:00Z', '9999-12-31T23:59:59.999Z', [1 - 1 / HOUR]],
];

test.each(ROWS)('bins of %s (%s, by %s)', (_what, zone, bin, first, last, hours) => {
  const from = Date.parse(first);
  const to = Date.parse(last);
  const edges = edgesOf({ bin, zone }, { from, to });
  const lengths = typeof edges === 'string' ? [] : edges.slice(1).map((at, i) => at - edges[i]!);
  expect(lengths.map((length) => length / HOUR)).toEqual([...hours]);
});

test('/usage answers 1000 bins, and no more', () => {
  const hours = (count: number) =>
    edgesOf({ bin: 'hour', zone: 'UTC' }, { from: HOUR / 2, to: HOUR / 2 + count * HOUR });
  expect(hours(BINS_MAX - 1)).toHaveLength(BINS_MAX + 1);
  expect(hours(BINS_MAX)).toBe('too_many');
  const ever = { from: 0, to: Date.UTC(9999, 11) };
  for (const bin of ['hour', 'day', 'month'] as const) {
    expect(edgesOf({ bin, zone: 'Europe/Berlin' }, ever)).toBe('too_many');
  }
});

test('a bin starts at the last edge that is not later', () => {
  const { from, to } = {
    from: Date.parse('2016-04-02T10:15Z'),
    to: Date.parse('2016-04-02T18:15Z'),
  };
  const calendar = { bin: 'hour', zone: 'Pacific/Chatham' } as const;
  const edges = edgesOf(calendar, { from, to });
  if (edges === 'too_many') throw new Error(edges);
  for (const [index, start] of edges.slice(0, -1).entries()) {
    for (const at of [start, start + 1, edges[index + 1]! - 1]) {
      expect(startOfBin(calendar, at)).toBe(start);
    }
  }
  const month = { bin: 'month', zone: 'UTC' } as const;
  expect(startOfBin(month, Date.UTC(2028, 2, 1) - 1)).toBe(Date.UTC(2028, 1));
  expect(startOfBin(month, 0)).toBe(0);
});

test('the end of a bin, and the start of the one before', () => {
  const day = { bin: 'day', zone: 'Europe/Berlin' } as const;
  const at = Date.parse('2026-03-29T12:00Z');
  expect(new Date(endOfBin(day, at)).toISOString()).toBe('2026-03-29T22:00:00.000Z');
  expect(new Date(endOfBin(day, endOfBin(day, at))).toISOString()).toBe('2026-03-30T22:00:00.000Z');
  expect(new Date(binsBefore(day, endOfBin(day, at), 2)).toISOString()).toBe(
    '2026-03-27T23:00:00.000Z',
  );
});

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/St_Johns',
  'America/Havana',
  'America/Santiago',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Asia/Beirut',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Australia/Adelaide',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
];
const QUARTER = HOUR / 4;
const PARTS = { hour: 4, day: 3, month: 2 } as const;

/** What a clock and calendar in the zone show: year, month, day, hour, minute. */
function clockOf(zone: string): (at: number) => string[] {
  const format = new Intl.DateTimeFormat('sv', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (at) => format.format(at).split(/\D+/);
}

/** The edges of a range, where another day or month shows, or the hour strikes. */
function struck({ zone, bin }: { zone: string; bin: Bin }, from: number, to: number): number[] {
  const clock = clockOf(zone);
  const label = (shown: string[]) => shown.slice(0, PARTS[bin]).join();
  const edges: number[] = [];
  let last = label(clock(from));
  for (let at = from + QUARTER; at < to; at += QUARTER) {
    const shown = clock(at);
    const strikes = bin === 'hour' && shown[4] === '00';
    if (strikes || label(shown) !== last) edges.push(at);
    last = label(shown);
  }
  return edges;
}

function expectRandom(random: Random): void {
  const bin = random.pick(['hour', 'day', 'month'] as const);
  const zone = random.pick(ZONES);
  const quarters = { hour: 400, day: 2000, month: 9000 }[bin];
  const from = Date.UTC(2014, 0) + random.integer(0, 16 * 365 * 96) * QUARTER;
  const to = from + random.integer(1, quarters) * QUARTER;
  const edges = edgesOf({ bin, zone }, { from, to });
  const expected = [from, ...struck({ zone, bin }, from, to), to];
  expect({ zone, bin, edges }).toEqual({ zone, bin, edges: expected });
}

test('bins of random ranges tile them', async () => {
  await withSeed(async (random) => {
    for (let run = 0; run < 100; run += 1) expectRandom(random);
  });
}, 60_000);
