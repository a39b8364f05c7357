// What a quantity costs, by examples.
import { describe, expect, test } from 'bun:test';
import { largestAmount } from '../../ledger/kernel/money.ts';
import { parseQuantity } from '../../ledger/kernel/quantity.ts';
import { type Tariff, type UsagePrice } from '../../ledger/metering/usage-price.ts';
import { EXACT_DECIMALS, rate, rateAll, rounded } from '../../ledger/subscriptions/rating.ts';

/** An amount for one unit, as one writes it. */
function unit(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(12, '0'));
}

function units(input: number | string, scale = 0): bigint {
  const quantity = parseQuantity(input, scale);
  if (typeof quantity === 'bigint') return quantity;
  throw new Error(`${input} at scale ${scale} is ${quantity}`);
}

type Amounts = { readonly flat?: bigint; readonly each?: string };
type Written = Amounts & { readonly to: number | string | null };

const each = (amount: string): Tariff => ({ model: 'per_unit', unitAmount: unit(amount) });
const by = (model: 'graduated' | 'volume', tiers: readonly Written[], scale = 0): Tariff => ({
  model,
  tiers: tiers.map((tier) => ({
    upTo: tier.to === null ? null : units(tier.to, scale),
    unitAmount: tier.each === undefined ? null : unit(tier.each),
    flatAmount: tier.flat ?? null,
  })),
});
const packages = (size: number | string, amount: bigint, scale = 0): Tariff => ({
  model: 'package',
  packageSize: units(size, scale),
  packageAmount: amount,
});
const priced = (tariff: Tariff, currency = 'USD'): UsagePrice => ({
  id: 'price',
  currency,
  minimum: null,
  maximum: null,
  ...tariff,
});

// The sample in Autumn's pull request 3285: 3,500 runs, 1,000 of them included. Tiers count what is
// billed.
const RUNS = [
  { to: 1000, each: '0.05' },
  { to: null, each: '0.02' },
] satisfies Written[];
const ABSOLUTE = [
  { to: 2000, each: '0.05' },
  { to: null, each: '0.02' },
] satisfies Written[];
const FLAT = [
  { to: 10, each: '1', flat: 500n },
  { to: 20, flat: 300n },
  { to: null, each: '0.5' },
] satisfies Written[];
const FRACTIONS = [
  { to: '0.5', each: '4' },
  { to: null, each: '2' },
] satisfies Written[];

describe('a rated quantity costs', () => {
  // prettier-ignore
  test.each<[string, Tariff, number | string, number, string, bigint]>([
    // what tariff quantity scale currency coins
    ['nothing for nothing',                each('1'),                     0,           0, 'USD', 0n],
    ['its price',                          each('0.25'),                  3,           0, 'USD', 75n],
    ['half a coin, up',                    each('0.005'),                 1,           0, 'USD', 1n],
    ['less than half, nothing',            each('0.004999999999'),        1,           0, 'USD', 0n],
    ['two millionths, a million times',    each('0.000002'),              1_000_000,   0, 'USD', 200n],
    ['two millionths, 2,499 times',        each('0.000002'),              2499,        0, 'USD', 0n],
    ['two millionths, 2,500 times',        each('0.000002'),              2500,        0, 'USD', 1n],
    ['the finest of the finest',           each('0.000000000001'),        '0.000000001', 9, 'USD', 0n],
    ['a part of a unit',                   each('2'),                     '0.125',     3, 'USD', 25n],
    ['the same at any scale',              each('2'),                     '0.125',     9, 'USD', 25n],
    ['whole yen',                          each('0.5'),                   3,           0, 'JPY', 2n],
    ['yen, less than half',                each('0.1'),                   4,           0, 'JPY', 0n],
    ['fils',                               each('0.0005'),                1,           0, 'KWD', 1n],
    ['the fourth decimal',                 each('0.00005'),               1,           0, 'CLF', 1n],
    ['by tiers beyond what is included',   by('graduated', RUNS),         2500,        0, 'USD', 8000n],
    ['other tiers, another price',         by('graduated', ABSOLUTE),     2500,        0, 'USD', 11_000n],
    ['the first tier at its end',          by('graduated', RUNS),         1000,        0, 'USD', 5000n],
    ['the second from its first unit',     by('graduated', RUNS),         1001,        0, 'USD', 5002n],
    ['no flat amount for nothing',         by('graduated', FLAT),         0,           0, 'USD', 0n],
    ['a flat amount from the first unit',  by('graduated', FLAT),         1,           0, 'USD', 600n],
    ['one flat amount at the end',         by('graduated', FLAT),         10,          0, 'USD', 1500n],
    ['two beyond it',                      by('graduated', FLAT),         11,          0, 'USD', 1800n],
    ['two at the second end',              by('graduated', FLAT),         20,          0, 'USD', 1800n],
    ['and units of the last',              by('graduated', FLAT),         22,          0, 'USD', 1900n],
    ['a tier with a part of a unit',       by('graduated', FRACTIONS, 1), '0.5',       1, 'USD', 200n],
    ['and beyond it',                      by('graduated', FRACTIONS, 1), '0.6',       1, 'USD', 220n],
    ['as much as all units of its tier',   by('volume', RUNS),            2500,        0, 'USD', 5000n],
    ['the dearer tier at its end',         by('volume', RUNS),            1000,        0, 'USD', 5000n],
    ['less just beyond it',                by('volume', RUNS),            1001,        0, 'USD', 2002n],
    ['its own flat amount only',           by('volume', FLAT),            11,          0, 'USD', 300n],
    ['no flat amount of any volume for nothing', by('volume', FLAT),      0,           0, 'USD', 0n],
    ['none, in the last tier',             by('volume', FLAT),            30,          0, 'USD', 1500n],
    ['no package for nothing',             packages(100, 250n),           0,           0, 'USD', 0n],
    ['a package that is begun',            packages(100, 250n),           1,           0, 'USD', 250n],
    ['one that is full',                   packages(100, 250n),           100,         0, 'USD', 250n],
    ['another',                            packages(100, 250n),           101,         0, 'USD', 500n],
    ['another for a thousandth',           packages(100, 250n, 3),        '100.001',   3, 'USD', 500n],
    ['packages of parts',                  packages('0.1', 1n, 1),        '0.3',       1, 'JPY', 3n],
  ])('%s', (_what, tariff, quantity, scale, currency, coins) => {
    const rated = rate(priced(tariff, currency), units(quantity, scale), scale);
    expect(rounded(rated.amount, currency)).toBe(coins);
    expect(rated.used).toBe(rated.amount);
    expect(rated.tiers.reduce((sum, tier) => sum + tier.amount, 0n)).toBe(rated.used);
  });

  // prettier-ignore
  test.each<[string, number, bigint | null, bigint | null, bigint]>([
    // what                           quantity minimum maximum coins
    ['a minimum without usage',       0,       500n,   null,   500n],
    ['a minimum of less',             4,       500n,   null,   500n],
    ['what is at the minimum',        5,       500n,   null,   500n],
    ['more than the minimum',         6,       500n,   null,   600n],
    ['what is at the maximum',        9,       null,   900n,   900n],
    ['a maximum of more',             10,      null,   900n,   900n],
    ['both, the same',                7,       800n,   800n,   800n],
    ['a maximum of nothing',          7,       null,   0n,     0n],
  ])('with a minimum or maximum: %s', (_what, quantity, minimum, maximum, coins) => {
    const rated = rate({ ...priced(each('1')), minimum, maximum }, units(quantity), 0);
    expect(rounded(rated.amount, 'USD')).toBe(coins);
    expect(rounded(rated.used, 'USD')).toBe(BigInt(quantity) * 100n);
  });
});

