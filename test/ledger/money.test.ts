import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { EXPONENTS } from '../../ledger/kernel/currencies.ts';
import {
  exponentOf,
  formatMoney,
  isAmount,
  isCurrency,
  parseMoney,
  percentOf,
} from '../../ledger/kernel/money.ts';
import { holds, seeded } from './property.ts';

const currencies = [...EXPONENTS.keys()];

test('the decimals of every currency are those of ISO 4217, as Intl knows them', () => {
  // ICU has no entry for this one, and gives such codes two decimals.
  const unknownToIcu = new Set(['UYW']);
  for (const currency of currencies.filter((code) => !unknownToIcu.has(code))) {
    // ICU's own table rounds cash of some currencies; the ISO digits are what `currencyDisplay:
    // code` resolves to.
    const { maximumFractionDigits } = new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
    }).resolvedOptions();
    expect([currency, exponentOf(currency)]).toEqual([currency, maximumFractionDigits ?? -1]);
  }
});

test('a currency of every exponent from 0 to 4 that ISO uses is there', () => {
  expect(new Set(EXPONENTS.values())).toEqual(new Set([0, 2, 3, 4]));
});

describe('money', () => {
  test.each([
    ['1000', 'JPY', 1000n],
    ['12.50', 'USD', 1250n],
    ['12.5', 'USD', 1250n],
    ['12', 'USD', 1200n],
    ['12.500', 'KWD', 12500n],
    ['0.0001', 'CLF', 1n],
    ['0', 'EUR', 0n],
    ['999999999999.99', 'USD', 99999999999999n],
    ['12.500', 'USD', 'too_many_decimals'],
    ['1.0', 'JPY', 'too_many_decimals'],
    ['', 'USD', 'not_an_amount'],
    ['-1', 'USD', 'not_an_amount'],
    ['+1', 'USD', 'not_an_amount'],
    ['1e3', 'USD', 'not_an_amount'],
    ['.50', 'USD', 'not_an_amount'],
    ['1.', 'USD', 'not_an_amount'],
    [' 1', 'USD', 'not_an_amount'],
    ['1\n', 'USD', 'not_an_amount'],
    ['1,000', 'USD', 'not_an_amount'],
    ['NaN', 'USD', 'not_an_amount'],
    ['٣', 'USD', 'not_an_amount'],
    ['1000000000000', 'USD', 'not_an_amount'],
    ['1.00000', 'CLF', 'not_an_amount'],
  ] as const)('of %p in %s is parsed as %p', (text, currency, expected) => {
    expect<bigint | string>(parseMoney(text, currency)).toBe(expected);
  });

  test.each([
    [-1250n, 'USD', '-12.50'],
    [-1n, 'USD', '-0.01'],
    [0n, 'USD', '0.00'],
    [1n, 'KWD', '0.001'],
    [-1000n, 'JPY', '-1000'],
  ])('%p in %s is printed as %p', (amount, currency, text) => {
    expect(formatMoney(amount, currency)).toBe(text);
  });

  test.each([
    [-1n, 'JPY', false],
    [0n, 'JPY', true],
    [10n ** 12n - 1n, 'JPY', true],
    [10n ** 12n, 'JPY', false],
    [10n ** 14n - 1n, 'USD', true],
    [10n ** 14n, 'USD', false],
    [10n ** 15n - 1n, 'KWD', true],
  ])('of %p in %s can be written: %p', (amount, currency, can) => {
    expect(isAmount(amount, currency)).toBe(can);
    if (can) expect(parseMoney(formatMoney(amount, currency), currency)).toBe(amount);
  });

  test(seeded('that is printed reads back as the same amount, in every currency'), () => {
    holds(
      fc.property(
        fc.constantFrom(...currencies),
        fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }),
        (currency, amount) => {
          const text = formatMoney(amount, currency);
          expect(text.split('.')[1]?.length ?? 0).toBe(exponentOf(currency));
          expect(parseMoney(text, currency)).toBe(amount);
        },
      ),
      100,
    );
  });

  test.each(['usd', 'XXX', 'XAU', 'EURO', '', 'constructor'])('%p is no currency', (code) => {
    expect(isCurrency(code)).toBe(false);
  });
});

describe('a percentage rounds half up, once', () => {
  test.each([
    [1000n, '10', 100n],
    [1005n, '10', 101n],
    [1004n, '10', 100n],
    [999n, '33.3333', 333n],
    [1n, '50', 1n],
    [1n, '49.9999', 0n],
    [0n, '100', 0n],
    [99_999_999_999_999n, '100', 99_999_999_999_999n],
  ])('of %p, %p percent is %p', (amount, percent, expected) => {
    expect(percentOf(amount, percent)).toBe(expected);
  });
});
