import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type Cycle,
  INTERVALS,
  type Interval,
  boundary,
  periodIndex,
} from '../../ledger/kernel/calendar.ts';
import { calendarPeriod } from '../../ledger/metering/meter.ts';
import { someOf } from '../support/cases.ts';
import { holds, seeded } from './property.ts';

const iso = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');

// prettier-ignore
const BOUNDARIES: [string, Interval, string[]][] = [
  // anchor                 interval    boundaries 0, 1, 2 …
  ['2026-01-31T12:30:45Z',  'month',    ['2026-01-31T12:30:45Z', '2026-02-28T12:30:45Z', '2026-03-31T12:30:45Z', '2026-04-30T12:30:45Z']],
  ['2028-01-31T00:00:00Z',  'month',    ['2028-01-31T00:00:00Z', '2028-02-29T00:00:00Z', '2028-03-31T00:00:00Z']],
  ['2026-01-29T00:00:00Z',  'month',    ['2026-01-29T00:00:00Z', '2026-02-28T00:00:00Z', '2026-03-29T00:00:00Z']],
  ['2026-12-31T23:59:59Z',  'month',    ['2026-12-31T23:59:59Z', '2027-01-31T23:59:59Z', '2027-02-28T23:59:59Z']],
  ['2025-11-30T06:00:00Z',  'quarter',  ['2025-11-30T06:00:00Z', '2026-02-28T06:00:00Z', '2026-05-30T06:00:00Z', '2026-08-30T06:00:00Z']],
  ['2027-11-30T06:00:00Z',  'quarter',  ['2027-11-30T06:00:00Z', '2028-02-29T06:00:00Z', '2028-05-30T06:00:00Z']],
  ['2024-02-29T10:00:00Z',  'year',     ['2024-02-29T10:00:00Z', '2025-02-28T10:00:00Z', '2026-02-28T10:00:00Z', '2027-02-28T10:00:00Z', '2028-02-29T10:00:00Z']],
  ['2096-02-29T10:00:00Z',  'year',     ['2096-02-29T10:00:00Z', '2097-02-28T10:00:00Z', '2098-02-28T10:00:00Z', '2099-02-28T10:00:00Z', '2100-02-28T10:00:00Z']],
  ['2026-03-28T01:30:00Z',  'week',     ['2026-03-28T01:30:00Z', '2026-04-04T01:30:00Z', '2026-04-11T01:30:00Z']],
  ['2026-02-28T01:30:00Z',  'day',      ['2026-02-28T01:30:00Z', '2026-03-01T01:30:00Z', '2026-03-02T01:30:00Z']],
  ['2026-12-31T23:15:00Z',  'hour',     ['2026-12-31T23:15:00Z', '2027-01-01T00:15:00Z', '2027-01-01T01:15:00Z']],
];

test.each(BOUNDARIES)('periods from %s by the %s', (anchor, interval, expected) => {
  const cycle = { anchor: Date.parse(anchor), interval, count: 1, zone: 'UTC' };
  expect(expected.map((_, n) => iso(boundary(cycle, n)))).toEqual(expected);
});

