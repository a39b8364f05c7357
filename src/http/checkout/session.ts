// A checkout as its page needs it: the records behind a token, and the price for the buyer's
// choices.
import { must } from '../../../ledger/kernel/assert.ts';
import type { OrgClock } from '../../../ledger/ports.ts';
import type { FieldError } from '../../pages/checkout/view.ts';
import { type NoQuote, type Quote, quote, type QuoteInput } from '../../payments/quote.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { type CheckoutRecord, findCheckoutByToken } from '../../records/checkouts.ts';
import { type DiscountRecord, findDiscount, findDiscountByCode } from '../../records/discounts.ts';
import { type Branding, findOrganisation } from '../../records/organisations.ts';
import { findPayment, type PaymentRecord } from '../../records/payments.ts';
import { findProduct, type ProductRecord } from '../../records/products.ts';

export type Session = {
  readonly checkout: CheckoutRecord;
  /** The last attempt. */
  readonly payment: PaymentRecord | null;
  readonly product: ProductRecord;
  readonly merchant: string;
  /** As the merchant set it. */
  readonly branding: Branding;
};

export async function findSession(
  sql: Sql,
  token: string,
  clock: OrgClock,
): Promise<Session | null> {
  const checkout = await findCheckoutByToken(sql, token, clock);
  if (checkout === null) return null;
  const { paymentId, productId } = checkout;
  const [payment, product, organisation] = await Promise.all([
    paymentId === null ? null : findPayment(sql, checkout, paymentId),
    findProduct(sql, checkout, productId),
    findOrganisation(sql, checkout),
  ]);
  return {
    checkout,
    payment,
    product: must(product, 'the product of a checkout'),
    merchant: organisation.name,
    branding: organisation.branding,
  };
}

/** The buyer's choices; undefined where the form does not say. An empty code means no code. */
export type BuyerChoices = {
  readonly currency: string | undefined;
  readonly code: string | undefined;
  /** The usual currency of the buyer's region. */
  readonly regional: string | null;
  /** Whether another code may be tried now: a limit against guessing codes. */
  readonly mayTryCode: () => Promise<boolean>;
};

/** The price, and which of the choices could not be met. */
export type Terms = {
  readonly quote: Quote;
  readonly errors: readonly FieldError[];
  readonly refusedCode: string;
};

const REFUSED_CODES: Partial<Record<NoQuote['kind'] | 'too_many_codes', string>> = {
  too_many_codes: 'Too many codes were tried. Wait a minute.',
  discount_not_found: 'This code is not known. Check how it is written.',
  discount_expired: 'This code has expired.',
  discount_spent: 'This code has been used up.',
  discount_currency_conflict: 'This code is for another currency.',
};

/** null: the product has no price any more. */
export async function termsOf(
  sql: Sql,
  session: Session,
  {
    choices,
    now,
    refusalOf,
  }: { readonly choices: BuyerChoices } & Pick<QuoteInput, 'now' | 'refusalOf'>,
): Promise<Terms | null> {
  const { product, checkout } = session;
  const { currencyPinned: pinned, attempts } = checkout;
  const { regional, code } = choices;
  const discount = await discountOf(sql, checkout, choices);
  // An earlier attempt chose a currency.
  const usual = pinned || attempts > 0 ? checkout.currency : null;
  let currency = pinned ? usual : (choices.currency ?? usual);
  const errors: FieldError[] = [];
  const given = { product, pinned, regional, now, refusalOf };
  const bare = quote({ ...given, currency, discount: null });
  if (bare.kind === 'no_price_in_currency' && !pinned) {
    errors.push({ field: 'currency', message: 'This currency is not offered.' });
    currency = null;
  }
  const wish = { ...given, currency };
  const found: Quote | NoQuote | { readonly kind: 'too_many_codes' } =
    typeof discount === 'string' ? { kind: discount } : quote({ ...wish, discount });
  if (found.kind === 'quoted') return { quote: found, errors, refusedCode: '' };
  const refusal =
    found.kind === 'amount_refused'
      ? `With this code it cannot be paid: ${found.message}`
      : REFUSED_CODES[found.kind];
  if (refusal === undefined) return null;
  const plain = quote({ ...wish, discount: null });
  if (plain.kind !== 'quoted') return null;
  errors.push({ field: 'discount_code', message: refusal });
  return { quote: plain, errors, refusedCode: code ?? '' };
}

/** The discount of the entered code, else that of the checkout or of its last attempt. */
async function discountOf(
  sql: Sql,
  checkout: CheckoutRecord,
  { code, mayTryCode }: BuyerChoices,
): Promise<DiscountRecord | null | 'discount_not_found' | 'too_many_codes'> {
  if (code === '') return null;
  const own = checkout.discountId === null ? null : await findDiscount(sql, checkout.discountId);
  if (code === undefined || own?.code.toLowerCase() === code.toLowerCase()) return own;
  if (!(await mayTryCode())) return 'too_many_codes';
  return (await findDiscountByCode(sql, checkout, code)) ?? 'discount_not_found';
}
