// The invoice of a checkout that was paid: what was bought, by whom, for how much. Issued with the payment, so it is paid from the start.
import type { Transaction } from '../platform/postgres.ts';
import type { CheckoutRecord } from '../records/checkouts.ts';
import { issueInvoices } from '../records/invoice-issue.ts';
import { must } from '../../ledger/assert.ts';
import type { PaymentRecord } from '../records/payments.ts';
import { findProduct } from '../records/products.ts';
import type { Scope } from '../records/scope.ts';

export async function invoicePayment(
  sql: Transaction,
  scope: Scope,
  options: {
    readonly payment: PaymentRecord;
    readonly checkout: CheckoutRecord;
    readonly eventId: string;
    readonly now: number;
  },
): Promise<void> {
  const { payment, checkout, eventId, now } = options;
  const product = must(await findProduct(sql, scope, checkout.productId), 'what was bought');
  const isSignup = payment.subscriptionId !== null;
  const invoice = {
    id: must(payment.invoiceId, 'the invoice of a captured payment'),
    currency: payment.currency,
    discountTotal: checkout.subtotal - checkout.amount,
    customerId: payment.customerId,
    subscriptionId: payment.subscriptionId,
    checkoutId: checkout.id,
    paymentId: payment.id,
    periodStart: null,
    periodEnd: null,
    dueAt: payment.paidAt,
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
        period: null,
      },
    ],
  } as const;
  await issueInvoices(sql, [{ scope, invoice, paidAt: payment.paidAt, eventId, now }]);
}
