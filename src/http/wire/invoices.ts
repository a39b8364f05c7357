import { type Static, Type } from '@sinclair/typebox';
import { AMOUNT_DIGITS_MAX, formatMoney, isAmount } from '../../../ledger/kernel/money.ts';
import { INVOICE_LINES_MAX } from '../../platform/answer-bounds.ts';
import type { CustomerRecord } from '../../records/customers.ts';
import type { NewInvoice, NewPlainLine, NewUsageLine } from '../../invoices/issue.ts';
import {
  amountDue,
  BILLING_REASONS,
  INVOICE_STATUSES,
  type InvoiceLine as InvoiceLineRecord,
  type InvoiceRecord,
  PLAIN_LINE_TYPES,
  USAGE_LINE_TYPES,
} from '../../records/invoices.ts';
import type { UpcomingRecord } from '../../subscriptions/upcoming.ts';
import type { Issue } from '../edge/errors.ts';
import { namingIssue } from '../named-customer.ts';
import { Amount, Currency, moneyOf, Total } from './money.ts';
import { timeOf } from './usage.ts';
import {
  Body,
  ExternalCustomerId,
  Nullable,
  Timestamp,
  Uuid,
  namedOneOf,
  oneOf,
} from './values.ts';

const LINES_MAX = INVOICE_LINES_MAX;

export const InvoiceLineCreate = Body({
  description: Type.String({ minLength: 1, maxLength: 500 }),
  quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
  unit_amount: Amount,
});

export const InvoiceCreate = Body(
  {
    customer_id: Type.Optional(Uuid),
    external_customer_id: Type.Optional(ExternalCustomerId),
    currency: Currency,
    lines: Type.Array(InvoiceLineCreate, {
      minItems: 1,
      maxItems: LINES_MAX,
      error: `must be a list of 1 to ${LINES_MAX} lines`,
    }),
    due_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'ISO 8601, with Z or an offset. In the future. Default: when it is issued.',
      }),
    ),
    draft: Type.Optional(
      Type.Boolean({ default: false, description: 'Create a draft, without a number.' }),
    ),
  },
  {
    external_customer_id: 'user-1',
    currency: 'EUR',
    lines: [{ description: 'Onboarding', quantity: 2, unit_amount: '150.00' }],
  },
);

export const InvoiceStatus = namedOneOf(INVOICE_STATUSES);

/** The amount of a line: a credit is negative. */
const LineAmount = Type.String({
  pattern: '^-?\\d{1,18}(\\.\\d{1,4})?$',
  description: 'A decimal with the decimals of the currency; negative if it is credited.',
});

export const PlainInvoiceLineType = oneOf(PLAIN_LINE_TYPES);
export const UsageInvoiceLineType = oneOf(USAGE_LINE_TYPES);

export const Period = Type.Object({ start: Timestamp, end: Timestamp });

const PLAIN_LINE = {
  type: PlainInvoiceLineType,
  description: Type.String(),
  quantity: Type.Integer(),
  unit_amount: LineAmount,
  amount: LineAmount,
  period: Nullable(Period),
};
export const PlainInvoiceLine = Type.Object({ id: Type.String(), ...PLAIN_LINE });

/** The sums of a line may have more digits than one amount: 15 of the quantity, 12 of the unit. */
const EXACT = '^\\d{1,30}(\\.\\d{1,21})?$';
const UnitAmount = Type.String({
  pattern: EXACT,
  description: 'A decimal, with the decimals of the currency or more, up to 12.',
});
const ExactAmount = Type.String({
  pattern: EXACT,
  description: 'A decimal, not rounded: with the decimals of the currency or more, up to 21.',
});

export const UsageInvoiceLineTier = Type.Object(
  {
    quantity: Type.Number({ description: 'The billable units in this tier.' }),
    unit_amount: Nullable(UnitAmount),
    flat_amount: Nullable(Total),
    amount: ExactAmount,
  },
  {
    description:
      'A price without tiers has one. For packages `flat_amount` is that of one package, and ' +
      '`unit_amount` is null.',
  },
);

