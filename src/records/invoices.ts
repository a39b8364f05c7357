// Invoices as readers see them. src/invoices/transitions.ts says what may be done to them;
// src/invoices/issue.ts and src/invoices/changes.ts do it.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { INVOICE_LINES_MAX } from '../platform/answer-bounds.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { Address } from './customers.ts';
import type { SellerDetails } from './organisations.ts';
import { type Page, pageOf } from './page.ts';
import { isUuid } from './uuid.ts';

export const INVOICE_STATUSES = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/**
 * The invoice after the change; or `invalid_state` and the invoice as it is. A repeated change is
 * done, without an event.
 */
export type Changed = { readonly kind: 'done' | 'invalid_state'; readonly invoice: InvoiceRecord };

export const BILLING_REASONS = [
  'purchase',
  'subscription_create',
  'subscription_cycle',
  'subscription_update',
  'subscription_resume',
  'usage',
  'manual',
  'auto_topup',
] as const;
export type BillingReason = (typeof BILLING_REASONS)[number];

export const PLAIN_LINE_TYPES = [
  'fixed',
  'recurring',
  'proration',
  'credit',
  'adjustment',
] as const;
export const USAGE_LINE_TYPES = ['usage', 'usage_adjustment'] as const;

/** A line of a price, a credit, a change of plan. */
export type PlainLine = {
  readonly id: string;
  readonly type: (typeof PLAIN_LINE_TYPES)[number];
  readonly description: string;
  readonly quantity: number;
  /** Negative in a credit, never in a fixed or recurring line. */
  readonly unitAmount: bigint;
  readonly amount: bigint;
  /** The time that it is for, if any; `end` is exclusive. */
  readonly period: { readonly start: Date; readonly end: Date } | null;
};

/** A line of usage, or of what has changed since that was billed. */
export type UsageLine = {
  readonly id: string;
  readonly type: (typeof USAGE_LINE_TYPES)[number];
  readonly description: string;
  readonly featureKey: string;
  readonly usagePriceId: string;
  /** What its spans are `billedAs`: a usage line and its adjustments have the same. */
  readonly usageId: string;
  /**
   * Units, as an exact decimal: one of many spans may have more digits than a double. Of an
   * adjustment, the signed change.
   */
  readonly quantity: string;
  readonly amount: bigint;
  /** What was billed of it before: with `amount`, what all of it costs. 0 but in an adjustment. */
  readonly billed: bigint;
  /**
   * What makes up the amount, before minimum, maximum and rounding; of an adjustment, that of all
   * usage. Exact decimals, amounts in the major unit.
   */
  readonly tiers: readonly UsageLineTier[];
  readonly period: { readonly start: Date; readonly end: Date };
};

export type UsageLineTier = {
  readonly quantity: string;
  readonly unitAmount: string | null;
  readonly flatAmount: string | null;
  readonly amount: string;
};

export type InvoiceLine = PlainLine | UsageLine;

/** As it was when the invoice was issued. */
export type Seller = Partial<SellerDetails> & { readonly name: string };

/** As it was when the invoice was issued. */
export type Buyer = {
  readonly name: string | null;
  readonly email: string | null;
  readonly externalCustomerId: string | null;
  readonly address: Address | null;
};

/**
 * Of the checkout or else the subscription that it came from; without either, the customer's own.
 */
