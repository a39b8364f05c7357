import Big from 'big.js';
import { assert, must } from './assert.ts';
import { EXPONENTS } from './currencies.ts';

/**
 * Amounts of money (docs/spec/conventions.md#values).
 *
 * Inside, an amount is a bigint in the smallest coin of its currency: 12.50 USD is 1250n, 12.500
 * KWD is 12500n. Outside, it is a decimal string with exactly the decimals of the currency. Only
 * this module converts.
 */
export type MoneyError = 'not_an_amount' | 'too_many_decimals';

const AMOUNT = /^(\d{1,12})(?:\.(\d{1,4}))?$/;
/** Before the decimals. */
export const AMOUNT_DIGITS_MAX = 12;

/** Whether it is an upper-case ISO 4217 code that we know. */
export function isCurrency(code: string): boolean {
  return EXPONENTS.has(code);
}

/** The decimals of a known currency. */
export function exponentOf(currency: string): number {
  return must(EXPONENTS.get(currency), 'a known currency');
}

/**
 * Parses a decimal string. Never rounds: more digits than the currency has are refused, zeros too.
 */
export function parseMoney(text: string, currency: string): bigint | MoneyError {
  const match = AMOUNT.exec(text);
  if (match === null) return 'not_an_amount';
  const [, whole = '', fraction = ''] = match;
  const exponent = exponentOf(currency);
  if (fraction.length > exponent) return 'too_many_decimals';
  return BigInt(whole + fraction.padEnd(exponent, '0'));
}

/** Whether it fits the bounds of an amount: a sum of several may not. */
export function isAmount(amount: bigint, currency: string): boolean {
  return amount >= 0n && amount <= largestAmount(currency);
}

/** 999999999999.99 USD. */
export function largestAmount(currency: string): bigint {
  return 10n ** BigInt(AMOUNT_DIGITS_MAX + exponentOf(currency)) - 1n;
}

/** "1000" JPY, "12.50" USD, "12.500" KWD. */
export function formatMoney(amount: bigint, currency: string): string {
  const exponent = exponentOf(currency);
  const sign = amount < 0n ? '-' : '';
  const digits = String(amount < 0n ? -amount : amount).padStart(exponent + 1, '0');
  if (exponent === 0) return sign + digits;
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/**
 * `percent` (a decimal string from 0 to 100) of an amount, rounded half up to the smallest coin:
 * the one place that rounds.
 */
export function percentOf(amount: bigint, percent: string): bigint {
  assert(amount >= 0n, 'a percentage is of what is there');
  const share = new Big(String(amount)).times(percent).div(100).round(0, Big.roundHalfUp);
  return BigInt(share.toFixed());
}
