// What became of a charge for a subscription, told to the customer's actor before the charge's own follow-ups are done. Telling it
// again changes nothing.
import type { OrgClock } from '../../ledger/ports.ts';
import { must } from '../../ledger/assert.ts';
import type { Settlement } from '../../ledger/subscription.ts';
import { billingPolicyOf } from '../records/organisations.ts';
import { findPayment, type PaymentRecord } from '../records/payments.ts';
import type { Scope } from '../records/scope.ts';
import { beginSubscription, type SignupDeps } from './signup.ts';

/** What no later try can change. */
const HARD = new Set(['lost_card', 'stolen_card', 'mandate_lost', 'authentication_required']);

/** Whose it is: it may owe something now. */
export async function settlePayment(
  deps: SignupDeps & { readonly orgClock: OrgClock },
  scope: Scope,
  paymentId: string,
): Promise<string> {
  const { sql, ledger } = deps;
  const payment = must(await findPayment(sql, scope, paymentId), 'a payment that settled');
  const subscriptionId = must(payment.subscriptionId, 'the subscription that is paid for');
  if (payment.checkoutId !== null) {
    if (payment.paidAt !== null) await beginSubscription(deps, scope, payment);
    return subscriptionId;
  }
  const customerId = must(payment.customerId, 'whose payment it is');
  const settlement = await settlementOf(deps, scope, payment);
  await ledger.subscriptions.command(customerId, subscriptionId, { kind: 'settle', settlement });
  return subscriptionId;
}

async function settlementOf(
  { sql, ids, orgClock }: SignupDeps & { readonly orgClock: OrgClock },
  scope: Scope,
  { id: paymentId, status, paidAt, failureCode, failureMessage }: PaymentRecord,
): Promise<Settlement> {
  if (paidAt !== null) {
    const transactionId = ids.derive('capture', paymentId);
    return { kind: 'paid', paymentId, at: paidAt.getTime(), transactionId };
  }
  const { dunning: policy } = await billingPolicyOf(sql, scope);
  const code = failureCode ?? 'processing_error';
  const kind = status === 'errored' ? 'errored' : 'failed';
  const at = orgClock.now(scope);
  const failure = { code, message: failureMessage ?? '', hard: HARD.has(code) };
  return { kind, paymentId, at, policy, ...failure };
}
