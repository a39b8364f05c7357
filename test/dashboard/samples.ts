// Objects as the API answers them, for pages that are drawn without a service. What a test is about
// it gives itself.
import type { Payment, Refund } from '../../src/client/types.ts';

export const HOSTILE = `"><script>alert(1)</script>'&`;

const AT = '2026-01-15T12:00:00.000Z';

export function paymentOf(of: Partial<Payment> = {}): Payment {
  return {
    id: 'payment-1',
    status: 'succeeded',
    amount: '12.50',
    currency: 'USD',
    amountRefunded: '0.00',
    amountRefundPending: '0.00',
    refundableAmount: '12.50',
    transactionType: 'PURCHASE',
    paymentMethod: { type: 'card', brand: 'visa', last4: '4242' },
    checkoutId: 'checkout-1',
    subscriptionId: null,
    invoiceId: 'invoice-1',
    customerId: 'customer-1',
    customerEmail: 'ada@example.com',
    externalCustomerId: null,
    clientReferenceId: null,
    metadata: {},
    productId: 'product-1',
    failureCode: null,
    failureMessage: null,
    createdAt: AT,
    paidAt: AT,
    ...of,
  };
}

export function refundOf(of: Partial<Refund> = {}): Refund {
  return {
    id: 'refund-1',
    paymentId: 'payment-1',
    amount: '5.00',
    currency: 'USD',
    status: 'pending',
    reason: 'requested_by_customer',
    failureReason: null,
    createdAt: AT,
    settledAt: null,
    ...of,
  };
}
