// The invoice of an automatic top-up. It is issued with the payment, so it is paid from the start:
// a charge that is declined leaves none.
import { must } from '../../ledger/kernel/assert.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import type { PaymentRecord } from '../records/payments.ts';
import { findProduct } from '../records/products.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Issuance } from './issue.ts';

/** What is to be issued for a payment. */
export async function topUpInvoice(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly payment: PaymentRecord;
    readonly eventId: string;
    readonly now: number;
  },
): Promise<Issuance> {
  const { payment, eventId, now } = options;
  const productId = must(payment.productId, 'what was bought');
  const product = must(await findProduct(sql, scope, productId), 'the product of a top-up');
  const paidAt = must(payment.paidAt, 'when it was paid');
  const invoice = {
    id: must(payment.invoiceId, 'the invoice of a captured payment'),
    currency: payment.currency,
    discountTotal: 0n,
    billingReason: 'auto_topup',
    customerId: payment.customerId,
    subscriptionId: null,
    checkoutId: null,
    paymentId: payment.id,
    periodStart: null,
    periodEnd: null,
    dueAt: paidAt,
    buyer: {
      name: payment.customerName,
      email: payment.customerEmail,
      externalCustomerId: payment.externalCustomerId,
    },
    lines: [
      {
        type: 'fixed',
        description: product.name,
        quantity: 1,
        unitAmount: payment.amount,
        period: null,
      },
    ],
  } as const;
  return { scope, invoice, paidAt, eventId, now };
}
