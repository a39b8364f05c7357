import { type Static, Type } from '@sinclair/typebox';
import { formatMoney } from '../../../ledger/money.ts';
import {
  amountDue,
  BILLING_REASONS,
  INVOICE_STATUSES,
  type InvoiceRecord,
  LINE_TYPES,
} from '../../records/invoices.ts';
import { Amount, Currency } from './money.ts';
import { Nullable, Timestamp, Uuid } from './values.ts';

export const InvoiceStatus = Type.Union(
  INVOICE_STATUSES.map((status) => Type.Literal(status)),
  { error: `must be one of ${INVOICE_STATUSES.join(', ')}` },
);

/** Of a line: what is given back is negative. */
const LineAmount = Type.String({
  pattern: '^-?\\d{1,18}(\\.\\d{1,4})?$',
  description: 'A decimal with the decimals of the currency; negative where it is given back.',
});

const InvoiceLine = Type.Object({
  id: Type.String(),
  type: Type.Union(LINE_TYPES.map((type) => Type.Literal(type))),
  description: Type.String(),
  quantity: Type.Integer(),
  unit_amount: LineAmount,
  amount: LineAmount,
  period: Nullable(Type.Object({ start: Timestamp, end: Timestamp })),
});

export const Invoice = Type.Object({
  id: Uuid,
  number: Nullable(
    Type.String({ description: 'As `INV-2026-000123`; null until it is finalised.' }),
  ),
  status: InvoiceStatus,
  currency: Currency,
  subtotal: Amount,
  discount_total: Amount,
  tax_total: Amount,
  total: Amount,
  amount_paid: Amount,
  amount_due: Amount,
  amount_refunded: Amount,
  billing_reason: Type.Union(BILLING_REASONS.map((reason) => Type.Literal(reason))),
  customer_id: Nullable(Uuid),
  subscription_id: Nullable(Uuid),
  payment_id: Nullable(Uuid),
  period_start: Nullable(Timestamp),
  period_end: Nullable(Timestamp),
  issued_at: Nullable(Timestamp),
  due_at: Nullable(Timestamp),
  paid_at: Nullable(Timestamp),
  attempts: Type.Integer({ description: 'How often it was tried to collect it.' }),
  lines: Type.Array(InvoiceLine),
  hosted_url: Type.String({ format: 'uri', description: 'The document to print.' }),
});

export function fromInvoice(invoice: InvoiceRecord, appUrl: string): Static<typeof Invoice> {
  const money = (amount: bigint): string => formatMoney(amount, invoice.currency);
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status,
    currency: invoice.currency,
    subtotal: money(invoice.subtotal),
    discount_total: money(invoice.discountTotal),
    tax_total: money(invoice.taxTotal),
    total: money(invoice.total),
    amount_paid: money(invoice.amountPaid),
    amount_due: money(amountDue(invoice)),
    amount_refunded: money(invoice.amountRefunded),
    billing_reason: invoice.billingReason,
    customer_id: invoice.customerId,
    subscription_id: invoice.subscriptionId,
    payment_id: invoice.paymentId,
    period_start: invoice.periodStart?.toISOString() ?? null,
    period_end: invoice.periodEnd?.toISOString() ?? null,
    issued_at: invoice.issuedAt?.toISOString() ?? null,
    due_at: invoice.dueAt?.toISOString() ?? null,
    paid_at: invoice.paidAt?.toISOString() ?? null,
    attempts: invoice.attempts,
    lines: invoice.lines.map(({ unitAmount, amount, period, ...line }) => ({
      ...line,
      unit_amount: money(unitAmount),
      amount: money(amount),
      period: period && { start: period.start.toISOString(), end: period.end.toISOString() },
    })),
    hosted_url: `${appUrl}/api/invoices/${invoice.id}/pdf`,
  };
}
