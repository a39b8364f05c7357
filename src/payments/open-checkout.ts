// What a new session on the hosted page is, for the API and for buy links. `openings.ts` writes it.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Full } from '../platform/bounds.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { Processors } from '../processors/processor.ts';
import type { CheckoutRecord } from '../records/checkouts.ts';
import { type DiscountRecord, findDiscountByCode } from '../records/discounts.ts';
import type { ProductRecord } from '../records/products.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { type NoQuote, quote } from './quote.ts';

const OPEN_MS = DAY_MS;

export type DraftDeps = {
  readonly ids: Ids;
  /** The secret part of the session's address. */
  readonly newToken: () => string;
  readonly processors: Processors;
};

export type CheckoutInput = Pick<
  CheckoutRecord,
  | 'source'
  | 'productId'
  | 'customerId'
  | 'customerEmail'
  | 'customerName'
  | 'externalCustomerId'
  | 'clientReferenceId'
  | 'metadata'
  | 'successUrl'
  | 'cancelUrl'
> & {
  /** Pins the currency; null leaves the choice to the buyer. */
  readonly currency: string | null;
  /** The usual currency of the buyer's region; null if the merchant makes the session. */
  readonly regional: string | null;
  readonly discount: DiscountRecord | 'discount_not_found' | null;
};

export type CheckoutRefusal =
  | NoQuote
  | { readonly kind: 'no_product' }
  /** The tenant has no payment processor. */
  | { readonly kind: 'no_processor' }
  | { readonly kind: 'full'; readonly full: Full };

/** The discount of a code that may have come. */
export async function discountOfCode(
  sql: Executor,
  scope: Tenant,
  code: string | undefined,
): Promise<CheckoutInput['discount']> {
  if (code === undefined) return null;
  return (await findDiscountByCode(sql, scope, code)) ?? 'discount_not_found';
}

/** The session as it will be stored. */
export function draftCheckout(
  deps: DraftDeps,
  options: {
    readonly scope: Tenant;
    readonly product: ProductRecord;
    readonly input: CheckoutInput;
    readonly now: number;
  },
): { readonly kind: 'drafted'; readonly checkout: CheckoutRecord } | CheckoutRefusal {
  const { scope, product, now } = options;
  const { currency: wanted, regional, discount, ...given } = options.input;
  const processor = deps.processors.taking(scope);
  if (processor === null) return { kind: 'no_processor' };
  if (discount === 'discount_not_found') return { kind: discount };
  const pinned = wanted !== null;
  const { refusalOf } = processor;
  const quoted = quote({ product, currency: wanted, pinned, regional, discount, now, refusalOf });
  if (quoted.kind !== 'quoted') return quoted;
  const { price, subtotal, currency, total } = quoted;
  const checkout = {
    ...given,
    id: deps.ids.next(),
    organisationId: scope.organisationId,
    mode: scope.mode,
    token: deps.newToken(),
    productId: product.id,
    type: price.type,
    status: 'active',
    discountId: discount?.id ?? null,
    priceId: price.id,
    currencyPinned: pinned,
    subtotal,
    amount: total,
    currency,
    paymentId: null,
    attempts: 0,
    createdAt: new Date(now),
    expiresAt: new Date(now + OPEN_MS),
    paidAt: null,
  } as const;
  return { kind: 'drafted', checkout };
}
