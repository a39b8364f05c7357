import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { decimal, scaled } from '../../ledger/kernel/decimal.ts';

// prettier-ignore
const DECIMALS: [bigint, number, number, string][] = [
  // value       scale  at least  text
  [0n,           0,     0,        '0'],
  [0n,           21,    2,        '0.00'],
  [15_005n,      1,     0,        '1500.5'],
  [15_000n,      1,     0,        '1500'],
  [-1n,          9,     0,        '-0.000000001'],
  [-25n,         1,     0,        '-2.5'],
  [2_000_000n,   12,    2,        '0.000002'],
  [10n ** 21n,   21,    2,        '1.00'],
  [10n ** 21n,   21,    0,        '1'],
  [1n,           21,    0,        '0.000000000000000000001'],
  [12_340n,      0,     0,        '12340'],
];

test.each(DECIMALS)(
  'the decimal of %p with %p decimals, at least %p, is %s',
  (value, scale, atLeast, text) => {
    expect(decimal(value, scale, atLeast)).toBe(text);
  },
);

test('a decimal has no decimals that it does not need, unless some are asked for', () => {
  expect([decimal(1500n, 2), decimal(1550n, 2), decimal(0n, 0)]).toEqual(['15', '15.5', '0']);
});

test('a decimal reads back as the units it was made of', () => {
  const bound = 10n ** 40n;
  const value = fc.bigInt({ min: -bound, max: bound });
  const digits = fc.integer({ min: 0, max: 21 });
  fc.assert(
    fc.property(value, digits, digits, (n, scale, atLeast) => {
      expect(scaled(decimal(n, scale, Math.min(atLeast, scale)), scale)).toBe(n);
    }),
  );
});

test.each(['', '.5', '1.', '1e3', '0.123', '-'])('%p is no decimal of two digits', (text) => {
  expect(() => scaled(text, 2)).toThrow();
});
