import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { INTERVALS, type Interval, boundary, periodIndex } from '../../ledger/calendar.ts';
import { calendarPeriod } from '../../ledger/meter.ts';
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

test.each(BOUNDARIES)('from %s by the %s', (anchor, interval, expected) => {
  const cycle = { anchor: Date.parse(anchor), interval };
  expect(expected.map((_, n) => iso(boundary(cycle, n)))).toEqual(expected);
});

test('boundaries before the anchor are computed from it too', () => {
  const cycle = { anchor: Date.parse('2026-03-31T00:00:00Z'), interval: 'month' } as const;
  expect([-1, -2, -13].map((n) => iso(boundary(cycle, n)))).toEqual([
    '2026-02-28T00:00:00Z',
    '2026-01-31T00:00:00Z',
    '2025-02-28T00:00:00Z',
  ]);
});

const YEARS = 10;
const PER_YEAR: Record<Interval, number> = {
  hour: 8766,
  day: 366,
  week: 53,
  month: 12,
  quarter: 4,
  year: 1,
};

const cycles = fc.record({
  anchor: fc.integer({ min: Date.UTC(1999, 11, 1), max: Date.UTC(2032, 11, 31) }),
  interval: fc.constantFrom(...INTERVALS),
});
const leapAnchors = fc.record({
  anchor: fc
    .constantFrom('2024-02-29', '2028-02-29', '2026-01-31', '2027-12-31', '2026-08-30')
    .chain((day) => fc.integer({ min: 0, max: 86_399_999 }).map((ms) => Date.parse(day) + ms)),
  interval: fc.constantFrom(...INTERVALS),
});
const anyCycle = fc.oneof(cycles, leapAnchors);

test(seeded('periods tile ten years without a gap or an overlap, and know their number'), () => {
  holds(
    fc.property(anyCycle, fc.nat(), (cycle, from) => {
      const count = PER_YEAR[cycle.interval] * YEARS;
      // All of the long ones; of the short ones a stretch anywhere in the ten years.
      const first = count > 500 ? from % (count - 200) : -count;
      const last = count > 500 ? first + 200 : count;
      for (let n = first; n <= last; n += 1) {
        const start = boundary(cycle, n);
        const end = boundary(cycle, n + 1);
        expect(end).toBeGreaterThan(start);
        expect(periodIndex(cycle, start)).toBe(n);
        expect(periodIndex(cycle, end - 1)).toBe(n);
        expect(calendarPeriod(cycle, start)).toEqual({ start, end });
      }
    }),
    200,
  );
});

test(seeded('every moment lies in the period that the calendar gives for it'), () => {
  holds(
    fc.property(
      anyCycle,
      fc.integer({ min: -YEARS * 365 * 86_400_000, max: YEARS * 365 * 86_400_000 }),
      (cycle, offset) => {
        const at = cycle.anchor + offset;
        const n = periodIndex(cycle, at);
        expect(boundary(cycle, n)).toBeLessThanOrEqual(at);
        expect(boundary(cycle, n + 1)).toBeGreaterThan(at);
      },
    ),
    5000,
  );
});
