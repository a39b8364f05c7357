import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { QUANTITY_BOUND } from '../../ledger/limits.ts';
import { inRange, parseQuantity, quantityNumber } from '../../ledger/kernel/quantity.ts';
import { casesOf } from '../support/cases.ts';
import { holds, seeded } from './property.ts';
import { World } from './world.ts';

// prettier-ignore
const PARSED: [number | string, number, bigint][] = [
  // input                scale  units
  [0,                     0,     0n],
  [-0,                    6,     0n],
  ['-0',                  6,     0n],
  [1,                     0,     1n],
  [-7,                    0,     -7n],
  ['007',                 0,     7n],
  [1,                     6,     1_000_000n],
  [0.1,                   6,     100_000n],
  ['0.1',                 6,     100_000n],
  [12.5,                  6,     12_500_000n],
  [-12.5,                 1,     -125n],
  [1e-6,                  6,     1n],
  [1e-7,                  9,     100n],
  ['0.000000001',         9,     1n],
  ['1.50',                1,     15n],
  ['1.0',                 0,     1n],
  ['1.000000000000000',   0,     1n],
  [1e3,                   0,     1000n],
  [1e14,                  0,     100_000_000_000_000n],
  ['999999999999999',     0,     999_999_999_999_999n],
  ['-999999999.999999',   6,     -999_999_999_999_999n],
  ['999999.999999999',    9,     999_999_999_999_999n],
];

test.each(PARSED)('the quantity %p at scale %p is %p', (input, scale, units) => {
  expect(parseQuantity(input, scale)).toBe(units);
});

// prettier-ignore
const REFUSED: [number | string, number, string][] = [
  // input                scale  why
  [0.5,                   0,     'too_many_decimals'],
  ['1.23',                1,     'too_many_decimals'],
  [1e-7,                  6,     'too_many_decimals'],
  ['0.0000000001',        9,     'too_many_decimals'],
  [1e15,                  0,     'out_of_range'],
  [-1e15,                 0,     'out_of_range'],
  ['1000000000',          6,     'out_of_range'],
  ['-1000000',            9,     'out_of_range'],
  [1e9,                   6,     'out_of_range'],
  [1e300,                 0,     'out_of_range'],
  [Number.MAX_VALUE,      9,     'out_of_range'],
  [NaN,                   6,     'out_of_range'],
  [Infinity,              6,     'out_of_range'],
  [-Infinity,             6,     'out_of_range'],
  ['',                    6,     'not_a_decimal'],
  [' 1',                  6,     'not_a_decimal'],
  ['1 ',                  6,     'not_a_decimal'],
  ['1\n',                 6,     'not_a_decimal'],
  ['+1',                  6,     'not_a_decimal'],
  ['--1',                 6,     'not_a_decimal'],
  ['.5',                  6,     'not_a_decimal'],
  ['5.',                  6,     'not_a_decimal'],
  ['1,5',                 6,     'not_a_decimal'],
  ['1e3',                 6,     'not_a_decimal'],
  ['0x10',                6,     'not_a_decimal'],
  ['1_000',               6,     'not_a_decimal'],
  ['NaN',                 6,     'not_a_decimal'],
  ['Infinity',            6,     'not_a_decimal'],
  ['١',                   6,     'not_a_decimal'],
  ['１',                  6,     'not_a_decimal'],
];

test.each(REFUSED)('the quantity %p at scale %p is refused: %s', (input, scale, why) => {
  expect(parseQuantity(input, scale)).toBe(why as ReturnType<typeof parseQuantity>);
});

test('a quantity from a double with noise in its tail is refused, not rounded', () => {
  expect<bigint | string>(parseQuantity(0.1 + 0.2, 9)).toBe('too_many_decimals');
  expect<bigint | string>(parseQuantity(1e-20, 9)).toBe('too_many_decimals');
});

test('a quantity at the bound is out of range, one less is in', () => {
  expect(inRange(QUANTITY_BOUND)).toBe(false);
  expect(inRange(-QUANTITY_BOUND)).toBe(false);
  expect(inRange(QUANTITY_BOUND - 1n)).toBe(true);
  expect(inRange(1n - QUANTITY_BOUND)).toBe(true);
});

test('a quantity at a scale that no meter has throws', () => {
  expect(() => parseQuantity(1, 10)).toThrow('scale out of range');
  expect(() => quantityNumber(1n, -1)).toThrow('scale out of range');
});

const scales = fc.integer({ min: 0, max: 9 });
const units = fc.bigInt({ min: 1n - QUANTITY_BOUND, max: QUANTITY_BOUND - 1n });

test(
  seeded('a quantity sent as a number comes back as the same units, also through its text'),
  () => {
    holds(
      fc.property(scales, units, (scale, value) => {
        const number = quantityNumber(value, scale);
        expect(parseQuantity(number, scale)).toBe(value);
        expect(parseQuantity(JSON.parse(JSON.stringify(number)) as number, scale)).toBe(value);
      }),
      5000,
    );
  },
);

test(seeded('a quantity of at most 15 digits is sent as it came'), () => {
  holds(
    fc.property(scales, units, (scale, value) => {
      const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
      const whole = digits.slice(0, digits.length - scale);
      const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
      const text = (value < 0n ? '-' : '') + whole + (fraction === '' ? '' : `.${fraction}`);
      const parsed = parseQuantity(text, scale);
      expect(parsed).toBe(value);
      // A number may print with an exponent; it is the same decimal.
      expect(Number(text)).toBe(quantityNumber(value, scale));
    }),
    5000,
  );
});

test('the quantity 0.1 added so often that a double would be off is exact', () => {
  const times = casesOf(1_000_000);
  let total = 0n;
  for (let i = 0; i < times; i += 1) total += parseQuantity(0.1, 6) as bigint;
  expect(quantityNumber(total, 6)).toBe(times / 10);
});

test('usage of 0.1 added often through the ledger is exact', () => {
  const times = casesOf(100_000);
  const world = new World('sum', 6);
  const tenth = parseQuantity('0.1', 6) as bigint;
  for (let i = 0; i < times; i += 1) world.use(tenth);
  expect(quantityNumber(world.numbers[1], 6)).toBe(times / 10);
});
