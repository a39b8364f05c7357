import type { Table } from './resource.ts';

export const payments = {
  /** List payments, newest first. */
  list: 'listPayments',
  /** Get a payment. */
  retrieve: 'getPayment',
  /** Refund a payment, in full or in part. */
  refund: 'refundPayment',
  /** List a payment's refunds, newest first. */
  listRefunds: 'listRefunds',
} as const satisfies Table;

export const refunds = {
  /** Get a refund. */
  retrieve: 'getRefund',
} as const satisfies Table;
