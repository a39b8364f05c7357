// Replaces the saved payment method: verified by the processor, stored, then unpaid invoices are
// retried with it.
import { must } from '../../ledger/kernel/assert.ts';
import type { ChargeResult, Processor } from '../processors/processor.ts';
import { findPaymentMethod, putPaymentMethod } from '../records/payment-methods.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { tellSubscriptions } from '../records/subscription-followups.ts';
import { listSubscriptions } from '../records/subscriptions.ts';
import type { SubscriptionsDeps } from './deps.ts';
import type { MethodReply, Subscriptions } from './subscriptions.ts';

/** For a customer without a subscription. */
const CURRENCY = 'USD';

type Change = Parameters<Subscriptions['replaceMethod']>[1];
type Returned = Parameters<Subscriptions['methodReturned']>[1];

export async function replaceMethod(
  deps: SubscriptionsDeps,
  scope: Tenant,
  change: Change,
): Promise<MethodReply> {
  const processor = deps.processors.taking(scope);
  if (processor === null) return { kind: 'unavailable' };
  const { customerId, key, instrument, returnUrl } = change;
  const [one] = await listSubscriptions(deps.sql, scope, { customerId, limit: 1, offset: 0 });
  const currency = one?.subscription.plan.currency ?? CURRENCY;
  const request = { key, amount: 0n, currency, instrument, save: true, returnUrl };
  return keep(deps, scope, { customerId, processor, result: await processor.charge(request) });
}

export async function methodReturned(
  deps: SubscriptionsDeps,
  scope: Tenant,
  { customerId, key }: Returned,
): Promise<MethodReply> {
  const processor = deps.processors.taking(scope);
  if (processor === null) return { kind: 'unavailable' };
  const found = await processor.findCharge(key);
  const isAgreed = found.kind === 'requires_confirmation';
  const result = isAgreed ? await processor.confirmCharge(key) : found;
  return keep(deps, scope, { customerId, processor, result });
}

async function keep(
  { sql, ids, orgClock, billing }: SubscriptionsDeps,
  scope: Tenant,
  given: {
    readonly customerId: string;
    readonly processor: Processor;
    readonly result: ChargeResult;
  },
): Promise<MethodReply> {
  const { customerId, processor, result } = given;
  if (result.kind === 'requires_action') return { kind: 'requires_action', url: result.url };
  if (result.kind === 'declined') return { kind: 'declined', message: result.message };
  const isKept = result.kind === 'succeeded' || result.kind === 'pending';
  if (!isKept || result.saved === null) return { kind: 'unavailable' };
  const { saved, expiry, method } = result;
  const owner = { id: ids.next(), customerId, subscriptionId: null, processor: processor.name };
  const kept = { ...owner, saved, expiry, ...method };
  const now = orgClock.now(scope);
  const subscriptionIds = await sql.begin(async (transaction) => {
    if (!(await putPaymentMethod(transaction, scope, { method: kept, now }))) return [];
    const all = { customerId, subscriptionId: null };
    return tellSubscriptions(transaction, all, { news: { kind: 'method_changed' }, ids, now });
  });
  await Promise.all(subscriptionIds.map((id) => billing.carryOut(id)));
  const payer = { customerId, subscriptionId: null };
  const found = must(await findPaymentMethod(sql, scope, payer), 'what was kept');
  return { kind: 'saved', method: found };
}
