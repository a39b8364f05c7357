import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { EXPONENTS } from '../../ledger/kernel/currencies.ts';
import { exponentOf, parseMoney } from '../../ledger/kernel/money.ts';
import { type Discount, discountOn } from '../../ledger/payments/pricing.ts';
import { holds, seeded } from './property.ts';

const percent = (percentOff: string): Discount => ({
  percentOff,
  amountOff: null,
  currency: null,
});
const amount = (amountOff: bigint, currency: string): Discount => ({
  percentOff: null,
  amountOff,
  currency,
});

describe('a discount', () => {
  // prettier-ignore
  test.each<[bigint, string, string, Discount, bigint | 'currency_conflict']>([
    // of          what                                    is
    [1000n, 'USD', '10 percent',     percent('10'),        100n],
    [1000n, 'JPY', '10 percent',     percent('10'),        100n],
    [1005n, 'USD', '10 percent',     percent('10'),        101n],
    [1004n, 'USD', '10 percent',     percent('10'),        100n],
    [999n,  'KWD', '33.3333 percent',percent('33.3333'),   333n],
    [1n,    'CLF', '50 percent',     percent('50'),        1n],
    [1n,    'CLF', '49.9999 percent',percent('49.9999'),   0n],
    [1999n, 'USD', '100 percent',    percent('100'),       1999n],
    [0n,    'USD', '100 percent',    percent('100'),       0n],
    [1000n, 'USD', '250 in USD',     amount(250n, 'USD'),  250n],
    [1000n, 'USD', '1000 in USD',    amount(1000n, 'USD'), 1000n],
    [1000n, 'USD', '1001 in USD',    amount(1001n, 'USD'), 1000n],
    [0n,    'USD', '1 in USD',       amount(1n, 'USD'),    0n],
    [1000n, 'USD', '250 in EUR',     amount(250n, 'EUR'),  'currency_conflict'],
    [0n,    'USD', '250 in EUR',     amount(250n, 'EUR'),  'currency_conflict'],
  ])('on a subtotal of %p %s: %s', (subtotal, currency, _what, discount, off) => {
    expect(discountOn(subtotal, currency, discount)).toBe(off);
  });
});

describe('a discount in every currency', () => {
  const currency = fc.constantFrom(...EXPONENTS.keys());
  const subtotal = fc.bigInt({ min: 0n, max: 10n ** 16n });
  const tenThousandths = fc.integer({ min: 1, max: 1_000_000 });

  test(
    seeded('by percentage is within half a coin of the exact share, and within the subtotal'),
    () => {
      holds(
        fc.property(currency, subtotal, tenThousandths, (code, total, n) => {
          const text = `${Math.floor(n / 10_000)}.${String(n % 10_000).padStart(4, '0')}`;
          const off = discountOn(total, code, percent(text));
          if (typeof off !== 'bigint') throw new Error('a percentage goes with every currency');
          expect(off >= 0n && off <= total).toBe(true);
          // Twice the error, in millionths of a minor unit: half up means over -1 and at most 1
          // unit.
          const error = 2n * (off * 1_000_000n - total * BigInt(n));
          expect(error > -1_000_000n && error <= 1_000_000n).toBe(true);
        }),
        2000,
      );
    },
  );

  test(seeded('by amount is taken in full, or as much as there is'), () => {
    holds(
      fc.property(currency, subtotal, subtotal, (code, total, off) => {
        expect(discountOn(total, code, amount(off, code))).toBe(off < total ? off : total);
      }),
      1000,
    );
  });

  test('of one coin off a hundred leaves 99 and the rest of its decimals', () => {
    for (const code of EXPONENTS.keys()) {
      const one = parseMoney('1', code);
      const hundred = parseMoney('100', code);
      if (typeof one !== 'bigint' || typeof hundred !== 'bigint') throw new Error(code);
      expect(discountOn(hundred, code, amount(one, code))).toBe(10n ** BigInt(exponentOf(code)));
      expect(discountOn(hundred, code, percent('1'))).toBe(one);
    }
  });
});
