// Changes of an invoice that exists. Each transition holds the invoice's row until the commit, so
// of two at once the second sees the first.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { assert, must } from '../../ledger/kernel/assert.ts';
import { formatMoney } from '../../ledger/kernel/money.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { insertEvents } from '../records/events.ts';
import { type InvoiceChange, invoiceEvent } from './events.ts';
import {
  type Changed,
  invoiceColumns,
  invoiceOf,
  type InvoiceRecord,
  type InvoiceRow,
} from '../records/invoices.ts';
import { INVOICE_TRANSITIONS, refusalOf } from './transitions.ts';
import { findPaymentOf, hasFailed } from '../records/payments.ts';
import { isUuid } from '../records/uuid.ts';

export type InvoicePayment = {
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly paidAt: Date;
};

/**
 * Each invoice is paid in full by its payment. Returns for each payment, in the order given,
 * whether it is the one that paid. If not, this money is not for the invoice, because it is void by
 * now or another payment was first. No event: the payment announces itself.
 */
export async function payInvoices(
  sql: Transaction,
  payments: readonly InvoicePayment[],
): Promise<readonly boolean[]> {
  // Of two payments for one invoice the first counts.
  const paying = new Map(payments.toReversed().map((payment) => [payment.invoiceId, payment]));
  const invoiceIds = [...paying.keys()];
  const rows = [...paying.values()];
  await sql`select from invoices where id = any(${invoiceIds}::uuid[]) order by id for update`;
  await sql`
    update invoices i set status = 'paid', amount_paid = i.total, payment_id = p.payment_id, paid_at = p.paid_at,
      updated_at = greatest(p.paid_at, i.updated_at)
    from unnest(${invoiceIds}::uuid[], ${rows.map(({ paymentId }) => paymentId)}::uuid[],
      ${rows.map(({ paidAt }) => paidAt.toISOString())}::text[]::timestamptz[]) as p (id, payment_id, paid_at)
    where i.id = p.id and i.status = any(${[...INVOICE_TRANSITIONS.settle.from]})`;
  const after = await sql<Pick<InvoiceRecord, 'id' | 'status' | 'paymentId'>[]>`
    select id, status, payment_id as "paymentId" from invoices where id = any(${invoiceIds}::uuid[])`;
  const invoices = new Map(after.map((invoice) => [invoice.id, invoice]));
  return payments.map(({ invoiceId, paymentId: own }) => {
    const { status, paymentId } = must(invoices.get(invoiceId), 'the invoice that was locked');
    return status === 'paid' && paymentId === own;
  });
}

/** Counts one more try to collect each. */
export async function countAttempts(
  sql: Transaction,
  invoiceIds: readonly string[],
): Promise<void> {
  await lockInvoices(sql, invoiceIds);
  await sql`update invoices set attempts = attempts + 1 where id = any(${invoiceIds}::uuid[])`;
}

export type Forgone = { readonly invoiceId: string; readonly at: number };

/**
 * What each of them bills was taken back, and what it took is to be given back. Once somebody has
 * done that, nothing else tells that it bought nothing.
 */
export async function forgoInvoices(sql: Transaction, forgone: readonly Forgone[]): Promise<void> {
  const invoiceIds = forgone.map(({ invoiceId }) => invoiceId);
  await lockInvoices(sql, invoiceIds);
  await sql`
    update invoices i set forgone_at = f.at::timestamptz
    from unnest(${invoiceIds}::uuid[], ${forgone.map(({ at }) => new Date(at).toISOString())}::text[]) as f (id, at)
    where i.id = f.id and i.forgone_at is null`;
}

/** Voids an invoice. An issued one is announced; a draft is not. */
export async function voidInvoice(
  sql: Transaction,
  scope: Tenant,
  options: { readonly id: string; readonly eventId: string; readonly now: number },
): Promise<Changed | 'not_found'> {
  const { id, eventId, now } = options;
  const before = await lockInvoice(sql, scope, id);
  if (before === null) return 'not_found';
  if (before.status === 'void') return { kind: 'done', invoice: before };
  // A charge under way is not called back: its outcome comes first.
  const isLive = await isBeingPaid(sql, before);
  if (refusalOf('void', before, { isLive }) !== null) {
    return { kind: 'invalid_state', invoice: before };
  }
  const isIssued = before.number !== null;
  const { invoice, sequence } = await update(sql, before, {
    set: sql`status = 'void', event_sequence = event_sequence + ${isIssued ? 1 : 0}`,
    now,
  });
  if (isIssued) {
    const change = {
      change: 'voided',
      creditNoteId: null,
      refundId: null,
      disputeId: null,
      amountDelta: null,
    } as const;
    const event = { id: eventId, sequence, at: invoice.updatedAt, change };
    await insertEvents(sql, [invoiceEvent(invoice, event)]);
  }
  return { kind: 'done', invoice };
}

