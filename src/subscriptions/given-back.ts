// What was given back of the present period of a subscription, for a change of its plan.
//
// How it works: it is what cannot be refunded any more of the payments of its invoices: refunds,
// also those under way, lost disputes, and open ones until they are won. Of an invoice that has
// usage too, it is the same part of each line. A change that was taken back bought nothing of the
// period, so what goes back of its payment does not count, whoever gives it back.
// Holds: it is read from the accounts of the payments, where a refund is before it is answered.
import { must } from '../../ledger/kernel/assert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { backOfTime } from '../../ledger/subscriptions/given-back.ts';
import type { GivenBack } from '../../ledger/subscriptions/subscription.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { listGivenBack } from '../records/given-back.ts';

/** Of invoices whose time is not over at `now`. */
export async function givenBackOf(
  sql: Executor,
  subscriptionId: string,
  now: number,
): Promise<readonly GivenBack[]> {
  const all = await listGivenBack(sql, subscriptionId, new Date(now));
  return all.map(({ invoiceId, start, end, ...back }) => ({
    invoiceId,
    amount: backOfTime(back),
    start: start.getTime(),
    end: end.getTime(),
  }));
}

/**
 * Tells a subscription what went back of the invoice that a payment paid. To repeat it changes
 * nothing.
 */
export async function tellGivenBack(
  { ledger }: { readonly ledger: Ledger },
  paymentId: string,
): Promise<{ readonly subscriptionId: string; readonly owes: boolean }> {
  const { payment, customerId } = await ledger.payments.load(paymentId);
  const subscriptionId = must(payment.subscriptionId, 'the subscription that was paid for');
  const whose = must(customerId, 'whose payment it is');
  const command = { kind: 'usage_given_back', paymentId } as const;
  const outcome = await ledger.subscriptions.command(whose, subscriptionId, command);
  return { subscriptionId, owes: outcome.kind === 'done' && outcome.owes };
}
