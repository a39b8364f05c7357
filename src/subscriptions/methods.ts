// Replaces the saved payment method: verified by the processor, stored, then unpaid invoices are
// retried with it.
//
//     try (on disk) ─▶ processor ─▶ saved
//                          └─▶ its page, or the bank ─▶ the customer returns, or a hint comes ─▶ saved
//
// Holds: a try is answered for by the processor that it began with. Its key is made of the customer
// that began it, so another customer's key finds nothing.
import { must } from '../../ledger/kernel/assert.ts';
import type { ChargeResult, Processor } from '../processors/processor.ts';
import {
  beginMethodAttempt,
  findMethodAttempt,
  type MethodAttempt,
} from '../records/method-attempts.ts';
import { findPaymentMethod, hasSavedSince, putPaymentMethod } from '../records/payment-methods.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { tellSubscriptions } from '../records/subscription-followups.ts';
import { listSubscriptions } from '../records/subscriptions.ts';
import { oweMethodStored } from '../records/topup-followups.ts';
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
  const taking = deps.processors.taking(scope);
  if (taking === null) return { kind: 'unavailable' };
  const { customerId, key, instrument, returnUrl } = change;
  const now = deps.orgClock.now(scope);
  const begun = { id: key, customerId, processor: taking.name, createdAt: new Date(now) };
  const attempt = await beginMethodAttempt(deps.sql, scope, begun);
  const processor = processorOf(deps, scope, attempt);
  // The page asked for another processor, which another account has replaced meanwhile.
  const isAsked = processor !== null && (instrument === null) === (processor.page === 'redirect');
  if (!isAsked) return { kind: 'unavailable' };
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
  const attempt = await findMethodAttempt(deps.sql, scope, key);
  const processor = processorOf(deps, scope, attempt);
  if (processor === null) return { kind: 'unavailable' };
  const found = await processor.findCharge(key);
  const isAgreed = found.kind === 'requires_confirmation';
  const result = isAgreed ? await processor.confirmCharge(key) : found;
  if (result.kind === 'not_attempted') return { kind: 'left' };
  return keep(deps, scope, { customerId, processor, result });
}

export async function methodHinted(
  deps: SubscriptionsDeps,
  scope: Tenant,
  key: string,
): Promise<void> {
  const attempt = await findMethodAttempt(deps.sql, scope, key);
  if (attempt === null) return;
  const { customerId, createdAt: since } = attempt;
  if (await hasSavedSince(deps.sql, scope, { customerId, since })) return;
  const { kind } = await methodReturned(deps, scope, { customerId, key });
  // No alarm asks again.
  if (kind === 'unavailable') throw new Error('the processor has not said what became of it');
}

/** The processor that a try began with. */
function processorOf(
  { processors }: SubscriptionsDeps,
  scope: Tenant,
  attempt: MethodAttempt | null,
): Processor | null {
  return attempt === null ? null : processors.named(scope, attempt.processor);
}

async function keep(
  { sql, ids, orgClock, billing, carryOutTopUps }: SubscriptionsDeps,
  scope: Tenant,
  given: {
    readonly customerId: string;
    readonly processor: Processor;
    readonly result: ChargeResult;
  },
): Promise<MethodReply> {
  const { customerId, processor, result } = given;
  if (result.kind === 'requires_action') {
    return { kind: 'requires_action', url: result.url, processor };
  }
  if (result.kind === 'declined') return { kind: 'declined', message: result.message };
  // It may not be charged before the processor has an id of it.
  if (result.kind === 'pending' && result.saved === null) return { kind: 'pending' };
  const isKept = result.kind === 'succeeded' || result.kind === 'pending';
  if (!isKept || result.saved === null) return { kind: 'unavailable' };
  const { saved, expiry, method } = result;
  const owner = { id: ids.next(), customerId, subscriptionId: null, processor: processor.name };
  const kept = { ...owner, saved, expiry, ...method };
  const now = orgClock.now(scope);
  const subscriptionIds = await sql.begin(async (transaction) => {
    if (!(await putPaymentMethod(transaction, scope, { method: kept, now }))) return [];
    await oweMethodStored(transaction, { customerId, methodId: kept.id }, { ids, now });
    const all = { customerId, subscriptionId: null };
    return tellSubscriptions(transaction, all, { news: { kind: 'method_changed' }, ids, now });
  });
  await Promise.all([
    ...subscriptionIds.map((id) => billing.carryOut(id)),
    carryOutTopUps(customerId),
  ]);
  const payer = { customerId, subscriptionId: null };
  const found = must(await findPaymentMethod(sql, scope, payer), 'what was kept');
  return { kind: 'saved', method: found };
}
