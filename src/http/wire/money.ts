// Amounts and currencies, as they come in and go out (decisions 1).
import { FormatRegistry, Type } from '@sinclair/typebox';
import { exponentOf, isCurrency, parseMoney } from '../../../ledger/kernel/money.ts';
import type { Issue } from '../edge/errors.ts';

/**
 * A string, because a JSON number passes through a double. The currency decides how many decimals
 * are allowed.
 */
export const Amount = Type.String({
  pattern: '^\\d{1,12}(\\.\\d{1,4})?$',
  description:
    'A decimal, with at most the decimals of its currency. It leaves with exactly those.',
  examples: ['12.50'],
  error: 'must be a decimal string such as "12.50"',
});

/** What amounts come to: a price of 12 digits, times a quantity of 6. */
export const Total = Type.String({
  pattern: '^\\d{1,18}(\\.\\d{1,4})?$',
  description: 'A decimal, with exactly the decimals of its currency.',
  examples: ['12.50'],
});

FormatRegistry.Set('iso-4217', (text) => text.length === 3 && isCurrency(text.toUpperCase()));

export const Currency = Type.String({
  format: 'iso-4217',
  description: 'An ISO 4217 code. Lower case is read, and kept as upper case.',
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
