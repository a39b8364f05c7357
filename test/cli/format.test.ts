// What a person sees: bars, times, aligned columns, and how far a file is.
import { expect, test } from 'bun:test';
import { columns } from '../../src/cli/columns.ts';
import { bar, clockTime, number, payersOf, restOf } from '../../src/cli/format.ts';
import { progressLine } from '../../src/cli/ingest/progress-bar.ts';

test.each([
  [0, '0:00'],
  [6.2, '0:07'],
  [750, '12:30'],
  [11_100, '3:05:00'],
  [-1, '0:00'],
])('%d seconds are printed as %s', (seconds, shown) => {
  expect(clockTime(seconds)).toBe(shown);
});

test.each([
  [0, '░░░░'],
  [0.5, '██░░'],
  [1, '████'],
  [7, '████'],
  [-1, '░░░░'],
])('a bar of %d is printed', (share, drawn) => {
  expect(bar(share, 4)).toBe(drawn);
});

test('printed numbers keep the decimals of a meter', () => {
  expect(number(1_234_567.123456789)).toBe('1,234,567.123456789');
  expect(restOf({ limit: null, remaining: null, consumed: 5 })).toBe('unlimited, 5 used');
});

test('a printed balance says what pays, where a credit pool may', () => {
  const paidBy = [
    { featureKey: 'chat', amount: 3 },
    { featureKey: 'credits', amount: 1.5 },
  ];
  expect(payersOf(paidBy)).toBe('  paid by 3 of chat, 1.5 of credits');
  expect([payersOf([]), payersOf(undefined)]).toEqual(['', '']);
});

test('printed columns are aligned', () => {
  expect(
    columns([
      ['a', 'long', 'x'],
      ['bcd', 'e'],
    ]),
  ).toEqual(['a    long  x', 'bcd  e']);
});

const done = { inserted: 0, duplicates: 0, rejected: 0, rejectedBytes: 0, identity: '' };
const from = { ...done, lines: 1000, offset: 10_000 };

test('the printed rate and remaining time of an ingest are those of this run', () => {
  const progress = { ...done, lines: 3000, offset: 30_000, rejected: 2 };
  expect(progressLine(progress, { from, size: 40_000, seconds: 10 })).toBe(
    '██████████████████░░░░░░   75 %  3,000 lines  200/s  ETA 0:05  2 rejected',
  );
  expect(progressLine(progress, { from, size: null, seconds: 10 })).toBe(
    '3,000 lines  200/s  2 rejected',
  );
});

test('a file that grew while it was ingested is printed as at most whole', () => {
  const progress = { ...done, lines: 3000, offset: 50_000 };
  expect(progressLine(progress, { from, size: 40_000, seconds: 1 })).toContain('100 %');
});
