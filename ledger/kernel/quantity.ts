import Big from 'big.js';
import { assert } from './assert.ts';
import { QUANTITY_BOUND, SCALE_MAX } from '../limits.ts';

/**
 * Quantities of a meter (docs/spec/conventions.md#values).
 *
 * Inside, a quantity is a bigint, scaled by the `scale` of the meter: 12.5 at scale 6 is 12500000n.
 * Outside, it is a JSON number or a decimal string. Only this module converts.
 */
export type QuantityError = 'not_a_decimal' | 'too_many_decimals' | 'out_of_range';

const POWERS = Array.from({ length: SCALE_MAX + 1 }, (_, scale) => 10n ** BigInt(scale));
const DIVISORS = Array.from({ length: SCALE_MAX + 1 }, (_, scale) => 10 ** scale);
const DECIMAL = /^(-?)(\d{1,15})(?:\.(\d{1,15}))?$/;

/** A balance is a difference of two bounded quantities. */
const BALANCE_BOUND = 2n * QUANTITY_BOUND;

/** One of what a meter of this scale counts. */
export function one(scale: number): bigint {
  const value = POWERS[scale];
  assert(value !== undefined, () => `scale out of range: ${scale}`);
  return value;
}

/** Parses a JSON number or decimal string into a bigint of the given scale. Never rounds. */
export function parseQuantity(input: number | string, scale: number): bigint | QuantityError {
  if (typeof input === 'number' && Number.isSafeInteger(input)) {
    return bounded(BigInt(input) * one(scale));
  }
  const text = typeof input === 'number' ? printed(input) : input;
  const match = DECIMAL.exec(text);
  if (match === null) return typeof input === 'number' ? whyNot(input) : 'not_a_decimal';
  const [, sign, whole = '', fraction = ''] = match;
  // Trailing zeros do not count: "1.50" is fine for a meter with one decimal.
  const digits = fraction.replace(/0+$/, '');
  if (digits.length > scale) return 'too_many_decimals';
  const magnitude = BigInt(whole) * one(scale) + BigInt(digits.padEnd(scale, '0') || '0');
  return bounded(sign === '-' ? -magnitude : magnitude);
}

/** A number that no meter can hold: too large, or with too many decimals, as 0.1 + 0.2 has. */
function whyNot(input: number): QuantityError {
  return Math.abs(input) < 1e15 ? 'too_many_decimals' : 'out_of_range';
}

/**
 * A double as the shortest decimal that reads back as itself, without an exponent: 1e-7 is
 * "0.0000001".
 */
function printed(input: number): string {
  return Number.isFinite(input) ? new Big(input).toFixed() : 'not finite';
}

function bounded(value: bigint): bigint | QuantityError {
  return inRange(value) ? value : 'out_of_range';
}

/** Whether a scaled quantity still leaves as an exact double. */
export function inRange(value: bigint): boolean {
  return value < QUANTITY_BOUND && value > -QUANTITY_BOUND;
}

/**
 * The JSON number of a scaled quantity. Both operands are exact doubles (below 2^53) and IEEE
 * division rounds correctly, so the result is the double nearest to the decimal, which prints as
 * that decimal again: at most 15 significant digits.
 */
export function quantityNumber(value: bigint, scale: number): number {
  const divisor = DIVISORS[scale];
  assert(divisor !== undefined, () => `scale out of range: ${scale}`);
  assert(value < BALANCE_BOUND && value > -BALANCE_BOUND, 'a quantity is exact');
  return Number(value) / divisor;
}