const USAGE_LINE = {
  type: UsageInvoiceLineType,
  description: Type.String(),
  feature_key: Type.String(),
  quantity: Type.Number({
    description: 'Units beyond the allowance; for an adjustment, their signed change.',
  }),
  amount: LineAmount,
  usage_price_id: Uuid,
  tiers: Type.Array(UsageInvoiceLineTier, {
    description:
      'The parts of the amount before minimum, maximum and rounding, including what was ' +
      'billed before.',
  }),
  period: Period,
};
const USAGE_LINE_MEANING = {
  description:
    '`usage`: usage beyond the allowance in the period; for a period that was billed in part, ' +
    'the additional cost. `usage_adjustment`: its cost now, after late events and ' +
    'corrections, less what was billed before.',
};
export const UsageInvoiceLine = Type.Object(
  { id: Type.String(), ...USAGE_LINE },
  USAGE_LINE_MEANING,
);

export const InvoiceLine = Type.Union([PlainInvoiceLine, UsageInvoiceLine], {
  discriminator: 'type',
});

export const UpcomingPlainLine = Type.Object(PLAIN_LINE);
export const UpcomingUsageLine = Type.Object(USAGE_LINE, USAGE_LINE_MEANING);
export const UpcomingInvoiceLine = Type.Union([UpcomingPlainLine, UpcomingUsageLine], {
  discriminator: 'type',
});

/** What an invoice that is not made would say. */
export const BILLED = {
  currency: Currency,
  lines: Type.Array(UpcomingInvoiceLine, {
    description: 'As the lines of an invoice, without ids. Empty if nothing would be billed.',
  }),
  subtotal: Total,
  discount_total: Total,
  tax_total: Total,
  total: Total,
};

export const UpcomingInvoice = Type.Object({
  ...BILLED,
  period_end: Type.String({
    ...Timestamp,
    description: 'When it will be billed if nothing changes.',
  }),
  as_of: Type.String({
    ...Timestamp,
    description: 'The time until which recorded usage is included.',
  }),
});

export const BillingReason = oneOf(BILLING_REASONS);

export const Invoice = Type.Object({
  id: Uuid,
  number: Nullable(
    Type.String({ description: 'Such as `INV-2026-000123`; null until it is finalized.' }),
  ),
  status: InvoiceStatus,
  currency: Currency,
  subtotal: Total,
  discount_total: Total,
  tax_total: Total,
  total: Total,
  amount_paid: Total,
  amount_due: Total,
  amount_refunded: Total,
  amount_charged_back: Type.Optional(
    Type.String({
      ...Total,
      description: 'What lost disputes took. Absent without one. The invoice stays `paid`.',
    }),
  ),
  billing_reason: BillingReason,
  customer_id: Nullable(Uuid),
  subscription_id: Nullable(Uuid),
  payment_id: Nullable(Uuid),
  period_start: Nullable(Timestamp),
  period_end: Nullable(Timestamp),
  issued_at: Nullable(Timestamp),
  due_at: Nullable(Timestamp),
  paid_at: Nullable(Timestamp),
  attempts: Type.Integer({ description: 'The number of attempts to charge it.' }),
  lines: Type.Array(InvoiceLine, { description: `The first ${INVOICE_LINES_MAX}.` }),
  lines_has_more: Type.Boolean({
    description: 'Whether there are more lines: `GET /invoices/{id}/lines` lists them all.',
  }),
  hosted_url: Type.String({ format: 'uri', description: 'The URL of the document to print.' }),
});

/** The part of a bill that does not depend on the customer. */
type Bill = Pick<NewInvoice, 'currency' | 'dueAt'> & { readonly lines: readonly NewPlainLine[] };

