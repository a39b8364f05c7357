// One attempt to pay a checkout.
//
//     lock the checkout ─▶ quote again ─▶ payment row and alarm ─▶ commit ─▶ processor ─▶ ledger
//
// Holds: one attempt of a checkout is under way at a time, because its row is locked while the
// attempt begins. The payment and its alarm are on disk before the processor is asked. The buyer is
// charged only the total that the page showed.
// Does not: apply the answer (charges.ts), or do what follows from it (followups.ts).
import type { Ids, OrgClock } from '../../ledger/ports.ts';
import type { Sql, Transaction } from '../platform/postgres/postgres.ts';
import type { ChargeResult, Processor, Processors } from '../processors/processor.ts';
import { type CheckoutRecord, lockCheckout, startAttempt } from '../records/checkouts.ts';
import { redeemDiscount } from '../records/discounts.ts';
import { insertPayments, newPayment } from '../records/payments.ts';
import { findProduct } from '../records/products.ts';
import { sellsUsage } from '../records/usage-prices.ts';
import type { Charges } from './charges.ts';
import { knownCustomerOf } from './customer.ts';
import type { Order, PayOutcome } from './payments.ts';
import { quoteWithCode } from './quote.ts';

export type PayDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly processors: Processors;
  readonly charges: Charges;
  readonly checkoutUrl: string;
  /** Attempts that one checkout takes; 0 for any number. */
  readonly attemptsMax: number;
};

type Begun = {
  readonly kind: 'begun';
  readonly paymentId: string;
  readonly amount: bigint;
  /** Whether it will be charged again. */
  readonly save: boolean;
  /** Whether it has a discount, which is checked once more before it is charged. */
  readonly confirms: boolean;
  readonly order: { readonly name: string; readonly email: string };
  readonly checkout: CheckoutRecord;
  readonly processor: Processor;
};

export async function pay(deps: PayDeps, token: string, order: Order): Promise<PayOutcome> {
  const begun = await deps.sql.begin((transaction) => begin(transaction, deps, { token, order }));
  if (begun.kind !== 'begun') return begun;
  const result = await deps.charges.asking(begun.paymentId, () => charge(deps, begun, order));
  return result?.kind === 'requires_action'
    ? { kind: 'requires_action', url: result.url }
    : { kind: 'attempted' };
}

/** Asks the processor, except where nothing is due now or later. */
async function charge(
  { checkoutUrl }: PayDeps,
  { paymentId: key, amount, save, confirms, order, checkout, processor }: Begun,
  { currency, instrument, isEmbedded }: Order,
): Promise<ChargeResult | { readonly kind: 'free' }> {
  if (amount === 0n && !save) return { kind: 'free' };
  // A page of the processor is not in the frame: from there the buyer comes back to a page alone.
  const isFramed = isEmbedded === true && processor.page === 'fields';
  const returnUrl = `${checkoutUrl}/${checkout.token}${isFramed ? '?embed=1' : ''}`;
  const how = { save, confirms, order, returnUrl };
  return processor.charge({ key, amount, currency, instrument, ...how });
}

async function begin(
  sql: Transaction,
  deps: PayDeps,
  { token, order }: { token: string; order: Order },
): Promise<PayOutcome | Begun> {
  const checkout = await lockCheckout(sql, token, deps.orgClock);
  if (checkout?.status !== 'active') return { kind: 'not_open' };
  const now = deps.orgClock.now(checkout);
  const { attemptsMax } = deps;
  if (attemptsMax > 0 && checkout.attempts >= attemptsMax) return { kind: 'locked' };
  const processor = deps.processors.taking(checkout);
  if (processor === null) return { kind: 'not_open' };
  const { email, name } = buyerOf(checkout, order);
  if (email === null) return { kind: 'email_required' };
  const product = await findProduct(sql, checkout, checkout.productId);
  const { currencyPinned: pinned } = checkout;
  const currency = pinned ? checkout.currency : order.currency;
  const { refusalOf } = processor;
  const wish = { currency, pinned, regional: null, now, code: order.discountCode, refusalOf };
  if (product === null) return { kind: 'not_open' };
  const quote = await quoteWithCode(sql, checkout, { product, ...wish });
  if (quote.kind.startsWith('discount')) return { kind: 'discount_refused' };
  if (quote.kind !== 'quoted' || quote.currency !== order.currency || quote.total !== order.total) {
    return { kind: 'total_changed' };
  }
  const { discount, price, subtotal, total: amount } = quote;
  const isSignup = price.type === 'recurring';
  const save =
    isSignup &&
    (price.amount > 0n ||
      (await sellsUsage(sql, checkout, {
        productId: checkout.productId,
        currency: quote.currency,
      })));
  // The page asked for nothing, before there was something to charge later, or for a processor with
  // a page of its own.
  const lacksInstrument = order.instrument === null && processor.page === 'fields';
  if ((save || amount > 0n) && lacksInstrument) return { kind: 'total_changed' };
  if (discount !== null && !(await redeemDiscount(sql, discount.id, now))) {
    return { kind: 'discount_refused' };
  }
  const paymentId = deps.ids.next();
  const what = { currency: quote.currency, subtotal, amount, priceId: price.id };
  const discountId = discount?.id ?? null;
  await startAttempt(sql, { id: checkout.id, paymentId, email, name, ...what, discountId });
  const payment = newPayment({
    id: paymentId,
    amount,
    currency: quote.currency,
    transactionType: isSignup ? 'SUBSCRIPTION_START' : 'PURCHASE',
    // One checkout is one subscription, whichever of its attempts pays.
    subscriptionId: isSignup ? deps.ids.derive('subscription', checkout.id) : null,
    checkoutId: checkout.id,
    checkoutToken: checkout.token,
    productId: checkout.productId,
    customerId: await knownCustomerOf(sql, checkout, email),
    customerEmail: email,
    customerName: name,
    externalCustomerId: checkout.externalCustomerId,
    clientReferenceId: checkout.clientReferenceId,
    metadata: checkout.metadata,
    attempt: checkout.attempts + 1,
    processor: processor.name,
    askAt: now + processor.firstAskMs,
    now,
  });
  await insertPayments(sql, [{ scope: checkout, payment }]);
  const shown = { confirms: discount !== null, order: { name: product.name, email } };
  return { kind: 'begun', paymentId, amount, save, ...shown, checkout, processor };
}

/**
 * The buyer: as the merchant named it, or behind a buy link as the buyer typed it in this attempt.
 */
function buyerOf(
  { source, customerEmail, customerName }: CheckoutRecord,
  order: Order,
): Pick<Order, 'email' | 'name'> {
  const name = customerName === '' ? null : customerName;
  return source === 'api'
    ? { email: customerEmail ?? order.email, name: name ?? order.name }
    : { email: order.email ?? customerEmail, name: order.name ?? name };
}
