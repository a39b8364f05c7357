// Mails to buyers about payments: a receipt, a refund, a failed charge of a subscription. Written
// in the transaction of the follow-up.
import { must } from '../../ledger/kernel/assert.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import type { Followup } from '../records/followups.ts';
import { type InvoiceMail, oweDunningMail, oweInvoiceMails } from '../records/mails.ts';

export async function oweMails(
  sql: Transaction,
  followups: readonly Followup[],
  ids: Ids,
): Promise<void> {
  await oweInvoiceMails(
    sql,
    followups.flatMap((followup) => invoiceMailOf(followup, ids)),
  );
  for (const { kind, paymentId, paidAt, checkoutId, subscriptionId, invoiceId } of followups) {
    // At a checkout, the page shows the result.
    if (kind !== 'payment_settled' || paidAt !== null || checkoutId !== null) continue;
    if (subscriptionId === null || invoiceId === null) continue;
    const id = ids.derive('mail', 'charge_failed', paymentId);
    await oweDunningMail(sql, { id, kind: 'charge_failed', subscriptionId, invoiceId });
  }
}

function invoiceMailOf(
  { kind, invoiceId, paidAt, paymentId, data }: Followup,
  ids: Ids,
): InvoiceMail[] {
  if (invoiceId === null) return [];
  if (kind === 'payment_settled') {
    if (paidAt === null) return [];
    return [{ id: ids.derive('mail', 'receipt', paymentId), invoiceId, kind: 'receipt' }];
  }
  // Of a dispute the buyer's bank tells.
  if (kind === 'dispute_settled') return [];
  const refundId = must(data.refundId, 'a refund');
  const amount = BigInt(must(data.delta, 'an amount'));
  // A refund that failed after its mail was sent: the merchant handles that.
  if (amount <= 0n) return [];
  return [{ id: ids.derive('mail', 'refund', refundId), invoiceId, kind: 'refund', amount }];
}
