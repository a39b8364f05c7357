// Amounts in every currency of ISO 4217 that we know, against Stripe's list of what it takes and
// how it writes them (docs.stripe.com/currencies).
import { describe, expect, test } from 'bun:test';
import { EXPONENTS } from '../../../ledger/kernel/currencies.ts';
import { parseMoney } from '../../../ledger/kernel/money.ts';
import { stripeAmount } from '../../../src/processors/stripe/amounts.ts';

/** Stripe's list of presentment currencies, its order kept; ANG and STD have left ISO 4217. */
const LISTED =
  'USD AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CVE CZK ' +
  'DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JPY KES KGS KHR KMF KRW KYD KZT ' +
  'LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN PYG QAR RON ' +
  'RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STD SZL THB TJS TOP TRY TTD TWD TZS UAH UGX UYU UZS VND VUV WST XAF XCD XCG XOF XPF ' +
  'YER ZAR ZMW';
const THREE_DECIMALS = ['BHD', 'JOD', 'KWD', 'OMR', 'TND'];
const ZERO_DECIMALS = [
  'BIF',
  'CLP',
  'DJF',
  'GNF',
  'JPY',
  'KMF',
  'KRW',
  'MGA',
  'PYG',
  'RWF',
  'VND',
  'VUV',
  'XAF',
  'XOF',
  'XPF',
];

const TAKEN = new Set([...LISTED.split(' '), ...THREE_DECIMALS]);
const KNOWN = [...EXPONENTS.keys()];

/** What Stripe writes for 1,230 of the currency: ISK and UGX with two decimals that are 0. */
function writtenOf(currency: string): number {
  if (ZERO_DECIMALS.includes(currency)) return 1230;
  return THREE_DECIMALS.includes(currency) ? 1_230_000 : 123_000;
}

function ours(amount: string, currency: string): bigint {
  const parsed = parseMoney(amount, currency);
  if (typeof parsed !== 'bigint') throw new Error(`${amount} ${currency}: ${parsed}`);
  return parsed;
}

describe('an amount of 1,230 in each currency', () => {
  test.each(KNOWN.filter((code) => TAKEN.has(code)))(
    'in %s is written as Stripe does',
    (currency) => {
      expect(stripeAmount(ours('1230', currency), currency)).toEqual({
        kind: 'amount',
        units: writtenOf(currency),
      });
    },
  );

  test.each(KNOWN.filter((code) => !TAKEN.has(code)))('in %s is refused by name', (currency) => {
    const result = stripeAmount(ours('1230', currency), currency);
    expect(result).toEqual({ kind: 'refused', message: expect.stringContaining(currency) });
  });

  test('the currencies that Stripe has and ISO 4217 has not are the two that left it', () => {
    const unknown = [...TAKEN].filter((code) => !EXPONENTS.has(code));
    expect(unknown.toSorted()).toEqual(['ANG', 'STD']);
  });
});

// prettier-ignore
const SMALLEST: [string, string, number][] = [
  ['0.01',  'USD', 1],
  ['12.34', 'EUR', 1234],
  ['0.01',  'HUF', 1],
  ['0.01',  'TWD', 1],
  ['1',     'JPY', 1],
  ['1',     'ISK', 100],
  ['5',     'UGX', 500],
  ['1.00',  'MGA', 1],
  ['5.120', 'KWD', 5120],
  ['0.010', 'BHD', 10],
];

test.each(SMALLEST)('the amount of %s %s is %p at Stripe', (amount, currency, units) => {
  expect(stripeAmount(ours(amount, currency), currency)).toEqual({ kind: 'amount', units });
});

// prettier-ignore
const INEXACT: [string, string, string][] = [
  ['5.124', 'KWD', '0.010 KWD'],
  ['0.001', 'BHD', '0.010 BHD'],
  ['1.999', 'TND', '0.010 TND'],
  ['1.005', 'OMR', '0.010 OMR'],
  ['7.001', 'JOD', '0.010 JOD'],
  ['1.20',  'MGA', '1.00 MGA'],
];

test.each(INEXACT)('the amount of %s %s is refused and never rounded', (amount, currency, step) => {
  const message = `Stripe cannot take ${amount} ${currency}: only multiples of ${step}.`;
  expect(stripeAmount(ours(amount, currency), currency)).toEqual({ kind: 'refused', message });
});

// prettier-ignore
const LARGEST: [string, string][] = [
  ['999999.99',     'USD'],
  ['99999999',      'KRW'],
  ['999999',        'ISK'],
  ['99999.990',     'KWD'],
  ['99999999.00',   'MGA'],
  ['9999999999.99', 'IDR'],
];

test.each(LARGEST)('%s %s is the largest amount that Stripe takes', (amount, currency) => {
  const most = ours(amount, currency);
  expect(stripeAmount(most, currency).kind).toBe('amount');
  const [, least = 1n] = STEP.find(([code]) => code === currency) ?? [];
  const more = stripeAmount(most + least, currency);
  expect(more).toEqual({ kind: 'refused', message: expect.stringContaining(currency) });
  expect(more).toEqual({ kind: 'refused', message: expect.stringContaining('as much as') });
});

const STEP: [string, bigint][] = [
  ['KWD', 10n],
  ['MGA', 100n],
];

test("an amount of Stripe's is a number that is exact", () => {
  for (const currency of TAKEN) {
    if (!EXPONENTS.has(currency)) continue;
    for (const amount of [1n, 10n, 100n, 12_300n, 99_999_000n, 10n ** 18n]) {
      const result = stripeAmount(amount, currency);
      if (result.kind === 'refused') continue;
      expect(Number.isSafeInteger(result.units)).toBe(true);
      expect(result.units).toBeLessThan(10 ** 12);
    }
  }
});
