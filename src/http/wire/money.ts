// Amounts and currencies, as they come in and go out (docs/spec/conventions.md#values).
import { FormatRegistry, Type } from '@sinclair/typebox';
import { exponentOf, isCurrency, parseMoney } from '../../../ledger/kernel/money.ts';
import { UNIT_AMOUNT_DECIMALS } from '../../../ledger/metering/usage-price.ts';
import type { Issue } from '../edge/errors.ts';

/**
 * A string, because a JSON number passes through a double. The currency decides how many decimals
 * are allowed.
 */
export const Amount = Type.String({
  pattern: '^\\d{1,12}(\\.\\d{1,4})?$',
  description: 'A decimal with at most the decimals of its currency. Answers have exactly those.',
  examples: ['12.50'],
  error: 'must be a decimal string such as "12.50"',
});

/** For one unit of usage: as large as an amount, and finer. */
export const UnitAmount = Type.String({
  pattern: '^\\d{1,12}(\\.\\d{1,12})?$',
  description: `A decimal in the currency, with at most ${UNIT_AMOUNT_DECIMALS} decimals.`,
  examples: ['0.002'],
  error: `must be a decimal string such as "0.002", with at most ${UNIT_AMOUNT_DECIMALS} decimals`,
});

/** What amounts come to: a price of 12 digits, times a quantity of 6. */
export const Total = Type.String({
  pattern: '^\\d{1,18}(\\.\\d{1,4})?$',
  description: 'A decimal, with exactly the decimals of its currency.',
  examples: ['12.50'],
});

/** What usage has come to: not rounded. */
export const Spent = Type.String({
  pattern: '^\\d+(\\.\\d+)?$',
  description: 'An exact decimal, with at least the decimals of its currency.',
  examples: ['12.5008'],
});

FormatRegistry.Set('iso-4217', (text) => text.length === 3 && isCurrency(text.toUpperCase()));

export const Currency = Type.String({
  format: 'iso-4217',
  description: 'An ISO 4217 code. Lower case is accepted and stored as upper case.',
  examples: ['USD'],
  error: 'must be an ISO 4217 currency code',
});

/** The amount in the currency's smallest unit. Both arguments have passed their schemas. */
export function moneyOf(amount: string, currency: string, path: readonly string[]): bigint | Issue {
  const units = parseMoney(amount, currency);
  switch (units) {
    case 'not_an_amount':
      return { path, message: 'must be a decimal string such as "12.50"' };
    case 'too_many_decimals':
      return { path, message: `must have at most ${exponentOf(currency)} decimals in ${currency}` };
    default:
      return units;
  }
}

/** With `UNIT_AMOUNT_DECIMALS` decimals of the major unit. `amount` has passed its schema. */
export function unitAmountOf(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(UNIT_AMOUNT_DECIMALS, '0'));
}
