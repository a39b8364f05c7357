import { assert } from './assert.ts';

/**
 * Exact decimals of any length as text, for what is kept or shown and is neither an amount of money
 * (`money.ts`) nor the quantity of a meter (`quantity.ts`).
 */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** The decimal of a scaled integer: at least so many decimals, and no zeros beyond them. */
export function decimal(value: bigint, scale: number, atLeast = 0): string {
  const sign = value < 0n ? '-' : '';
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(whole.length).replace(/0+$/, '').padEnd(atLeast, '0');
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** The integer of a decimal, scaled: the inverse. */
export function scaled(text: string, scale: number): bigint {
  const value = scaledOrNull(text, scale);
  assert(value !== null, 'a decimal that fits its scale');
  return value;
}

/** null for what is no decimal, or has more decimals than the scale. */
export function scaledOrNull(text: string, scale: number): bigint | null {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === '' || fraction.length > scale) return null;
  return BigInt(sign + whole + fraction.padEnd(scale, '0'));
}
