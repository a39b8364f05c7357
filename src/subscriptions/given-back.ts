// What was given back of the present period of a subscription, for a change of its plan.
//
// How it works: it is what cannot be refunded any more of the payments of its invoices: refunds, also
// those under way, lost disputes, and open ones until they are won. Of an invoice that has usage too,
// it is the same part of each line. A change that was taken back bought nothing of the period, so what goes
// back of its payment does not count, whoever gives it back.
// Holds: it is read from the accounts of the payments, where a refund is before it is answered.
import type { GivenBack } from '../../ledger/subscriptions/subscription.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { type BackOfInvoice, listGivenBack } from '../records/given-back.ts';

/** The share of the time that the invoice is for, not of usage: rounded half up. */
function ofTime({ amount, time, usage }: BackOfInvoice): bigint {
  if (time <= 0n) return 0n;
  if (usage <= 0n) return amount;
  const all = time + usage;
  return (2n * amount * time + all) / (2n * all);
}

/** Of invoices whose time is not over at `now`. */
export async function givenBackOf(
  sql: Executor,
  subscriptionId: string,
  now: number,
): Promise<readonly GivenBack[]> {
  const all = await listGivenBack(sql, subscriptionId, new Date(now));
  return all.map(({ invoiceId, start, end, ...back }) => ({
    invoiceId,
    amount: ofTime(back),
    start: start.getTime(),
    end: end.getTime(),
  }));
}
