// Gives the result of a top-up's charge to the customer's actor, which grants what was paid for in
// the same decision. Before the charge's own follow-ups are executed. To repeat it changes nothing.
import { must } from '../../ledger/kernel/assert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { declineOf, isTriedAgain } from '../../ledger/payments/declines.ts';
import type { PaymentState } from '../../ledger/payments/payment.ts';
import type { TopUpAnswer } from '../../ledger/topups/auto-topup.ts';

export async function settleTopUp(ledger: Ledger, paymentId: string): Promise<void> {
  const state = await ledger.payments.load(paymentId);
  const meterId = must(state.payment.meterId, 'the meter that is topped up');
  const customerId = must(state.customerId, 'whose payment it is');
  const answer = answerOf(state);
  await ledger.topUps.change(customerId, meterId, { kind: 'settle', answer });
}

function answerOf(state: PaymentState): TopUpAnswer {
  const { paidAt, failure } = state;
  const { id: paymentId } = state.payment;
  if (paidAt !== null) return { kind: 'captured', paymentId, at: paidAt };
  const code = must(failure, 'why it was not captured').code;
  const passes = isTriedAgain(declineOf(state), 'hours');
  const why = code === 'authentication_required' ? code : 'declined';
  return { kind: 'refused', paymentId, why, passes };
}
