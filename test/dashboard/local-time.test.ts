import { expect, test } from 'bun:test';
import { instantOf, localTime } from '../../src/dashboard/parts/local-time.ts';

// prettier-ignore
const TIMES: [zone: string, local: string, iso: string][] = [
  ['UTC',              '2026-11-21T09:30:00', '2026-11-21T09:30:00Z'],
  ['Europe/Berlin',    '2026-11-21T09:30:00', '2026-11-21T08:30:00Z'],
  ['America/New_York', '2026-07-01T23:00:00', '2026-07-02T03:00:00Z'],
];

test.each(TIMES)('the local time %s is %s', (zone, local, iso) => {
  expect(instantOf(local, zone)).toBe(iso);
  expect(localTime(iso, zone)).toBe(local);
});

test('a local time may lack its seconds, and be a day alone where that is asked for', () => {
  expect(instantOf('2026-11-21T09:30', 'UTC')).toBe('2026-11-21T09:30:00Z');
  expect(instantOf('2026-11-21', 'Asia/Tokyo')).toBe('2026-11-20T15:00:00Z');
});

test('a local time in an hour that the clock skips is one hour later', () => {
  expect(instantOf('2026-03-29T02:30:00', 'Europe/Berlin')).toBe('2026-03-29T01:30:00Z');
});

test.each(['', 'soon', '2026-02-30T00:00:00', '2026-01-01T25:00'])(
  'the local time %p is left as it is',
  (text) => {
    expect(instantOf(text, 'UTC')).toBe(text);
  },
);
