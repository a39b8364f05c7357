import { type Static, Type } from '@sinclair/typebox';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import type { CheckoutRefusal, CheckoutInput } from '../../payments/open-checkout.ts';
import { REDIRECT_URL_LENGTH_MAX, redirectUrlIssue } from '../../payments/urls.ts';
import type { CheckoutRecord } from '../../records/checkouts.ts';
import type { Issue } from '../edge/errors.ts';
import { Amount, Currency } from './money.ts';
import { SAMPLE } from './payloads/samples.ts';
import { Metadata } from './metadata.ts';
import { Body, Email, ExternalCustomerId, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

const RedirectUrl = (description: string) =>
  Type.String({ minLength: 1, maxLength: REDIRECT_URL_LENGTH_MAX, description });

const SuccessUrl = RedirectUrl(
  'An https URL. A paid buyer is sent there with `status=paid` and `payment_link_id` appended; the literal text ' +
    '`{CHECKOUT_TOKEN}` in its path, query or fragment stands for the token of the session. Pages of its origin may show the checkout in a frame (`/embed.js`); ' +
    'there nobody is sent on, and the page is told.',
);
const CancelUrl = RedirectUrl(
  'An https URL: the target of the link back to the merchant. Pages of its origin may show ' +
    'the checkout in a frame (`/embed.js`); they are told when the buyer cancels, with this ' +
    'URL, and show their own cancel flow.',
);

const ClientReferenceId = Type.String({
  maxLength: 500,
  description: "The merchant's own reference, echoed.",
});

const DiscountCode = Type.String({ minLength: 1, maxLength: 255 });

export const CheckoutStatus = oneOf(['active', 'processing', 'paid', 'expired', 'canceled']);

export const CheckoutType = oneOf(['one_time', 'recurring']);

const Url = Type.String({ format: 'uri', description: 'Ends in the token.' });

export const CheckoutCreate = Body(
  {
    product_id: Uuid,
    customer_email: Email,
    customer_name: Type.Optional(Type.String({ maxLength: 255 })),
    customer_id: Type.Optional({
      ...Uuid,
      description:
        'The customer of the checkout. If omitted, the customer with `external_customer_id`, ' +
        'else the one with `customer_email` (not one whose address only a buyer has typed), ' +
        'else a new customer.',
    }),
    external_customer_id: Type.Optional(ExternalCustomerId),
    client_reference_id: Type.Optional(ClientReferenceId),
    success_url: Type.Optional(SuccessUrl),
    cancel_url: Type.Optional(CancelUrl),
    discount_code: Type.Optional(DiscountCode),
    currency: Type.Optional(Currency),
    metadata: Type.Optional(Metadata),
  },
  {
    product_id: SAMPLE.productId,
    customer_email: SAMPLE.email,
    external_customer_id: 'user-1',
    success_url: 'https://shop.example.com/thanks',
    metadata: { order: '17' },
  },
);

export const Checkout = Type.Object({
  id: Uuid,
  url: Url,
  product_id: Uuid,
  customer_id: Nullable(Uuid),
  customer_email: Nullable(Email),
  customer_name: Nullable(Type.String({ maxLength: 255 })),
  external_customer_id: Nullable(ExternalCustomerId),
  client_reference_id: Nullable(ClientReferenceId),
  metadata: Metadata,
  success_url: Nullable(SuccessUrl),
  cancel_url: Nullable(CancelUrl),
  amount: Amount,
  currency: Currency,
  status: CheckoutStatus,
  type: CheckoutType,
  expires_at: Nullable(Timestamp),
  paid_at: Nullable(Timestamp),
});

export const BuyLinkCheckoutCreate = Body(
  {
    discount_code: Type.Optional(DiscountCode),
    success_url: Type.Optional(SuccessUrl),
  },
  { success_url: 'https://shop.example.com/thanks?session={CHECKOUT_TOKEN}' },
);

export const BuyLinkCheckout = Type.Object({
  id: Uuid,
  url: Url,
  token: Type.String(),
  product_id: Type.String({ description: 'With the prefix `prod_` if it was requested with it.' }),
  amount: Amount,
  currency: Currency,
  status: CheckoutStatus,
  type: CheckoutType,
});

/** The issues of a body's URLs; `loopback` hosts are allowed to some callers. */
export function urlIssues(
  body: { readonly success_url?: string; readonly cancel_url?: string },
  options: { readonly loopback: boolean },
): Issue[] {
  const issues: Issue[] = [];
  for (const field of ['success_url', 'cancel_url'] as const) {
    const url = body[field];
    const message = url === undefined ? null : redirectUrlIssue(url, options);
    if (message !== null) issues.push({ path: [field], message });
  }
  return issues;
}

export function toCheckoutInput(
  body: Static<typeof CheckoutCreate>,
  discount: CheckoutInput['discount'],
): CheckoutInput {
  return {
    productId: body.product_id,
    source: 'api',
    customerId: body.customer_id?.toLowerCase() ?? null,
    customerEmail: body.customer_email,
    customerName: body.customer_name ?? null,
    externalCustomerId: body.external_customer_id ?? null,
    clientReferenceId: body.client_reference_id ?? null,
    metadata: body.metadata ?? {},
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    discount,
    currency: body.currency ?? null,
    // The merchant's server asks here; only the page knows the buyer's region.
    regional: null,
  };
}

export function toBuyLinkInput(
  body: Static<typeof BuyLinkCheckoutCreate>,
  found: Pick<CheckoutInput, 'productId' | 'discount' | 'regional'>,
): CheckoutInput {
  return {
    ...found,
    source: 'buy_link',
    customerId: null,
    customerEmail: null,
    customerName: null,
    externalCustomerId: null,
    clientReferenceId: null,
    metadata: {},
    successUrl: body.success_url ?? null,
    cancelUrl: null,
    currency: null,
  };
}

export function fromCheckout(
  checkout: CheckoutRecord,
  checkoutUrl: string,
): Static<typeof Checkout> {
  return {
    id: checkout.id,
    url: `${checkoutUrl}/${checkout.token}`,
    product_id: checkout.productId,
    customer_id: checkout.customerId,
    customer_email: checkout.customerEmail,
    customer_name: checkout.customerName,
    external_customer_id: checkout.externalCustomerId,
    client_reference_id: checkout.clientReferenceId,
    metadata: checkout.metadata,
    success_url: checkout.successUrl,
    cancel_url: checkout.cancelUrl,
    amount: formatMoney(checkout.amount, checkout.currency),
    currency: checkout.currency,
    status: checkout.status,
    type: checkout.type,
    expires_at: checkout.expiresAt?.toISOString() ?? null,
    paid_at: checkout.paidAt?.toISOString() ?? null,
  };
}

/** `reference` is how the address named the product. */
export function fromBuyLinkCheckout(
  checkout: CheckoutRecord,
  { reference, checkoutUrl }: { readonly reference: string; readonly checkoutUrl: string },
): Static<typeof BuyLinkCheckout> {
  const { id, url, amount, currency, status, type } = fromCheckout(checkout, checkoutUrl);
  const { token, productId } = checkout;
  const prefixed = `prod_${productId}`;
  const product_id = reference.toLowerCase() === prefixed ? prefixed : productId;
  return { id, url, token, product_id, amount, currency, status, type };
}

type CreateFailure = Exclude<CheckoutRefusal, { readonly kind: 'full' | 'no_product' }>;

const REFUSALS: Readonly<Record<Exclude<CreateFailure['kind'], 'amount_refused'>, string>> = {
  not_for_sale: 'the product is archived or unpublished',
  no_processor: 'no processor is connected in this mode: PUT /organization/processor connects one',
  no_active_price: 'the product has no active price',
  no_price_in_currency: 'the product has no active price in this currency',
  discount_not_found: 'there is no such discount code',
  discount_expired: 'the discount code has expired',
  discount_spent: 'the discount code has been used up',
  discount_currency_conflict: 'the discount code is for another currency than the price',
};

/** Why no checkout was created, in words. */
export function refusalText(refused: CreateFailure): string {
  return refused.kind === 'amount_refused' ? refused.message : REFUSALS[refused.kind];
}
