// Invoices as payments issue them.
import { must } from '../../../ledger/kernel/assert.ts';
import { ids } from '../../../src/platform/ids.ts';
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import {
  markUncollectible,
  payInvoices,
  recordInvoiceReturns,
  voidInvoice,
} from '../../../src/invoices/changes.ts';
import {
  draftInvoice,
  type Issuance,
  issueInvoices,
  type NewInvoice,
} from '../../../src/invoices/issue.ts';
import {
  findInvoice,
  type InvoiceRecord,
  type InvoiceStatus,
} from '../../../src/records/invoices.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';

export const NOW = Date.UTC(2026, 10, 21, 9, 30, 15, 250);

/** One of two parts at 12.50 USD each less 5.00, unless `fields` say otherwise. */
export function newInvoice(fields: Partial<NewInvoice> = {}): NewInvoice {
  return {
    id: ids.next(),
    currency: 'USD',
    lines: [{ type: 'fixed', description: 'Lamp', quantity: 2, unitAmount: 1250n, period: null }],
    discountTotal: 500n,
    billingReason: 'purchase',
    customerId: null,
    subscriptionId: null,
    checkoutId: null,
    paymentId: ids.next(),
    periodStart: null,
    periodEnd: null,
    dueAt: null,
    buyer: { name: 'Ada', email: 'ada@example.com', externalCustomerId: 'u_1' },
    ...fields,
  };
}

export async function issue(
  sql: Sql,
  scope: Tenant,
  fields: Partial<NewInvoice> & { readonly now?: number; readonly paidAt?: Date | null } = {},
): Promise<InvoiceRecord> {
  const { now = NOW, paidAt = new Date(NOW - 1000), ...rest } = fields;
  const issuance = { scope, invoice: newInvoice(rest), paidAt, eventId: ids.next(), now };
  const [invoice] = await issueAll(sql, [issuance]);
  return must(invoice, 'the invoice that was issued');
}

/** In one transaction. */
export async function issueAll(
  sql: Sql,
  issuances: readonly Issuance[],
): Promise<readonly InvoiceRecord[]> {
  await sql.begin((transaction) => issueInvoices(transaction, issuances));
  return Promise.all(
    issuances.map(async ({ scope, invoice: { id } }) =>
      must(await findInvoice(sql, scope, id), 'the invoice that was issued'),
    ),
  );
}

/** One invoice in each status, in a scope of its own or in a given one. */
export async function invoiceThatIs(
  sql: Sql,
  scope: Tenant,
  status: InvoiceStatus,
): Promise<InvoiceRecord> {
  const invoice = newInvoice({ paymentId: null });
  if (status === 'draft') {
    return sql.begin((transaction) => draftInvoice(transaction, { scope, invoice, now: NOW }));
  }
  const { id } = await issue(sql, scope, { ...invoice, paidAt: null });
  await sql.begin(async (transaction) => {
    const at = { id, now: NOW + 1, eventId: ids.next() };
    if (status === 'void') await voidInvoice(transaction, scope, at);
    if (status === 'uncollectible') await markUncollectible(transaction, scope, at);
    if (status === 'paid') {
      const payment = { invoiceId: id, paymentId: ids.next(), paidAt: new Date(NOW + 1) };
      await payInvoices(transaction, [payment]);
    }
  });
  return must(await findInvoice(sql, scope, id), 'the invoice that was issued');
}

export async function refund(
  sql: Sql,
  invoiceId: string,
  amountDelta: bigint,
  { refundId = ids.next(), now = NOW }: { readonly refundId?: string; readonly now?: number } = {},
): Promise<void> {
  const invoice = await sql<{ paymentId: string }[]>`
    select payment_id as "paymentId" from invoices where id = ${invoiceId}`;
  const paymentId = invoice[0]?.paymentId ?? ids.next();
  const made = {
    invoiceId,
    paymentId,
    refundId,
    disputeId: null,
    amountDelta,
    eventId: ids.next(),
  };
  await sql.begin((transaction) => recordInvoiceReturns(transaction, [{ ...made, at: now }]));
}