/** The invoice is collected no more, and may still be paid. No event. */
export async function markUncollectible(
  sql: Transaction,
  scope: Tenant,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<Changed | 'not_found'> {
  const before = await lockInvoice(sql, scope, id);
  if (before === null) return 'not_found';
  if (before.status === 'uncollectible') return { kind: 'done', invoice: before };
  if (refusalOf('markUncollectible', before, { isLive: false }) !== null) {
    return { kind: 'invalid_state', invoice: before };
  }
  const { invoice } = await update(sql, before, { set: sql`status = 'uncollectible'`, now });
  return { kind: 'done', invoice };
}

/**
 * Money that went back to the buyer: a refund, or a lost dispute, which has a `disputeId`. With a
 * negative amount, what came to the merchant again: a refund that failed after it had succeeded, or
 * a dispute that was won after all.
 */
export type InvoiceReturn = {
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly refundId: string | null;
  readonly disputeId: string | null;
  readonly amountDelta: bigint;
  readonly eventId: string;
  readonly at: number;
};

/**
 * Adds what went back to any number of invoices, and announces each in the order given. What is of
 * one commit is added at once: a refund that fails may cover a dispute. Returns the invoices that
 * took none: another payment had paid them, or nothing had.
 */
export async function recordInvoiceReturns(
  sql: Transaction,
  returns: readonly InvoiceReturn[],
): Promise<readonly string[]> {
  const paymentIds = returns.map(({ paymentId }) => paymentId);
  const invoiceIds = returns.map(({ invoiceId }) => invoiceId);
  const deltas = returns.map(({ amountDelta }) => String(amountDelta));
  const disputed = returns.map(({ disputeId }) => String(disputeId !== null));
  const times = returns.map(({ at }) => new Date(at).toISOString());
  assert(!deltas.includes('0'), 'a return moves money');
  // Events of an invoice are at least a millisecond apart, even where the clock stands still or
  // goes back.
  const rows = await sql<(InvoiceRow & { sequence: bigint })[]>`
    update invoices set amount_refunded = amount_refunded + r.refunded,
      amount_charged_back = amount_charged_back + r.charged_back, event_sequence = event_sequence + r.count,
      updated_at = greatest(r.at, updated_at + interval '1 ms') + (r.count - 1) * interval '1 ms'
    from (
      select invoice_id, payment_id as paid_by, count(*) as count, max(at) as at,
        coalesce(sum(delta) filter (where not disputed), 0)::bigint as refunded,
        coalesce(sum(delta) filter (where disputed), 0)::bigint as charged_back
      from unnest(${invoiceIds}::uuid[], ${paymentIds}::uuid[], ${deltas}::text[]::bigint[], ${disputed}::text[]::boolean[],
        ${times}::text[]::timestamptz[]) as t (invoice_id, payment_id, delta, disputed, at) group by invoice_id, payment_id
    ) as r
    where id = r.invoice_id and payment_id = r.paid_by and status = any(${[...INVOICE_TRANSITIONS.refund.from]})
    returning ${invoiceColumns(sql)}, event_sequence as sequence`;
  const of = Map.groupBy(returns, ({ invoiceId }) => invoiceId);
  const events = rows.flatMap(({ sequence, ...row }) => {
    const invoice = invoiceOf(row);
    const own = (of.get(row.id) ?? []).filter(({ paymentId }) => paymentId === row.paymentId);
    return own.map(({ refundId, disputeId, amountDelta, eventId: id }, index) => {
      const later = own.length - 1 - index;
      const change: InvoiceChange = {
        change: amountDelta > 0n && disputeId === null ? 'refunded' : 'adjusted',
        creditNoteId: null,
        refundId,
        disputeId,
        amountDelta: formatMoney(amountDelta, invoice.currency),
      };
      const at = new Date(invoice.updatedAt.getTime() - later);
      return invoiceEvent(invoice, { id, sequence: sequence - BigInt(later), at, change });
    });
  });
  await insertEvents(sql, events);
  const recorded = new Set(rows.map(({ id }) => id));
  const others = invoiceIds.filter((id) => !recorded.has(id));
  if (others.length === 0) return others;
  const there = await lockInvoices(sql, others);
  assert(
    others.every((id) => there.has(id)),
    'every invoice that money came back of is there',
  );
  return others;
}

/**
 * Whether a payment of it has not failed; `but` is a payment that does not count. The invoice is
 * locked, so no other begins meanwhile.
 */
export async function isBeingPaid(
  sql: Transaction,
  invoice: InvoiceRecord,
  but: string | null = null,
): Promise<boolean> {
  const payment = await findPaymentOf(sql, invoice, invoice.id);
  return payment !== null && payment.id !== but && !hasFailed(payment);
}

export async function lockInvoice(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  id: string,
): Promise<InvoiceRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<InvoiceRow[]>`
    select ${invoiceColumns(sql)} from invoices
    where organisation_id = ${organisationId} and mode = ${mode} and id = ${id} for update`;
  return row === undefined ? null : invoiceOf(row);
}

/** In one order, so that two transactions that lock several never deadlock. */
async function lockInvoices(
  sql: Transaction,
  invoiceIds: readonly string[],
): Promise<Map<string, InvoiceRecord>> {
  const rows = await sql<InvoiceRow[]>`
    select ${invoiceColumns(sql)} from invoices where id = any(${invoiceIds}::uuid[]) order by id for update`;
  return new Map(rows.map((row) => [row.id, invoiceOf(row)]));
}

async function update(
  sql: Transaction,
  { id }: InvoiceRecord,
  { set, now }: { readonly set: ReturnType<Executor>; readonly now: number },
): Promise<{ invoice: InvoiceRecord; sequence: bigint }> {
  const [row] = await sql<(InvoiceRow & { sequence: bigint })[]>`
    update invoices set ${set}, updated_at = greatest(${new Date(now)}, updated_at + interval '1 ms')
    where id = ${id} returning ${invoiceColumns(sql)}, event_sequence as sequence`;
  const { sequence, ...invoice } = must(row, 'the invoice that was locked');
  return { invoice: invoiceOf(invoice), sequence };
}