// prettier-ignore
const IN_ZONES: [string, string, string, number, Interval, string[]][] = [
  // what zone anchor count interval boundaries 0, 1, 2 …
  ['summer begins: the wall clock stays',  'Europe/Berlin',       '2026-03-28T11:00:00Z',      1, 'day',    ['2026-03-28T11:00:00Z', '2026-03-29T10:00:00Z', '2026-03-30T10:00:00Z']],
  ['summer ends: the wall clock stays',    'Europe/Berlin',       '2026-10-24T10:00:00Z',      1, 'day',    ['2026-10-24T10:00:00Z', '2026-10-25T11:00:00Z']],
  ['an hour is an hour',                   'Europe/Berlin',       '2026-03-29T00:30:00Z',      1, 'hour',   ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z', '2026-03-29T02:30:00Z']],
  ['02:30 that is skipped is 03:30',       'Europe/Berlin',       '2026-03-28T01:30:00Z',      1, 'day',    ['2026-03-28T01:30:00Z', '2026-03-29T01:30:00Z', '2026-03-30T00:30:00Z']],
  ['02:30 that comes twice is the first',  'Europe/Berlin',       '2026-10-24T00:30:00Z',      1, 'day',    ['2026-10-24T00:30:00Z', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
  ['the 31st of the zone, not of UTC',     'America/Los_Angeles', '2026-02-01T02:00:00Z',      1, 'month',  ['2026-02-01T02:00:00Z', '2026-03-01T02:00:00Z', '2026-04-01T01:00:00Z', '2026-05-01T01:00:00Z']],
  ['the leap day of the zone',             'Pacific/Auckland',    '2028-02-28T12:00:00Z',      1, 'year',   ['2028-02-28T12:00:00Z', '2029-02-27T12:00:00Z']],
  ['half an hour of summer',               'Australia/Lord_Howe', '2026-10-02T15:45:00Z',      1, 'day',    ['2026-10-02T15:45:00Z', '2026-10-03T15:45:00Z', '2026-10-04T15:15:00Z']],
  ['the day that Samoa left out',          'Pacific/Apia',        '2011-12-28T20:00:00Z',      1, 'day',    ['2011-12-28T20:00:00Z', '2011-12-29T20:00:00Z', '2011-12-30T08:00:00Z', '2011-12-30T20:00:00Z']],
  ['a month that would end on it',         'Pacific/Apia',        '2011-11-30T20:00:00Z',      1, 'month',  ['2011-11-30T20:00:00Z', '2011-12-30T20:00:00Z', '2012-01-29T20:00:00Z']],
  ['every other week',                     'America/New_York',    '2026-03-01T17:00:00Z',      2, 'week',   ['2026-03-01T17:00:00Z', '2026-03-15T16:00:00Z']],
  ['half a year',                          'UTC',                 '2026-08-31T00:00:00Z',      6, 'month',  ['2026-08-31T00:00:00Z', '2027-02-28T00:00:00Z', '2027-08-31T00:00:00Z']],
];

test.each(IN_ZONES)(
  'periods in a time zone: %s',
  (_what, zone, anchor, count, interval, expected) => {
    const cycle = { anchor: Date.parse(anchor), interval, count, zone };
    expect(expected.map((_, n) => iso(boundary(cycle, n)))).toEqual(expected);
  },
);

test('period boundaries before the anchor are computed from it too', () => {
  const anchor = Date.parse('2026-03-31T00:00:00Z');
  const cycle = { anchor, interval: 'month', count: 1, zone: 'UTC' } as const;
  expect([-1, -2, -13].map((n) => iso(boundary(cycle, n)))).toEqual([
    '2026-02-28T00:00:00Z',
    '2026-01-31T00:00:00Z',
    '2025-02-28T00:00:00Z',
  ]);
});

test.each([0, -1, 1.5])('a period with a count of %p throws', (count) => {
  const cycle = { anchor: 0, interval: 'day', count, zone: 'UTC' } as const;
  expect(() => boundary(cycle, 1)).toThrow('at least one interval');
});

/**
 * Of each kind: no summer time, either hemisphere, half hours, changes at midnight, and days that
 * were skipped or came twice.
 */
const ZONES = `
  Africa/Cairo Africa/Casablanca Africa/Johannesburg Africa/Lagos America/Anchorage America/Asuncion
  America/Bogota America/Caracas America/Havana America/Los_Angeles America/New_York America/Nuuk
  America/Santiago America/Sao_Paulo America/Scoresbysund America/St_Johns Antarctica/Troll Asia/Amman
  Asia/Beirut Asia/Gaza Asia/Kathmandu Asia/Kolkata Asia/Pyongyang Asia/Tehran Asia/Tokyo Atlantic/Azores
  Australia/Adelaide Australia/Eucla Australia/Lord_Howe Europe/Berlin Europe/Dublin Europe/Istanbul
  Europe/London Europe/Volgograd Pacific/Apia Pacific/Auckland Pacific/Chatham Pacific/Fakaofo
  Pacific/Kiritimati Pacific/Kwajalein Pacific/Norfolk Pacific/Tongatapu
`
  .trim()
  .split(/\s+/);

const YEARS = 10;
const PER_YEAR: Record<Interval, number> = {
  hour: 8766,
  day: 366,
  week: 53,
  month: 12,
  quarter: 4,
  year: 1,
};

const zones = fc.oneof(fc.constant('UTC'), fc.constantFrom(...ZONES));
const counts = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 }));
const intervals = fc.constantFrom(...INTERVALS);
/** Any day of any month, often the last ones. */
const anchors = fc
  .tuple(
    fc.integer({ min: 1990, max: 2035 }),
    fc.nat(11),
    fc.oneof(fc.integer({ min: 1, max: 31 }), fc.integer({ min: 28, max: 31 })),
    fc.oneof(fc.nat(86_399_999), fc.constantFrom(0, 7_200_000, 86_399_999)),
  )
  .map(([year, month, day, ms]) => Date.UTC(year, month, day) + ms);
