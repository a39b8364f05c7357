// What a product costs: the price, the discount, the total.
//
// Called by the checkout API and buy links when they open a session, by the hosted page each time
// it is shown, and before a charge. So they all agree.
// Holds: the same product, input and discount give the same quote; 0 <= total <= subtotal.
// Does not: redeem the discount. It can be used up between quote and payment, which asks again
// (records/discounts.ts).
import { discountOn } from '../../ledger/payments/pricing.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { type DiscountRecord, findDiscountByCode } from '../records/discounts.ts';
import type { Processor } from '../processors/processor.ts';
import type { PriceRecord, ProductRecord } from '../records/products.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

export type QuoteInput = {
  readonly product: ProductRecord;
  /** The requested currency; null for none. */
  readonly currency: string | null;
  /** Whether the buyer may not choose another one. */
  readonly pinned: boolean;
  /** The usual currency of the buyer's region, if none is requested; null if it is not known. */
  readonly regional: string | null;
  readonly now: number;
  /** Why the processor never charges an amount; null where it may. */
  readonly refusalOf: Processor['refusalOf'];
};

export type Quote = {
  readonly kind: 'quoted';
  readonly price: PriceRecord;
  readonly currency: string;
  readonly subtotal: bigint;
  readonly discount: DiscountRecord | null;
  /** What the discount takes off. */
  readonly reduction: bigint;
  readonly total: bigint;
  /** What the buyer may choose from, this one included. */
  readonly currencies: readonly string[];
};

export type NoQuote =
  | { readonly kind: NoQuoteKind }
  /** The processor never charges what it comes to, now or in later periods. */
  | { readonly kind: 'amount_refused'; readonly message: string };

type NoQuoteKind =
  /** Archived or unpublished, sessions that are open included. */
  | 'not_for_sale'
  | 'no_active_price'
  | 'no_price_in_currency'
  | 'discount_not_found'
  | 'discount_expired'
  | 'discount_spent'
  | 'discount_currency_conflict';

/** With a discount by its code; null for none. */
export async function quoteWithCode(
  sql: Executor,
  scope: Tenant,
  { code, ...wish }: QuoteInput & { readonly code: string | null },
): Promise<Quote | NoQuote> {
  if (code === null) return quote({ ...wish, discount: null });
  const discount = await findDiscountByCode(sql, scope, code);
  return discount === null ? { kind: 'discount_not_found' } : quote({ ...wish, discount });
}

export function quote(
  wish: QuoteInput & { readonly discount: DiscountRecord | null },
): Quote | NoQuote {
  const { product, pinned, discount, now } = wish;
  if (product.status !== 'active') return { kind: 'not_for_sale' };
  const active = product.prices.filter(({ status }) => status === 'active');
  if (active.length === 0) return { kind: 'no_active_price' };
  const oneTime = active.filter(({ type }) => type === 'one_time');
  // A product that can be bought for good is bought for good.
  const prices = oneForEachCurrency(oneTime.length > 0 ? oneTime : active);
  const sums = new Map([...prices].map(([currency, price]) => [currency, sumOf(price, wish)]));
  // What the processor never charges is not offered beside what it does.
  const offered = [...sums.keys()].filter((code) => sums.get(code)?.kind !== 'amount_refused');
  const currency = wish.currency ?? preferred(offered, wish) ?? [...sums.keys()][0] ?? '';
  const sum = sums.get(currency);
  if (sum === undefined) return { kind: 'no_price_in_currency' };
  const refused = discount === null ? null : discountRefusal(discount, now);
  if (refused !== null) return { kind: refused };
  if (sum.kind !== 'quoted') return sum;
  return { ...sum, discount, currencies: pinned ? [currency] : offered };
}

/** What one price comes to. */
function sumOf(
  price: PriceRecord,
  { discount, refusalOf }: Pick<QuoteInput, 'refusalOf'> & { discount: DiscountRecord | null },
): Omit<Quote, 'discount' | 'currencies'> | NoQuote {
  const { currency } = price;
  // A trial costs nothing today; a discount comes off what follows it.
  const subtotal = (price.trialDays ?? 0) > 0 ? 0n : price.amount;
  const reduction = discount === null ? 0n : discountOn(subtotal, currency, discount);
  if (reduction === 'currency_conflict') return { kind: 'discount_currency_conflict' };
  const total = subtotal - reduction;
  const charged = price.type === 'recurring' ? [total, price.amount] : [total];
  for (const amount of charged) {
    const message = amount === 0n ? null : refusalOf(amount, currency);
    if (message !== null) return { kind: 'amount_refused', message };
  }
  return { kind: 'quoted', price, currency, subtotal, reduction, total };
}

/** The one that was created first, in the order in which the currencies came. */
function oneForEachCurrency(prices: readonly PriceRecord[]): Map<string, PriceRecord> {
  const byCurrency = new Map<string, PriceRecord>();
  // Ids are UUIDv7: they ascend with the time of creation.
  for (const price of prices.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    if (!byCurrency.has(price.currency)) byCurrency.set(price.currency, price);
  }
  return byCurrency;
}

/** Without a requested currency: the only one that a fixed discount fits, else the buyer's own. */
function preferred(
  offered: readonly string[],
  { discount, regional }: { discount: DiscountRecord | null; regional: string | null },
): string | undefined {
  const fits = [discount?.currency, regional].find((code) => offered.includes(code ?? ''));
  return fits ?? offered[0];
}

function discountRefusal(
  { expiresAt, maxRedemptions, redemptions }: DiscountRecord,
  now: number,
): 'discount_expired' | 'discount_spent' | null {
  if (expiresAt !== null && expiresAt.getTime() <= now) return 'discount_expired';
  if (maxRedemptions !== null && redemptions >= maxRedemptions) return 'discount_spent';
  return null;
}
