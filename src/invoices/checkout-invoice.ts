// The invoice of a paid checkout: what was bought, by whom, for how much. It is issued with the
// payment, so it is paid from the start.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import { boundary } from '../../ledger/kernel/calendar.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import type { CheckoutRecord } from '../records/checkouts.ts';
import type { Issuance } from './issue.ts';
import { must } from '../../ledger/kernel/assert.ts';
import type { InvoiceLine } from '../records/invoices.ts';
import { billingPolicyOf } from '../records/organisations.ts';
import type { PaymentRecord } from '../records/payments.ts';
import { findProduct, type PriceRecord } from '../records/products.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/** What is to be issued for a payment. */
export async function checkoutInvoice(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly payment: PaymentRecord;
    readonly checkout: CheckoutRecord;
    readonly eventId: string;
    readonly now: number;
  },
): Promise<Issuance> {
  const { payment, checkout, eventId, now } = options;
  const product = must(await findProduct(sql, scope, checkout.productId), 'what was bought');
  const isSignup = payment.subscriptionId !== null;
  const paidAt = must(payment.paidAt, 'when it was paid');
  const price = product.prices.find(({ id }) => id === checkout.priceId);
  const period = isSignup
    ? firstPeriod(must(price, 'the price that was paid'), {
        start: paidAt,
        zone: (await billingPolicyOf(sql, scope)).zone,
      })
    : null;
  const invoice = {
    id: must(payment.invoiceId, 'the invoice of a captured payment'),
    currency: payment.currency,
    // What the merchant did not capture of it is let go as well.
    discountTotal: checkout.subtotal - payment.captured,
    customerId: payment.customerId,
    subscriptionId: payment.subscriptionId,
    checkoutId: checkout.id,
    paymentId: payment.id,
    periodStart: period?.start ?? null,
    periodEnd: period?.end ?? null,
    dueAt: paidAt,
    buyer: {
      name: payment.customerName,
      email: payment.customerEmail,
      externalCustomerId: payment.externalCustomerId,
    },
    billingReason: isSignup ? 'subscription_create' : 'purchase',
    lines: [
      {
        type: isSignup ? 'recurring' : 'fixed',
        description: product.name,
        quantity: 1,
        unitAmount: checkout.subtotal,
        period,
      },
    ],
  } as const;
  return { scope, invoice, paidAt, eventId, now };
}

/** What was paid for: the trial, where there is one. */
function firstPeriod(
  { interval, intervalCount, trialDays }: PriceRecord,
  { start, zone }: { readonly start: Date; readonly zone: string },
): NonNullable<InvoiceLine['period']> {
  const anchor = start.getTime();
  if (trialDays !== null && trialDays > 0)
    return { start, end: new Date(anchor + trialDays * DAY_MS) };
  const count = must(intervalCount, 'the count of a recurring price');
  const cycle = { anchor, interval: must(interval, 'the interval of one'), count, zone };
  return { start, end: new Date(boundary(cycle, 1)) };
}