const cycles = fc.record({ anchor: anchors, interval: intervals, count: counts, zone: zones });

function expectPeriod(cycle: Cycle, n: number): void {
  const start = boundary(cycle, n);
  const end = boundary(cycle, n + 1);
  expect(end).toBeGreaterThan(start);
  expect([periodIndex(cycle, start), periodIndex(cycle, end - 1)]).toEqual([n, n]);
  expect(calendarPeriod(cycle, start)).toEqual({ start, end });
}

test(seeded('periods tile ten years without a gap or an overlap, and know their number'), () => {
  holds(
    fc.property(cycles, fc.nat(), (cycle, from) => {
      const count = Math.ceil((PER_YEAR[cycle.interval] * YEARS) / cycle.count);
      // All of the long ones; of the short ones some in a row, anywhere in the ten years.
      const first = count > 100 ? (from % (2 * count)) - count : -count;
      const last = count > 100 ? first + 100 : count;
      for (let n = first; n <= last; n += 1) expectPeriod(cycle, n);
    }),
    500,
  );
});

/** Of days: the first and the last of them in the short run. */
const TIMES = someOf(['00:00', '00:30', '02:15', '12:00', '23:45']);

test.each(ZONES)('periods of days in %s go on through every clock change of ten years', (zone) => {
  for (const time of TIMES) {
    const anchor = Temporal.ZonedDateTime.from(`2005-06-30T${time}[${zone}]`).epochMilliseconds;
    const cycle = { anchor, interval: 'day', count: 1, zone } as const;
    let start = boundary(cycle, 0);
    for (let n = 0; n < 3653; n += 1) {
      const end = boundary(cycle, n + 1);
      // The properties cover ordinary days well enough.
      if (end - start !== 86_400_000) expectPeriod(cycle, n);
      start = end;
    }
  }
});

test(seeded('every moment lies in the period that the calendar gives for it'), () => {
  const offsets = fc.integer({ min: -YEARS * 365 * 86_400_000, max: YEARS * 365 * 86_400_000 });
  holds(
    fc.property(cycles, offsets, (cycle, offset) => {
      const at = cycle.anchor + offset;
      const n = periodIndex(cycle, at);
      expect(boundary(cycle, n)).toBeLessThanOrEqual(at);
      expect(boundary(cycle, n + 1)).toBeGreaterThan(at);
    }),
    5000,
  );
});

test(
  seeded("a period in a time zone begins at its anchor's wall clock, but where the clock skips it"),
  () => {
    const local = (at: number, zone: string) =>
      Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
    holds(
      fc.property(
        cycles.filter(({ interval, zone }) => interval !== 'hour' && zone !== 'UTC'),
        fc.integer({ min: -500, max: 500 }),
        (cycle, n) => {
          const anchor = local(cycle.anchor, cycle.zone);
          const found = local(boundary(cycle, n), cycle.zone);
          const units = {
            day: 'days',
            week: 'weeks',
            month: 'months',
            quarter: 'months',
            year: 'years',
          };
          const size = n * cycle.count * (cycle.interval === 'quarter' ? 3 : 1);
          const unit = cycle.interval === 'hour' ? 'hours' : units[cycle.interval];
          const wanted = anchor.toPlainDateTime().add({ [unit]: size });
          const isThere = wanted.equals(wanted.toZonedDateTime(cycle.zone).toPlainDateTime());
          expect(found.toPlainDateTime().equals(wanted)).toBe(isThere);
        },
      ),
      3000,
    );
  },
);
