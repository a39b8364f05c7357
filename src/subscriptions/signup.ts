// Starts the subscription that a paid checkout is for. Its id is derived from the checkout, so it
// starts once.
import { must } from '../../ledger/kernel/assert.ts';
import type { Discount } from '../../ledger/payments/pricing.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { type CheckoutRecord, findCheckout } from '../records/checkouts.ts';
import { findRedeemed } from '../records/discounts.ts';
import { billingPolicyOf } from '../records/organisations.ts';
import type { PaymentRecord } from '../records/payments.ts';
import { listFeatures } from '../records/product-features.ts';
import { findProduct } from '../records/products.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { allowancesOf, planOf, trialEndOf } from './plans.ts';

export type SignupDeps = { readonly sql: Executor; readonly ids: Ids; readonly ledger: Ledger };

/** A payment of a checkout; its amount may be 0. */
export async function beginSubscription(
  { sql, ids, ledger }: SignupDeps,
  scope: Tenant,
  payment: PaymentRecord,
): Promise<void> {
  const { checkoutId, subscriptionId, customerId, paidAt } = payment;
  const id = must(subscriptionId, 'the subscription of a signup');
  const startAt = must(paidAt, 'when it was paid').getTime();
  const at = { id: must(checkoutId, 'the checkout of a signup'), now: startAt };
  const checkout = must(await findCheckout(sql, scope, at), 'a checkout that was paid');
  const product = must(await findProduct(sql, scope, checkout.productId), 'what was bought');
  const price = product.prices.find((one) => one.id === checkout.priceId);
  const { zone } = await billingPolicyOf(sql, scope);
  const sold = must(price, 'the price that was paid');
  const plan = planOf(product, sold, 1);
  const features = await listFeatures(sql, { ...scope, ...plan });
  const trialEnd = trialEndOf(sold.trialDays, startAt);
  const { captured: amount, customerEmail, invoiceId, method } = payment;
  const wanted = {
    id,
    bundleId: ids.derive('bundle', id),
    plan,
    allowances: allowancesOf(features, plan),
    signup: {
      paymentLinkId: checkout.id,
      paymentLinkToken: checkout.token,
      clientReferenceId: checkout.clientReferenceId,
      externalCustomerId: checkout.externalCustomerId,
      metadata: checkout.metadata,
    },
    zone,
    startAt,
    trialEnd,
    discount: trialEnd === null ? null : await discountOf(sql, checkout),
    paid: { paymentId: payment.id, amount, customerEmail, invoiceId, method },
  };
  await ledger.subscriptions.start(must(customerId, 'whose payment it is'), wanted);
}

/**
 * Of a trial: for the first payment after it. One that was deleted since was redeemed all the same.
 */
async function discountOf(
  sql: Executor,
  { discountId, currency }: CheckoutRecord,
): Promise<Discount | null> {
  const redeemed = discountId === null ? null : await findRedeemed(sql, discountId);
  if (redeemed === null || (redeemed.currency ?? currency) !== currency) return null;
  const { percentOff, amountOff, currency: own } = redeemed;
  return { percentOff, amountOff, currency: own };
}
