// What became of an action whose call was cut off, and comes again with its key: the answer that
// the first attempt would have given. A retry charges nothing anew.
import { must, unreachable } from '../../ledger/kernel/assert.ts';
import { invoiceOfRequest } from '../../ledger/subscriptions/invoice-ids.ts';
import { isTrial } from '../../ledger/subscriptions/subscription.ts';
import { findInvoice } from '../records/invoices.ts';
import { findPaymentOf, hasFailed } from '../records/payments.ts';
import { findSubscription, type SubscriptionRecord } from '../records/subscriptions.ts';
import type { SubscriptionsDeps } from './deps.ts';
import type {
  Keyed,
  SubscriptionAction,
  SubscriptionActionReply,
  Target,
} from './subscriptions.ts';

/** null: the first attempt has done nothing, or the action may be repeated. */
export async function doneBefore(
  deps: SubscriptionsDeps,
  { scope, id }: Target,
  { wanted, keyed }: { readonly wanted: SubscriptionAction; readonly keyed: Keyed },
): Promise<SubscriptionActionReply | null> {
  const record = await findSubscription(deps.sql, scope, id);
  if (record === null) return null;
  const { subscription } = record;
  switch (wanted.kind) {
    case 'change':
    case 'resume':
      return billedBefore(deps, record, keyed.requestId);
    // Another attempt would be refused, because it is so already.
    case 'end_trial':
      return isTrial(subscription) ? null : { kind: 'done', record };
    case 'unschedule':
      return subscription.waiting === null ? { kind: 'done', record } : null;
    // These may be repeated.
    case 'cancel':
    case 'uncancel':
    case 'pause':
      return null;
    default:
      return unreachable(wanted);
  }
}

/** By the invoice that the first attempt made, and its payment. */
async function billedBefore(
  { sql, ids, billing, collect }: SubscriptionsDeps,
  { organisationId, mode, subscription: { id } }: SubscriptionRecord,
  requestId: string,
): Promise<SubscriptionActionReply | null> {
  const scope = { organisationId, mode };
  const invoiceId = invoiceOfRequest(ids, id, requestId);
  // It may have been decided, and not be an invoice yet.
  await billing.carryOut(id);
  if ((await findInvoice(sql, scope, invoiceId)) === null) return null;
  const begun = await findSubscription(sql, scope, id);
  const { waiting } = must(begun, 'a subscription that was found').subscription;
  if (waiting?.invoiceId === invoiceId) {
    if ((await findPaymentOf(sql, scope, invoiceId)) !== null) await collect(waiting.paymentId);
    await billing.carryOut(id);
  }
  const invoice = must(await findInvoice(sql, scope, invoiceId), 'an invoice that was found');
  const payment = await findPaymentOf(sql, scope, invoiceId);
  // Without a payment method there is no payment, and the invoice is void.
  const isRefused = payment === null ? invoice.status === 'void' : hasFailed(payment);
  if (isRefused) {
    const message = payment?.failureMessage ?? 'there is no payment method to charge';
    return { kind: 'payment_failed', message };
  }
  const record = must(await findSubscription(sql, scope, id), 'a subscription that was found');
  const isUndecided = record.subscription.waiting?.invoiceId === invoiceId;
  return { kind: 'done', record, isUndecided };
}
