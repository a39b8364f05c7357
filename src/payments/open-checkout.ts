// Opens a session on the hosted page, for the API and for buy links.
import type { Ids } from '../../ledger/ports.ts';
import { type Bounds, Full } from '../platform/bounds.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import type { ProcessorFor } from '../processors/processor.ts';
import { type CheckoutRecord, insertCheckout, type NewCheckout } from '../records/checkouts.ts';
import type { ProductRecord } from '../records/products.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { type NoQuote, quoteWithCode } from './quote.ts';

const OPEN_MS = 24 * 60 * 60 * 1000;

export type OpenCheckoutDeps = {
  readonly ids: Ids;
  /** The secret part of the session's address. */
  readonly newToken: () => string;
  readonly processorFor: ProcessorFor;
  readonly settings: { readonly bounds: Bounds };
};

export type CheckoutInput = Pick<
  NewCheckout,
  | 'source'
  | 'customerId'
  | 'customerEmail'
  | 'customerName'
  | 'externalCustomerId'
  | 'clientReferenceId'
  | 'metadata'
  | 'successUrl'
  | 'cancelUrl'
> & {
  readonly product: ProductRecord;
  /** Pins the currency; null leaves the choice to the buyer. */
  readonly currency: string | null;
  /** The usual currency of the buyer's region; null if the merchant makes the session. */
  readonly regional: string | null;
  readonly discountCode: string | null;
};

export type CheckoutRefusal =
  | NoQuote
  | { readonly kind: 'not_for_sale' }
  /** The tenant has no payment processor. */
  | { readonly kind: 'no_processor' }
  | { readonly kind: 'full'; readonly full: Full };

export async function openCheckout(
  sql: Transaction,
  deps: OpenCheckoutDeps,
  options: { readonly scope: Tenant; readonly wish: CheckoutInput; readonly now: number },
): Promise<{ readonly kind: 'opened'; readonly checkout: CheckoutRecord } | CheckoutRefusal> {
  const { scope, now } = options;
  const { product, currency: wanted, regional, discountCode: code, ...given } = options.wish;
  if (deps.processorFor(scope) === null) return { kind: 'no_processor' };
  const pinned = wanted !== null;
  const asked = { product, currency: wanted, pinned, regional, code, now };
  const quote = await quoteWithCode(sql, scope, asked);
  if (quote.kind !== 'quoted') return quote;
  const { price, discount, subtotal, currency, total } = quote;
  const checkout = await insertCheckout(sql, scope, {
    checkout: {
      ...given,
      id: deps.ids.next(),
      token: deps.newToken(),
      productId: product.id,
      type: price.type,
      discountId: discount?.id ?? null,
      priceId: price.id,
      currencyPinned: pinned,
      subtotal,
      amount: total,
      currency,
      expiresAt: new Date(now + OPEN_MS),
    },
    bounds: deps.settings.bounds,
    now,
  });
  if (checkout instanceof Full) return { kind: 'full', full: checkout };
  return { kind: 'opened', checkout };
}