describe('rated tiers', () => {
  const of = (minimum: bigint, ...quantities: readonly bigint[]) =>
    quantities.map((quantity) => ({ quantity, minimum }));
  const cents = (n: bigint): bigint => n * 10n ** BigInt(EXACT_DECIMALS - 2);

  test('are those with units in them, with what the price says', () => {
    expect(rate(priced(by('graduated', FLAT)), 12n, 0).tiers).toEqual([
      { quantity: 10n, unitAmount: unit('1'), flatAmount: 500n, amount: cents(1500n) },
      { quantity: 2n, unitAmount: null, flatAmount: 300n, amount: cents(300n) },
    ]);
    expect(rate(priced(by('volume', FLAT)), 12n, 0).tiers).toEqual([
      { quantity: 12n, unitAmount: null, flatAmount: 300n, amount: cents(300n) },
    ]);
    expect(rate(priced(packages(5, 200n)), 12n, 0).tiers).toEqual([
      { quantity: 12n, unitAmount: null, flatAmount: 200n, amount: cents(600n) },
    ]);
    expect(rate({ ...priced(each('1')), minimum: 5n }, 0n, 0).tiers).toEqual([]);
  });

  test('of several quantities are added, each rated by itself before', () => {
    const price = { ...priced(by('graduated', FLAT)), minimum: 700n, maximum: 1700n };
    const { amount, used, tiers } = rateAll(price, of(700n, 12n, 1n, 0n), 0);
    expect(used).toBe(cents(1800n + 600n));
    expect(amount).toBe(cents(1700n + 700n + 700n));
    expect(tiers).toEqual([
      { quantity: 11n, unitAmount: unit('1'), flatAmount: 500n, amount: cents(2100n) },
      { quantity: 2n, unitAmount: null, flatAmount: 300n, amount: cents(300n) },
    ]);
    const volumes = rateAll(priced(by('volume', FLAT)), of(0n, 30n, 1n), 0).tiers;
    expect(volumes.map(({ quantity }) => quantity)).toEqual([1n, 30n]);
    expect(rateAll(price, [], 0)).toEqual({ amount: 0n, used: 0n, tiers: [] });
  });
});

test('usage that costs more than an amount can hold is not billed', () => {
  const price = priced(each('999999999999'));
  const most = largestAmount('USD');
  expect(rounded(rate(price, 1n, 0).amount, 'USD')).toBe(most - 99n);
  expect(rounded(rate(price, 2n, 0).amount, 'USD')).toBe(most);
  expect(rounded(rate(price, 10n ** 15n - 1n, 0).amount, 'USD')).toBe(most);
});

test('rating a negative quantity throws', () => {
  expect(() => rate(priced(each('1')), -1n, 0)).toThrow();
  expect(() => rounded(-1n, 'USD')).toThrow();
  expect(() => rate(priced(each('1')), 1n, 10)).toThrow();
});