export function toBill(
  body: Static<typeof InvoiceCreate>,
): Bill | { readonly issues: readonly Issue[] } {
  const { currency, due_at: due } = body;
  const issues: Issue[] = [];
  const naming = namingIssue(body);
  if (naming !== null) issues.push(naming);
  const lines: NewPlainLine[] = [];
  for (const [index, { description, quantity = 1, unit_amount: amount }] of body.lines.entries()) {
    const unitAmount = moneyOf(amount, currency, ['lines', String(index), 'unit_amount']);
    if (typeof unitAmount !== 'bigint') issues.push(unitAmount);
    else lines.push({ type: 'fixed', description, quantity, unitAmount, period: null });
  }
  const total = lines.reduce((sum, line) => sum + line.unitAmount * BigInt(line.quantity), 0n);
  if (!isAmount(total, currency)) {
    const message = `must add up to at most ${AMOUNT_DIGITS_MAX} digits before the decimals`;
    issues.push({ path: ['lines'], message });
  }
  const dueAt = due === undefined ? null : timeOf(due);
  if (due !== undefined && dueAt === null) {
    issues.push({ path: ['due_at'], message: 'must be an ISO 8601 time with a zone' });
  }
  if (issues.length > 0) return { issues };
  return { currency, lines, dueAt: dueAt === null ? null : new Date(dueAt) };
}

/** An invoice to a customer that no subscription or checkout stands behind. */
export function toNewInvoice(id: string, bill: Bill, customer: CustomerRecord): NewInvoice {
  const { name, email, externalCustomerId } = customer;
  return {
    id,
    ...bill,
    discountTotal: 0n,
    billingReason: 'manual',
    customerId: customer.id,
    subscriptionId: null,
    checkoutId: null,
    paymentId: null,
    periodStart: null,
    periodEnd: null,
    buyer: { name, email, externalCustomerId },
  };
}

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
    ...(invoice.amountChargedBack === 0n
      ? {}
      : { amount_charged_back: money(invoice.amountChargedBack) }),
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
    lines: invoice.lines.map((line) => fromLine(line, invoice.currency)),
    lines_has_more: invoice.lineCount > invoice.lines.length,
    hosted_url: `${appUrl}/api/invoices/${invoice.id}/pdf`,
  };
}

export function fromUpcoming(upcoming: UpcomingRecord): Static<typeof UpcomingInvoice> {
  return {
    ...fromBilled(upcoming),
    period_end: upcoming.periodEnd.toISOString(),
    as_of: upcoming.asOf.toISOString(),
  };
}

export function fromBilled({
  currency,
  lines,
  discountTotal,
  total,
}: Pick<UpcomingRecord, 'currency' | 'lines' | 'discountTotal' | 'total'>) {
  return {
    currency,
    lines: lines.map((line) =>
      'unitAmount' in line ? fromPlainLine(line, currency) : fromUsageLine(line, currency),
    ),
    subtotal: formatMoney(total + discountTotal, currency),
    discount_total: formatMoney(discountTotal, currency),
    tax_total: formatMoney(0n, currency),
    total: formatMoney(total, currency),
  };
}

export function fromLine(line: InvoiceLineRecord, currency: string): Static<typeof InvoiceLine> {
  const { id } = line;
  return 'unitAmount' in line
    ? { id, ...fromPlainLine(line, currency) }
    : { id, ...fromUsageLine(line, currency) };
}

function fromPlainLine(line: NewPlainLine, currency: string): Static<typeof UpcomingPlainLine> {
  const { type, description, quantity, unitAmount, period } = line;
  return {
    type,
    description,
    quantity,
    unit_amount: formatMoney(unitAmount, currency),
    amount: formatMoney(unitAmount * BigInt(quantity), currency),
    period: period && fromPeriod(period),
  };
}

function fromUsageLine(line: NewUsageLine, currency: string): Static<typeof UpcomingUsageLine> {
  return {
    type: line.type,
    description: line.description,
    feature_key: line.featureKey,
    quantity: Number(line.quantity),
    amount: formatMoney(line.amount, currency),
    usage_price_id: line.usagePriceId,
    tiers: line.tiers.map((tier) => ({
      quantity: Number(tier.quantity),
      unit_amount: tier.unitAmount,
      flat_amount: tier.flatAmount,
      amount: tier.amount,
    })),
    period: fromPeriod(line.period),
  };
}

function fromPeriod({ start, end }: NewUsageLine['period']): Static<typeof Period> {
  return { start: start.toISOString(), end: end.toISOString() };
}
