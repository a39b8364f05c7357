import { expect, test } from 'bun:test';
import { type NoQuote, quote, type Quote, type QuoteInput } from '../../../src/payments/quote.ts';
import type { DiscountRecord } from '../../../src/records/discounts.ts';
import type { PriceRecord, ProductRecord } from '../../../src/records/products.ts';

const AT = new Date(0);
const NOW = 1000;

let made = 0;
function price(currency: string, amount: bigint, change: Partial<PriceRecord> = {}): PriceRecord {
  made += 1;
  const none = { interval: null, intervalCount: null, trialDays: null };
  const id = `0199a000-0000-7000-8000-${String(made).padStart(12, '0')}`;
  const rest = { id, productId: id, type: 'one_time', status: 'active', createdAt: AT } as const;
  return { ...none, ...rest, amount, currency, ...change };
}

function discount(change: Partial<DiscountRecord>): DiscountRecord {
  const id = '0199a000-0000-7000-8000-000000000000';
  const none = { percentOff: null, amountOff: null, currency: null, maxRedemptions: null };
  return { ...none, id, code: 'X', redemptions: 0, expiresAt: null, createdAt: AT, ...change };
}

function of(
  prices: PriceRecord[],
  wish: Partial<QuoteInput & { discount: DiscountRecord | null }> = {},
) {
  const product: ProductRecord = {
    id: '0199a000-0000-7000-8000-000000000000',
    slug: 'p',
    name: 'P',
    description: '',
    status: 'active',
    metadata: {},
    prices,
    createdAt: AT,
    updatedAt: AT,
  };
  const free = { currency: null, pinned: false, regional: null, discount: null, now: NOW };
  return quote({ product, ...free, refusalOf: () => null, ...wish });
}

const [yen, usd, later, eur] = [
  price('JPY', 900n),
  price('USD', 1250n),
  price('USD', 1n),
  price('EUR', 1001n),
];
const ALL = [yen, usd, later, eur];
const monthly = price('USD', 500n, {
  type: 'recurring',
  interval: 'month',
  intervalCount: 1,
  trialDays: 0,
});
const trial = price('USD', 500n, {
  type: 'recurring',
  interval: 'month',
  intervalCount: 1,
  trialDays: 14,
});
const archived = price('USD', 5n, { status: 'archived' });
const half = discount({ percentOff: '50' });
const euro = discount({ amountOff: 2n, currency: 'EUR' });

// prettier-ignore
const QUOTES: [string, PriceRecord[], Parameters<typeof of>[1], Partial<Quote>][] = [
  // what prices wish quote
  ['the first of all',                       ALL,                    {},                                       { price: yen, total: 900n }],
  ['whatever the order they are read in',    [...ALL].reverse(),     {},                                       { price: yen, currencies: ['JPY', 'USD', 'EUR'] }],
  ['the first of the currency',              [later, usd],           { currency: 'USD' },                      { price: usd }],
  ['the region',                             ALL,                    { regional: 'EUR' },                      { price: eur, currency: 'EUR' }],
  ['not a region without a price',           ALL,                    { regional: 'GBP' },                      { price: yen }],
  ['the wish before the region',             ALL,                    { currency: 'USD', regional: 'EUR' },     { price: usd }],
  ['the discount before the region',         ALL,                    { regional: 'USD', discount: euro },      { price: eur, total: 999n }],
  ['a percentage in the region',             ALL,                    { regional: 'EUR', discount: half },      { price: eur, reduction: 501n, total: 500n }],
  ['all of it off',                          [usd],                  { discount: discount({ percentOff: '100' }) }, { subtotal: 1250n, reduction: 1250n, total: 0n }],
  ['every currency to choose from',          ALL,                    { currency: 'USD' },                      { currencies: ['JPY', 'USD', 'EUR'] }],
  ['nothing to choose from where pinned',    ALL,                    { currency: 'USD', pinned: true },        { currencies: ['USD'] }],
  ['the one-time price',                     [monthly, eur],         {},                                       { price: eur }],
  ['a recurring one where there is no other', [archived, monthly],   {},                                       { price: monthly, subtotal: monthly.amount, total: monthly.amount }],
  ['nothing today where a trial comes first', [trial],               { discount: half },                       { price: trial, subtotal: 0n, total: 0n }],
  ['the last redemption',                    [usd],                  { discount: { ...half, maxRedemptions: 2, redemptions: 1 } }, { total: 625n }],
  ['until it expires',                       [usd],                  { discount: { ...half, expiresAt: new Date(NOW + 1) } }, { total: 625n }],
];

test.each(QUOTES)('a quote for %s', (_what, prices, wish, expected) => {
  expect(of(prices, wish)).toMatchObject({ kind: 'quoted', ...expected });
});

// prettier-ignore
test.each<[Exclude<NoQuote['kind'], 'amount_refused'>, PriceRecord[], Parameters<typeof of>[1]]>([
  // refusal                      prices                wish
  ['no_active_price',             [],                   {}],
  ['no_active_price',             [archived],           {}],
  ['no_price_in_currency',        [usd, eur],           { currency: 'JPY' }],
  ['no_price_in_currency',        [usd, monthly],       { currency: 'EUR', discount: euro }],
  ['no_price_in_currency',        [archived, eur],      { currency: 'USD' }],
  ['discount_expired',            [usd],                { discount: { ...half, expiresAt: new Date(NOW) } }],
  ['discount_spent',              [usd],                { discount: { ...half, maxRedemptions: 2, redemptions: 2 } }],
  ['discount_currency_conflict',  [usd],                { discount: euro }],
  ['discount_currency_conflict',  [usd, eur],           { currency: 'USD', discount: euro }],
])('a quote is refused: %s', (kind, prices, wish) => {
  expect(of(prices, wish)).toEqual({ kind });
});
