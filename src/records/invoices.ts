// Invoices. One is issued once, under an id that follows from what it bills; then only money moves on it.
//
// Holds: the numbers of an organisation's mode have no gap and no repetition, so a number is taken from a row that a rollback puts
// back. Whoever takes one holds that row until the commit: it is the last thing a transaction does. Seller and buyer are copies,
// and nothing rewrites them.
import { assert, must } from '../../ledger/assert.ts';
import { formatMoney } from '../../ledger/money.ts';
import type { Executor, Transaction } from '../platform/postgres.ts';
import { type EventType, insertEvents, type NewEvent } from './events.ts';
import { isUuid, type Scope } from './scope.ts';

export const INVOICE_STATUSES = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

export type InvoiceLine = {
  readonly id: string;
  readonly type: 'fixed';
  readonly description: string;
  readonly quantity: number;
  readonly unitAmount: bigint;
  readonly amount: bigint;
};

export type Seller = { readonly name: string };

export type Buyer = {
  readonly name: string | null;
  readonly email: string | null;
  readonly externalCustomerId: string | null;
};

export type InvoiceRecord = Scope & {
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
  readonly billingReason: string;
  readonly customerId: string | null;
  readonly subscriptionId: string | null;
  readonly checkoutId: string | null;
  readonly paymentId: string | null;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  readonly issuedAt: Date | null;
  readonly dueAt: Date | null;
  readonly paidAt: Date | null;
  readonly lines: readonly InvoiceLine[];
  readonly seller: Seller;
  readonly buyer: Buyer;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type NewInvoice = Pick<
  InvoiceRecord,
  | 'id'
  | 'currency'
  | 'discountTotal'
  | 'customerId'
  | 'subscriptionId'
  | 'checkoutId'
  | 'paymentId'
  | 'periodStart'
  | 'periodEnd'
  | 'dueAt'
  | 'buyer'
> & {
  readonly billingReason: 'purchase';
  /** Paid in full then; null leaves it open. */
  readonly paidAt: Date | null;
  readonly lines: readonly Omit<InvoiceLine, 'amount'>[];
};

/** How lines are kept: jsonb has no bigint. */
type StoredLine = Omit<InvoiceLine, 'unitAmount' | 'amount'> & {
  readonly unitAmount: string;
  readonly amount: string;
};

type Row = Omit<InvoiceRecord, 'lines'> & { readonly lines: readonly StoredLine[] };

const columns = (sql: Executor) => sql`
  id, organisation_id as "organisationId", mode, number, status, currency, subtotal, discount_total as "discountTotal",
  tax_total as "taxTotal", total, amount_paid as "amountPaid", amount_refunded as "amountRefunded",
  billing_reason as "billingReason", customer_id as "customerId", subscription_id as "subscriptionId",
  checkout_id as "checkoutId", payment_id as "paymentId", period_start as "periodStart", period_end as "periodEnd",
  issued_at as "issuedAt", due_at as "dueAt", paid_at as "paidAt", lines, seller, buyer, created_at as "createdAt",
  updated_at as "updatedAt"`;

const inScope = (sql: Executor, { organisationId, mode }: Scope) => sql`
  organisation_id = ${organisationId} and mode = ${mode}`;

/**
 * Issues it, numbers and announces it. Call it last in the transaction. Again with the same id, also at once, answers the invoice as
 * it is and takes no number.
 */
export async function issueInvoice(
  sql: Transaction,
  scope: Scope,
  options: { readonly invoice: NewInvoice; readonly eventId: string; readonly now: number },
): Promise<InvoiceRecord> {
  const { invoice, eventId, now } = options;
  const at = new Date(now);
  const unnumbered = await insertUnnumbered(sql, scope, { invoice, at });
  if (unnumbered === null) {
    return must(
      await findInvoice(sql, scope, invoice.id),
      'the invoice with this id, in its scope',
    );
  }
  const created = { id: eventId, type: 'invoice.created', sequence: 1n, at } as const;
  await insertEvents(sql, [eventOf(unnumbered, created)]);
  return takeNumber(sql, unnumbered, { eventId, year: at.getUTCFullYear() });
}

/** What was given back: a refund, or with a negative amount one that failed after it had succeeded. */
export type InvoiceRefund = {
  readonly invoiceId: string;
  readonly refundId: string;
  readonly amountDelta: bigint;
  readonly eventId: string;
};

/** Moves what was given back, of any number of invoices, and announces each refund in the order given. */
export async function recordInvoiceRefunds(
  sql: Transaction,
  refunds: readonly InvoiceRefund[],
  now: number,
): Promise<void> {
  const invoiceIds = refunds.map(({ invoiceId }) => invoiceId);
  const deltas = refunds.map(({ amountDelta }) => String(amountDelta));
  assert(!deltas.includes('0'), 'a refund moves money');
  // Events of an invoice are a millisecond apart at least, even when the clock stands still or goes back.
  const rows = await sql<(Row & { sequence: bigint })[]>`
    update invoices set amount_refunded = amount_refunded + r.delta, event_sequence = event_sequence + r.count,
      updated_at = greatest(${new Date(now)}, updated_at + interval '1 ms') + (r.count - 1) * interval '1 ms'
    from (
      select invoice_id, sum(delta)::bigint as delta, count(*) as count
      from unnest(${invoiceIds}::uuid[], ${deltas}::text[]::bigint[]) as t (invoice_id, delta) group by invoice_id
    ) as r
    where id = r.invoice_id returning ${columns(sql)}, event_sequence as sequence`;
  const of = Map.groupBy(refunds, ({ invoiceId }) => invoiceId);
  assert(rows.length === of.size, 'every refunded invoice is there');
  const events = rows.flatMap(({ sequence, ...row }) => {
    const invoice = invoiceOf(row);
    const own = of.get(row.id) ?? [];
    return own.map((refund, index) =>
      refundedEvent(invoice, refund, {
        sequence: sequence - BigInt(own.length - 1 - index),
        at: new Date(invoice.updatedAt.getTime() - (own.length - 1 - index)),
      }),
    );
  });
  await insertEvents(sql, events);
}

function refundedEvent(
  invoice: InvoiceRecord,
  { refundId, amountDelta, eventId: id }: InvoiceRefund,
  { sequence, at }: Pick<NewEvent, 'sequence' | 'at'>,
): Scope & NewEvent {
  const extra = {
    change: amountDelta > 0n ? 'refunded' : 'adjusted',
    creditNoteId: null,
    refundId,
    amountDelta: formatMoney(amountDelta, invoice.currency),
  };
  return eventOf(invoice, { id, type: 'invoice.updated', sequence, at, extra });
}

export async function findInvoice(
  sql: Executor,
  scope: Scope,
  id: string,
): Promise<InvoiceRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from invoices where ${inScope(sql, scope)} and id = ${id}`;
  return row === undefined ? null : invoiceOf(row);
}

/** Newest first; up to one row more than `limit`. */
export async function listInvoices(
  sql: Executor,
  scope: Scope,
  options: {
    readonly limit: number;
    readonly offset: number;
    readonly customerId?: string | undefined;
    readonly subscriptionId?: string | undefined;
    readonly status?: InvoiceStatus | undefined;
  },
): Promise<InvoiceRecord[]> {
  const { limit, offset, customerId, subscriptionId, status } = options;
  const rows = await sql<Row[]>`
    select ${columns(sql)} from invoices
    where ${inScope(sql, scope)}
      ${customerId === undefined ? sql`` : sql`and customer_id = ${customerId}`}
      ${subscriptionId === undefined ? sql`` : sql`and subscription_id = ${subscriptionId}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
    order by created_at desc, id desc limit ${limit + 1} offset ${offset}`;
  return rows.map(invoiceOf);
}

/** null where it is there: a conflict waits for whoever is making it, before there is a number to lose. */
async function insertUnnumbered(
  sql: Transaction,
  { organisationId, mode }: Scope,
  { invoice, at }: { readonly invoice: NewInvoice; readonly at: Date },
): Promise<InvoiceRecord | null> {
  const lines = invoice.lines.map((line) => ({
    ...line,
    amount: line.unitAmount * BigInt(line.quantity),
  }));
  const subtotal = lines.reduce((sum, { amount }) => sum + amount, 0n);
  const total = subtotal - invoice.discountTotal;
  const isPaid = invoice.paidAt !== null;
  const [row] = await sql<Row[]>`
    insert into invoices (id, organisation_id, mode, number, status, currency, subtotal, discount_total, tax_total, total,
      amount_paid, amount_refunded, billing_reason, customer_id, subscription_id, checkout_id, payment_id, period_start,
      period_end, issued_at, due_at, paid_at, lines, seller, buyer, event_sequence, created_at, updated_at)
    values (${invoice.id}, ${organisationId}, ${mode}, null, ${isPaid ? 'paid' : 'open'}, ${invoice.currency}, ${subtotal},
      ${invoice.discountTotal}, 0, ${total}, ${isPaid ? total : 0n}, 0, ${invoice.billingReason}, ${invoice.customerId},
      ${invoice.subscriptionId}, ${invoice.checkoutId}, ${invoice.paymentId}, ${invoice.periodStart}, ${invoice.periodEnd},
      ${at}, ${invoice.dueAt}, ${invoice.paidAt}, ${sql.json(lines.map(storedLine))},
      (select jsonb_build_object('name', name) from organisations where id = ${organisationId}),
      ${sql.json(invoice.buyer)}, 1, ${at}, ${at})
    on conflict (id) do nothing returning ${columns(sql)}`;
  return row === undefined ? null : invoiceOf(row);
}

/** Into the invoice and its event, in one statement: everyone else who issues waits from here to the commit. */
async function takeNumber(
  sql: Transaction,
  { id, organisationId, mode }: InvoiceRecord,
  { eventId, year }: { readonly eventId: string; readonly year: number },
): Promise<InvoiceRecord> {
  const [row] = await sql<Row[]>`
    with taken as (
      insert into invoice_counters as counter (organisation_id, mode, last) values (${organisationId}, ${mode}, 1)
      on conflict (organisation_id, mode) do update set last = counter.last + 1
      returning ${`INV-${year}-`} || lpad(last::text, greatest(length(last::text), 6), '0') as next
    ), announced as (
      update events set data = data || jsonb_build_object('number', next) from taken where id = ${eventId}
    )
    update invoices set number = next from taken where id = ${id} returning ${columns(sql)}`;
  return invoiceOf(must(row, 'the invoice that was inserted'));
}

function eventOf(
  invoice: InvoiceRecord,
  event: Pick<NewEvent, 'id' | 'sequence' | 'at'> & {
    readonly type: Extract<EventType, `invoice.${string}`>;
    readonly extra?: Readonly<Record<string, string | null>>;
  },
): Scope & NewEvent {
  const { id: invoiceId, organisationId, mode, currency, customerId, buyer } = invoice;
  const { extra, ...rest } = event;
  return {
    ...rest,
    organisationId,
    mode,
    objectType: 'INVOICE',
    objectId: invoiceId,
    accountId: customerId,
    data: {
      invoiceId,
      number: invoice.number,
      status: invoice.status,
      subscriptionId: invoice.subscriptionId,
      amount: formatMoney(invoice.total, currency),
      amountDue: formatMoney(amountDue(invoice), currency),
      taxTotal: formatMoney(invoice.taxTotal, currency),
      currency,
      billingReason: invoice.billingReason,
      periodStart: invoice.periodStart?.toISOString() ?? null,
      periodEnd: invoice.periodEnd?.toISOString() ?? null,
      dueAt: invoice.dueAt?.toISOString() ?? null,
      customerEmail: buyer.email,
      externalCustomerId: buyer.externalCustomerId,
      ...extra,
    },
  };
}

export function amountDue({ total, amountPaid }: InvoiceRecord): bigint {
  return total - amountPaid;
}

function storedLine({ unitAmount, amount, ...line }: InvoiceLine): StoredLine {
  return { ...line, unitAmount: String(unitAmount), amount: String(amount) };
}

function invoiceOf(row: Row): InvoiceRecord {
  const lines = row.lines.map((line) => ({
    ...line,
    unitAmount: BigInt(line.unitAmount),
    amount: BigInt(line.amount),
  }));
  return { ...row, lines };
}
