// Ten years of every billing cycle, from every day of a month, in forty time zones: one invoice for
// each period, and every period follows from the anchor.
import { expect, test } from 'bun:test';
import { INTERVALS } from '../../ledger/kernel/calendar.ts';
import type { Plan } from '../../ledger/subscriptions/subscription.ts';
import { someOf } from '../support/cases.ts';
import { MONTHLY, SubscriptionWorld } from './subscription-world.ts';
import { DAY } from './world.ts';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Lisbon',
  'Europe/Athens',
  'Europe/Moscow',
  'Europe/Istanbul',
  'Europe/Dublin',
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Phoenix',
  'America/Los_Angeles',
  'America/Anchorage',
  'America/St_Johns',
  'America/Halifax',
  'America/Sao_Paulo',
  'America/Santiago',
  'America/Asuncion',
  'America/Havana',
  'America/Scoresbysund',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Africa/Johannesburg',
  'Africa/Lagos',
  'Asia/Tokyo',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Tehran',
  'Asia/Beirut',
  'Asia/Jerusalem',
  'Asia/Shanghai',
  'Asia/Dubai',
  'Australia/Sydney',
  'Australia/Adelaide',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Pacific/Kiritimati',
];
const COUNTS = someOf(Array.from({ length: 12 }, (_, n) => n + 1));
/** From the last one back, so that the short run has those that not every month has. */
const DAYS = someOf(Array.from({ length: 31 }, (_, n) => 31 - n));
const YEARS = 10;
const UNITS = { day: 'days', week: 'weeks', month: 'months', year: 'years' } as const;
type Period = { readonly start: number; readonly end: number };

/** Free of charge: unpaid invoices are another test's subject. */
function billed(plan: Plan, zone: string, anchor: number, until: number): Period[] {
  const world = new SubscriptionWorld();
  world.now = anchor;
  world.start({ plan: { ...plan, unitAmount: 0n }, zone });
  world.now = until;
  world.do({ kind: 'tick' });
  expect(world.due).toBeGreaterThan(until);
  return world.followups.flatMap((one) =>
    one.kind === 'bill' ? [{ start: one.invoice.periodStart, end: one.invoice.periodEnd }] : [],
  );
}

/** By the wall clock of the zone, always from the anchor and never from the last period. */
function expected(
  { interval, intervalCount }: Plan,
  zone: string,
  anchor: number,
  until: number,
): Period[] {
  const from = Temporal.Instant.fromEpochMilliseconds(anchor).toZonedDateTimeISO(zone);
  const boundary = (n: number): number =>
    from.add({ [UNITS[interval]]: n * intervalCount }).epochMilliseconds;
  const periods: Period[] = [];
  for (let start = anchor; start <= until;) {
    const end = boundary(periods.length + 1);
    periods.push({ start, end });
    start = end;
  }
  return periods;
}

test.each(['day', 'week', 'month', 'year'] as const)(
  'a subscription renews by the %s',
  (interval) => {
    expect(ZONES).toHaveLength(40);
    expect(INTERVALS).toContain(interval);
    let bills = 0;
    for (const intervalCount of COUNTS) {
      for (const day of DAYS) {
        // Each of the zones meets each of the days and counts in turn.
        const zone = ZONES[(day * 12 + intervalCount * 7) % ZONES.length] ?? 'UTC';
        // A leap year, so that the 29th of February is one of the days.
        const month = day === 29 && intervalCount % 2 === 0 ? 1 : intervalCount % 2 === 0 ? 0 : 7;
        const anchor = Date.UTC(2024, month, day, 12, 34, 56, 789);
        const until = anchor + YEARS * 365.25 * DAY;
        const plan = { ...MONTHLY, interval, intervalCount };
        const periods = billed(plan, zone, anchor, until);
        expect(periods).toEqual(expected(plan, zone, anchor, until));
        bills += periods.length;
      }
    }
    expect(bills).toBeGreaterThan(DAYS.length * YEARS);
  },
  60_000,
);

test('a subscription renews at the end of the month in every time zone', () => {
  for (const zone of ZONES) {
    const local = Temporal.ZonedDateTime.from(`2024-01-31T10:00[${zone}]`);
    const until = local.add({ years: YEARS }).epochMilliseconds;
    const periods = billed(MONTHLY, zone, local.epochMilliseconds, until);
    const days = periods.map(({ start }) => {
      const at = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zone);
      expect([at.hour, at.minute]).toEqual([10, 0]);
      return at.day === at.daysInMonth;
    });
    expect(days).toEqual(Array.from({ length: 12 * YEARS + 1 }, () => true));
  }
});
