// Invoices as payments issue them.
import { ids } from '../../../src/platform/ids.ts';
import type { Sql } from '../../../src/platform/postgres.ts';
import {
  type InvoiceRecord,
  issueInvoice,
  type NewInvoice,
  recordInvoiceRefunds,
} from '../../../src/records/invoices.ts';
import type { Scope } from '../../../src/records/scope.ts';

export const NOW = Date.UTC(2026, 10, 21, 9, 30, 15, 250);

/** One of two parts at 12.50 USD each less 5.00, paid, unless `fields` say otherwise. */
export function newInvoice(fields: Partial<NewInvoice> = {}): NewInvoice {
  return {
    id: ids.next(),
    currency: 'USD',
    lines: [{ id: ids.next(), type: 'fixed', description: 'Lamp', quantity: 2, unitAmount: 1250n }],
    discountTotal: 500n,
    billingReason: 'purchase',
    customerId: null,
    subscriptionId: null,
    checkoutId: null,
    paymentId: ids.next(),
    periodStart: null,
    periodEnd: null,
    dueAt: null,
    paidAt: new Date(NOW - 1000),
    buyer: { name: 'Ada', email: 'ada@example.com', externalCustomerId: 'u_1' },
    ...fields,
  };
}

export async function issue(
  sql: Sql,
  scope: Scope,
  fields: Partial<NewInvoice> & { readonly now?: number } = {},
): Promise<InvoiceRecord> {
  const { now = NOW, ...rest } = fields;
  const issuance = { invoice: newInvoice(rest), eventId: ids.next(), now };
  return sql.begin((transaction) => issueInvoice(transaction, scope, issuance));
}

export async function refund(
  sql: Sql,
  invoiceId: string,
  amountDelta: bigint,
  { refundId = ids.next(), now = NOW }: { readonly refundId?: string; readonly now?: number } = {},
): Promise<void> {
  const made = { invoiceId, refundId, amountDelta, eventId: ids.next() };
  await sql.begin((transaction) => recordInvoiceRefunds(transaction, [made], now));
}