export type Echo = {
  readonly externalCustomerId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

export type InvoiceRecord = Tenant & {
  readonly id: string;
  /** null until it is finalised. */
  readonly number: string | null;
  readonly status: InvoiceStatus;
  readonly currency: string;
  readonly subtotal: bigint;
  readonly discountTotal: bigint;
  readonly taxTotal: bigint;
  readonly total: bigint;
  readonly amountPaid: bigint;
  readonly amountRefunded: bigint;
  /** By lost disputes: with what was refunded at most what was paid. */
  readonly amountChargedBack: bigint;
  readonly billingReason: BillingReason;
  readonly customerId: string | null;
  readonly subscriptionId: string | null;
  readonly checkoutId: string | null;
  /** The payment that paid it. */
  readonly paymentId: string | null;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  /** null until it is finalised. */
  readonly issuedAt: Date | null;
  readonly dueAt: Date | null;
  readonly paidAt: Date | null;
  /** How often a charge was tried. */
  readonly attempts: number;
  /** The first ones: `listInvoiceLines` reads them all. */
  readonly lines: readonly InvoiceLine[];
  readonly lineCount: number;
  readonly seller: Seller;
  readonly buyer: Buyer;
  /** Fields that its events repeat. */
  readonly echo: Echo;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** How lines are stored: jsonb has neither bigint nor dates. */
export type StoredLine =
  | (Omit<PlainLine, 'unitAmount' | 'amount' | 'period'> & {
      readonly unitAmount: string;
      readonly amount: string;
      readonly period: StoredPeriod | null;
    })
  | (Omit<UsageLine, 'amount' | 'billed' | 'period'> & {
      readonly amount: string;
      readonly billed: string;
      readonly period: StoredPeriod;
    });

type StoredPeriod = { readonly start: string; readonly end: string };

export type InvoiceRow = Omit<InvoiceRecord, 'lines'> & { readonly lines: readonly StoredLine[] };

/** Other tables have columns with the same names, so the invoice's come first. */
export const echo = (sql: Executor) => sql`
  (select jsonb_build_object(
      'externalCustomerId', case when k.id is not null then k.external_customer_id
        when c.id is not null then c.external_customer_id else own.name end,
      'metadata', coalesce(k.metadata, s.metadata, c.metadata, '{}'))
    from (select checkout_id as checkout, subscription_id as subscription, customer_id as customer,
        buyer ->> 'externalCustomerId' as name) own
    left join subscriptions s on s.id = own.subscription
    left join checkouts k on k.id = coalesce(own.checkout, s.payment_link_id)
    left join customers c on c.id = own.customer)`;

/** Lines of an invoice, from one on. What is not asked for does not leave the database. */
const linesFrom = (sql: Executor, { first, count }: { first: number; count: number }) => sql`
  jsonb_path_query_array(lines, '$[$first to $last]',
    jsonb_build_object('first', ${first}::int, 'last', ${first + count - 1}::int))`;

/** `isHead`: without its lines, where nobody looks at them. */
export const invoiceColumns = (sql: Executor, { isHead = false } = {}) => sql`
  id, organisation_id as "organisationId", mode, number, status, currency, subtotal, discount_total as "discountTotal",
  tax_total as "taxTotal", total, amount_paid as "amountPaid", amount_refunded as "amountRefunded",
  amount_charged_back as "amountChargedBack",
  billing_reason as "billingReason", customer_id as "customerId", subscription_id as "subscriptionId",
  checkout_id as "checkoutId", payment_id as "paymentId", period_start as "periodStart", period_end as "periodEnd",
  issued_at as "issuedAt", due_at as "dueAt", paid_at as "paidAt", attempts,
  ${isHead ? sql`'[]'::jsonb` : linesFrom(sql, { first: 0, count: INVOICE_LINES_MAX })} as lines, jsonb_array_length(lines) as "lineCount", seller, buyer, ${echo(sql)} as echo,
  created_at as "createdAt", updated_at as "updatedAt"`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  organisation_id = ${organisationId} and mode = ${mode}`;

export async function findInvoice(
  sql: Executor,
  scope: Tenant,
  id: string,
): Promise<InvoiceRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<InvoiceRow[]>`
    select ${invoiceColumns(sql)} from invoices where ${inScope(sql, scope)} and id = ${id}`;
  return row === undefined ? null : invoiceOf(row);
}

/** In any organisation: for a reader with a link to it. */
export async function findLinkedInvoice(sql: Executor, id: string): Promise<InvoiceRecord | null> {
  const [row] = await sql<
    InvoiceRow[]
  >`select ${invoiceColumns(sql)} from invoices where id = ${id}`;
  return row === undefined ? null : invoiceOf(row);
}

/** Newest first; up to one row more than `limit`. */
export async function listInvoices(
  sql: Executor,
  scope: Tenant,
  options: Page & {
    readonly customerId?: string | undefined;
    readonly subscriptionId?: string | undefined;
    readonly status?: InvoiceStatus | undefined;
    readonly number?: string | undefined;
    readonly isHead?: boolean;
  },
): Promise<InvoiceRecord[]> {
  const { customerId, subscriptionId, status, number, isHead = false } = options;
  const rows = await sql<InvoiceRow[]>`
    select ${invoiceColumns(sql, { isHead })} from invoices
    where ${inScope(sql, scope)}
      ${customerId === undefined ? sql`` : sql`and customer_id = ${customerId}`}
      ${subscriptionId === undefined ? sql`` : sql`and subscription_id = ${subscriptionId}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${number === undefined ? sql`` : sql`and number = ${number}`}
    ${pageOf(sql, 'invoices', options)}`;
  return rows.map(invoiceOf);
}

/** In their order, from one on. */
export async function listInvoiceLines(
  sql: Executor,
  { id }: Pick<InvoiceRecord, 'id'>,
  range: { readonly first: number; readonly count: number },
): Promise<InvoiceLine[]> {
  const [row] = await sql<Pick<InvoiceRow, 'lines'>[]>`
    select ${linesFrom(sql, range)} as lines from invoices where id = ${id}`;
  return (row?.lines ?? []).map(lineOf);
}

/** A void invoice has nothing due. */
export function amountDue({
  status,
  total,
  amountPaid,
}: Pick<InvoiceRecord, 'status' | 'total' | 'amountPaid'>): bigint {
  return status === 'void' ? 0n : total - amountPaid;
}

export function invoiceOf(row: InvoiceRow): InvoiceRecord {
  return { ...row, lines: row.lines.map(lineOf) };
}

function lineOf(line: StoredLine): InvoiceLine {
  const amount = BigInt(line.amount);
  if (!('unitAmount' in line)) {
    return { ...line, amount, billed: BigInt(line.billed), period: periodOf(line.period) };
  }
  const period = line.period && periodOf(line.period);
  return { ...line, unitAmount: BigInt(line.unitAmount), amount, period };
}

function periodOf({ start, end }: StoredPeriod): { readonly start: Date; readonly end: Date } {
  return { start: new Date(start), end: new Date(end) };
}
