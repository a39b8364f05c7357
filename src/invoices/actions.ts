// What a merchant or a buyer does with an invoice: pay it now with the customer's saved method, or
// void it.
import { must } from '../../ledger/kernel/assert.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import { countAttempts, lockInvoice, voidInvoice } from './changes.ts';
import { refusalOf } from './transitions.ts';
import { amountDue, type Changed, findInvoice, type InvoiceRecord } from '../records/invoices.ts';
import { findPaymentMethod } from '../records/payment-methods.ts';
import {
  findPaymentOf,
  hasFailed,
  insertPayments,
  newPayment,
  type PaymentRecord,
} from '../records/payments.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { tellSubscriptions } from '../records/subscription-followups.ts';
import type { SubscriptionsDeps } from '../subscriptions/deps.ts';
import type { PayReply } from '../subscriptions/subscriptions.ts';

export async function payInvoice(
  deps: SubscriptionsDeps,
  scope: Tenant,
  id: string,
): Promise<PayReply> {
  const { sql, ledger, billing } = deps;
  const invoice = await findInvoice(sql, scope, id);
  if (invoice === null) return { kind: 'not_found' };
  if (invoice.status === 'paid') return { kind: 'paid', invoice };
  if (!isPayable(invoice)) return { kind: 'invalid_state', invoice };
  const before = await findPaymentOf(sql, scope, id);
  const { subscriptionId, customerId } = invoice;
  const collect = { kind: 'collect', invoiceId: id, amount: amountDue(invoice) } as const;
  const told =
    subscriptionId === null || customerId === null
      ? null
      : (await ledger.subscriptions.command(customerId, subscriptionId, collect)).kind;
  // Also for a subscription that has ended: its end may have made this invoice void.
  if (subscriptionId !== null) await billing.carryOut(subscriptionId);
  if (told === 'invalid_state') return { kind: 'being_replaced' };
  if (told !== 'done') {
    const paymentId = await sql.begin((transaction) => begin(transaction, deps, { scope, id }));
    if (paymentId !== null) await deps.collect(paymentId);
  }
  return replyOf(deps, scope, { id, before });
}

export async function makeInvoiceVoid(
  { sql, ids, orgClock, billing }: SubscriptionsDeps,
  scope: Tenant,
  id: string,
): Promise<Changed | 'not_found'> {
  const now = orgClock.now(scope);
  const { changed, told } = await sql.begin(async (transaction) => {
    const voided = await voidInvoice(transaction, scope, { id, eventId: ids.next(), now });
    if (voided === 'not_found' || voided.kind !== 'done') return { changed: voided, told: [] };
    const { customerId, subscriptionId } = voided.invoice;
    if (customerId === null || subscriptionId === null) return { changed: voided, told: [] };
    const closed = { invoiceId: voided.invoice.id, how: 'void', paymentId: null } as const;
    const news = { kind: 'close_invoice', ...closed } as const;
    const whose = { customerId, subscriptionId };
    return {
      changed: voided,
      told: await tellSubscriptions(transaction, whose, { news, ids, now }),
    };
  });
  await Promise.all(told.map((one) => billing.carryOut(one)));
  return changed;
}

/**
 * For an invoice that no subscription collects: the id of the charge that begins now, or of the one
 * under way; null where there is nothing to charge.
 */
async function begin(
  sql: Transaction,
  { ids, orgClock, processors }: SubscriptionsDeps,
  { scope, id }: { readonly scope: Tenant; readonly id: string },
): Promise<string | null> {
  const invoice = must(await lockInvoice(sql, scope, id), 'an invoice that was found');
  const { customerId, subscriptionId } = invoice;
  const last = await findPaymentOf(sql, scope, id);
  const isLive = last !== null && !hasFailed(last);
  if (isLive) return last.id;
  if (customerId === null) return null;
  if (refusalOf('pay', invoice, { isLive }) !== null) return null;
  const method = await findPaymentMethod(sql, scope, { customerId, subscriptionId });
  if (method === null) return null;
  const processor = processors.named(scope, method.processor);
  if (processor === null) return null;
  const attempt = (last?.attempt ?? 0) + 1;
  // Not an id that a subscription derives: it counts its own attempts.
  const paymentId = ids.derive('invoice-payment', id, String(attempt));
  const now = orgClock.now(scope);
  const payment = newPayment({
    id: paymentId,
    amount: amountDue(invoice),
    currency: invoice.currency,
    transactionType: 'PURCHASE',
    invoiceId: id,
    customerId,
    customerEmail: invoice.buyer.email,
    customerName: invoice.buyer.name,
    ...invoice.echo,
    attempt,
    processor: processor.name,
    askAt: now + processor.firstAskMs,
    now,
  });
  await insertPayments(sql, [{ scope, payment }]);
  await countAttempts(sql, [id]);
  return paymentId;
}

/**
 * The reply follows from the payment itself. A payment that had failed `before` says nothing of
 * this try: no charge was made.
 */
async function replyOf(
  { sql }: SubscriptionsDeps,
  scope: Tenant,
  { id, before }: { readonly id: string; readonly before: PaymentRecord | null },
): Promise<PayReply> {
  const invoice: InvoiceRecord = must(await findInvoice(sql, scope, id), 'an invoice');
  if (invoice.status === 'paid') return { kind: 'paid', invoice };
  if (!isPayable(invoice)) return { kind: 'invalid_state', invoice };
  const last = await findPaymentOf(sql, scope, id);
  // A payment that has succeeded counts before the invoice has heard of it.
  if (last !== null && !hasFailed(last)) return { kind: 'pending', invoice };
  const failure = last?.id === before?.id ? null : last?.failureMessage;
  return { kind: 'payment_failed', message: failure ?? 'there is no payment method to charge' };
}

function isPayable(invoice: InvoiceRecord): boolean {
  return refusalOf('pay', invoice, { isLive: false }) === null;
}
