// What a merchant or a buyer does with an invoice: pay it now with the customer's saved method, or
// void it.
import { must } from '../../ledger/kernel/assert.ts';
import { LedgerUnavailable } from '../../ledger/ports.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import { countAttempts, lockInvoice, voidInvoice } from './changes.ts';
import { refusalOf } from './transitions.ts';
import { amountDue, type Changed, findInvoice, type InvoiceRecord } from '../records/invoices.ts';
import { findPaymentMethod } from '../records/payment-methods.ts';
import {
  findPaymentAfter,
  findPaymentOf,
  hasFailed,
  insertPayments,
  newPayment,
  type PaymentRecord,
} from '../records/payments.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { tellSubscriptions } from '../records/subscription-followups.ts';
import type { SubscriptionsDeps } from '../subscriptions/deps.ts';
import type { PayReply, Subscriptions } from '../subscriptions/subscriptions.ts';

/** `due`: what time asks of a subscription is done before what a merchant asks. */
type PayDeps = SubscriptionsDeps & Pick<Subscriptions, 'due'>;

export async function payInvoice(
  deps: PayDeps,
  scope: Tenant,
  { id, failedBefore }: { readonly id: string; readonly failedBefore: number | null },
): Promise<PayReply> {
  const { sql } = deps;
  const invoice = await findInvoice(sql, scope, id);
  if (invoice === null) return { kind: 'not_found' };
  if (invoice.status === 'paid') return { kind: 'paid', invoice };
  if (failedBefore !== null) {
    // The first attempt's own payment: where it has failed, a retry charges nothing.
    const its = await findPaymentAfter(sql, scope, { invoiceId: id, attempt: failedBefore });
    if (its !== null && hasFailed(its)) return failedReply(its);
  }
  if (!isPayable(invoice)) return { kind: 'invalid_state', invoice };
  const before = await findPaymentOf(sql, scope, id);
  const { subscriptionId, customerId } = invoice;
  if (subscriptionId === null) {
    const paymentId = await sql.begin((transaction) => begin(transaction, deps, { scope, id }));
    if (paymentId !== null) await deps.collect(paymentId);
    return replyOf(deps, scope, { id, before });
  }
  const owner = { customerId: must(customerId, 'who is subscribed'), subscriptionId };
  const collected = await collect(deps, scope, { ...owner, id });
  if (collected === 'being_replaced') return { kind: 'being_replaced' };
  return replyOf(deps, scope, { id, before });
}

/** Time may go on while what is due is done: a test clock is moved in steps. */
const DUE_TURNS_MAX = 100;

/** Its subscription charges it, also one that has ended. */
async function collect(
  { ledger, billing, due }: PayDeps,
  scope: Tenant,
  {
    customerId,
    subscriptionId,
    id,
  }: { readonly customerId: string; readonly subscriptionId: string; readonly id: string },
): Promise<'ordered' | 'being_replaced' | 'not_chargeable'> {
  // It may have ended, and its end have made this invoice void.
  await billing.carryOut(subscriptionId);
  for (let turn = 0; turn < DUE_TURNS_MAX; turn += 1) {
    const collected = await ledger.subscriptions.collect(customerId, subscriptionId, id);
    if (collected !== 'due_first') {
      await billing.carryOut(subscriptionId);
      return collected;
    }
    await due(scope, { customerId, id: subscriptionId });
  }
  throw new LedgerUnavailable('due work of the subscription arrives faster than it is done');
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
 * For an invoice of no subscription: the id of the charge that begins now, or of the one under way;
 * null where there is nothing to charge.
 */
async function begin(
  sql: Transaction,
  { ids, orgClock, processors }: SubscriptionsDeps,
  { scope, id }: { readonly scope: Tenant; readonly id: string },
): Promise<string | null> {
  const invoice = must(await lockInvoice(sql, scope, id), 'an invoice that was found');
  const { customerId } = invoice;
  const last = await findPaymentOf(sql, scope, id);
  const isLive = last !== null && !hasFailed(last);
  if (isLive) return last.id;
  if (customerId === null) return null;
  if (refusalOf('pay', invoice, { isLive }) !== null) return null;
  const method = await findPaymentMethod(sql, scope, { customerId, subscriptionId: null });
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
  const isOld = before !== null && hasFailed(before) && last?.id === before.id;
  return failedReply(isOld ? null : last);
}

/** null: no payment was made. */
function failedReply(payment: PaymentRecord | null): PayReply {
  const message = payment?.failureMessage ?? 'there is no payment method to charge';
  return { kind: 'payment_failed', message };
}

function isPayable(invoice: InvoiceRecord): boolean {
  return refusalOf('pay', invoice, { isLive: false }) === null;
}
