// A subscription that the merchant starts by API. The saved payment method is charged, else the
// invoice stays open.
import { must } from '../../ledger/kernel/assert.ts';
import { findCustomer } from '../records/customers.ts';
import { billingPolicyOf } from '../records/organisations.ts';
import { listFeatures } from '../records/product-features.ts';
import { findProduct, type PriceRecord, type ProductRecord } from '../records/products.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { findSubscription } from '../records/subscriptions.ts';
import type { SubscriptionsDeps } from './deps.ts';
import { allowancesOf, chargeRefusal, isWithinReach, planOf, trialEndOf } from './plans.ts';
import type { CreateReply, SubscriptionInput } from './subscriptions.ts';

export async function createSubscription(
  { sql, ids, orgClock, ledger, billing, processors }: SubscriptionsDeps,
  scope: Tenant,
  wish: SubscriptionInput,
): Promise<CreateReply> {
  const { customerId, idempotencyKey: key, quantity } = wish;
  const customer = await findCustomer(sql, scope, customerId);
  if (customer === null) return { kind: 'customer_not_found' };
  const product = await findProduct(sql, scope, wish.productId);
  if (product === null) return { kind: 'product_not_found' };
  if (product.status !== 'active') return { kind: 'not_for_sale' };
  const price = priceOf(product, wish.priceId);
  if (price === null) return { kind: 'price_not_found' };
  const plan = planOf(product, price, quantity);
  const features = await listFeatures(sql, { ...scope, ...plan });
  const allowances = allowancesOf(features, plan);
  if (!isWithinReach(plan, allowances)) return { kind: 'quantity_too_large' };
  const message = chargeRefusal(processors.taking(scope), plan);
  if (message !== null) return { kind: 'amount_refused', message };
  const { zone } = await billingPolicyOf(sql, scope);
  const startAt = orgClock.now(scope);
  const { organisationId, mode } = scope;
  const id = key === null ? ids.next() : ids.derive('subscription', organisationId, mode, key);
  const wanted = {
    id,
    bundleId: ids.derive('bundle', id),
    plan,
    allowances,
    signup: {
      paymentLinkId: null,
      paymentLinkToken: null,
      clientReferenceId: null,
      externalCustomerId: null,
      metadata: wish.metadata,
    },
    zone,
    startAt,
    trialEnd: trialEndOf(wish.trialDays ?? price.trialDays, startAt),
    discount: null,
    paid: null,
  };
  const started = await ledger.subscriptions.start(customerId, wanted);
  if (started === 'full') return { kind: 'full' };
  await billing.carryOut(id);
  const record = must(await findSubscription(sql, scope, id), 'a subscription that was started');
  return { kind: 'created', record };
}

/** Ids are UUIDv7: the first that was made is the least. */
export function priceOf({ prices }: ProductRecord, id: string | null): PriceRecord | null {
  const recurring = prices
    .filter(({ type, status }) => type === 'recurring' && status === 'active')
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return (id === null ? recurring[0] : recurring.find((price) => price.id === id)) ?? null;
}
