// Gives the result of a subscription's charge to the customer's actor, before the charge's own
// follow-ups are executed. To repeat it changes nothing.
import type { OrgClock } from '../../ledger/ports.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { declineOf, isTriedAgain } from '../../ledger/payments/declines.ts';
import type { PaymentState } from '../../ledger/payments/payment.ts';
import type { Settlement } from '../../ledger/subscriptions/subscription.ts';
import { billingPolicyOf } from '../records/organisations.ts';
import { findPayment } from '../records/payments.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { beginSubscription, type SignupDeps } from './signup.ts';

/** The subscription with new follow-ups; null for none. */
export async function settlePayment(
  deps: SignupDeps & { readonly orgClock: OrgClock },
  scope: Tenant,
  paymentId: string,
): Promise<string | null> {
  const { sql, ledger } = deps;
  const state = await ledger.payments.load(paymentId);
  const subscriptionId = must(state.payment.subscriptionId, 'the subscription that is paid for');
  if (!state.payment.isOffSession) {
    if (state.paidAt === null) return null;
    const payment = must(await findPayment(sql, scope, paymentId), 'a payment that settled');
    await beginSubscription(deps, scope, payment);
    return subscriptionId;
  }
  const customerId = must(state.customerId, 'whose payment it is');
  const command = { kind: 'settle', settlement: await settlementOf(deps, scope, state) } as const;
  const outcome = await ledger.subscriptions.command(customerId, subscriptionId, command);
  return outcome.kind === 'done' && outcome.owes ? subscriptionId : null;
}

async function settlementOf(
  { sql, ids, orgClock }: SignupDeps & { readonly orgClock: OrgClock },
  scope: Tenant,
  state: PaymentState,
): Promise<Settlement> {
  const { status, paidAt, failure } = state;
  const { id: paymentId } = state.payment;
  if (paidAt !== null) {
    const transactionId = ids.derive('capture', paymentId);
    return { kind: 'paid', paymentId, at: paidAt, transactionId };
  }
  const { dunning: policy } = await billingPolicyOf(sql, scope);
  const { code, message } = failure ?? { code: 'processing_error', message: '' };
  const kind = status === 'errored' ? 'errored' : 'failed';
  const at = orgClock.now(scope);
  const hard = !isTriedAgain(declineOf(state), 'days');
  return { kind, paymentId, at, policy, code, message, hard };
}
