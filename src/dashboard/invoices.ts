import { type InvoiceAction, refusalOf } from '../invoices/transitions.ts';
import { confirmPage, type Question } from './parts/confirm.ts';
import {
  INVOICE_STATUSES,
  type InvoiceActions,
  invoiceForm,
  invoicePage,
  invoicesPage,
  LINE_ROWS,
  LINES_PARAMETER,
} from './views/invoices.ts';
import { money } from './parts/values.ts';
import { html } from '../pages/html.ts';
import type { Invoice, Payment } from '../client/types.ts';
import {
  choiceOf,
  customerNamed,
  customerFilter,
  filterOf,
  pageOf,
  searched,
} from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

const section = 'invoices';
const UNDER_WAY: ReadonlySet<string> = new Set(['requires_action', 'processing']);

export const INVOICE_PAGES: readonly DashboardPage[] = [
  { path: '/invoices', title: 'Invoices', section, needs: ['listInvoices'], show: showInvoices },
  {
    path: '/invoices/new',
    title: 'Bill a customer',
    section,
    needs: ['createInvoice'],
    show: ({ place }) => Promise.resolve(invoiceForm(place)),
    act: { needs: ['createInvoice'], run: draft },
  },
  {
    path: '/invoices/:id',
    title: 'Invoice',
    section,
    needs: ['getInvoice', 'getPayment'],
    show: async (visit) => invoicePage(visit.place, await standingOf(visit)),
  },
  {
    path: '/invoices/:id/print',
    title: 'Invoice',
    section,
    needs: ['printInvoice'],
    show: ({ download, query, params: { id = '' } }) =>
      download(`/api/invoices/${encodeURIComponent(id)}/pdf?${query.toString()}`),
  },
  {
    path: '/invoices/:id/usage',
    title: 'Usage behind an invoice',
    section,
    needs: ['downloadInvoiceUsage'],
    show: ({ download, params: { id = '' } }) =>
      download(`/invoices/${encodeURIComponent(id)}/usage.csv`),
  },
  {
    path: '/invoices/:id/finalize',
    title: 'Finalize an invoice',
    section,
    needs: ['getInvoice', 'finalizeInvoice'],
    show: asked(({ total, currency }) => ({
      title: 'Finalize invoice',
      text: html`<p>It gets its number, and ${money(total, currency)} is due.</p>`,
      submit: 'Finalize',
    })),
    act: {
      needs: ['finalizeInvoice'],
      run: ({ api, params: { id = '' } }) => changed(id, api.invoices.finalizeInvoice(id)),
    },
  },
  {
    path: '/invoices/:id/pay',
    title: 'Charge an invoice',
    section,
    needs: ['getInvoice', 'payInvoice'],
    show: asked(({ amountDue, currency }) => ({
      title: 'Charge invoice',
      text: html`<p>${money(amountDue, currency)} is charged to the customer's payment method.</p>`,
      submit: 'Charge now',
    })),
    act: { needs: ['payInvoice'], run: pay },
  },
  {
    path: '/invoices/:id/void',
    title: 'Void an invoice',
    section,
    needs: ['getInvoice', 'voidInvoice'],
    show: asked(({ amountDue, currency }) => ({
      title: 'Void invoice',
      text: html`<p>${money(amountDue, currency)} is no longer owed. The number is kept.</p>`,
      submit: 'Void',
      isGrave: true,
    })),
    act: {
      needs: ['voidInvoice'],
      run: ({ api, params: { id = '' } }) => changed(id, api.invoices.voidInvoice(id)),
    },
  },
];

async function showInvoices(visit: Visit) {
  const { api, query } = visit;
  const status = choiceOf(query, 'status', INVOICE_STATUSES);
  const { place, rows } = await searched(visit.place, async () => {
    const customer = await customerFilter(visit);
    if (customer === null) return null;
    const number = filterOf(query, 'number');
    return api.invoices.list({ ...pageOf(query), ...customer, ...given({ status, number }) });
  });
  return invoicesPage(place, rows);
}

/** An invoice, its payment, and what may be done with it now. */
async function standingOf({ api, query, params: { id = '' } }: Visit) {
  const invoice = await api.invoices.retrieve(id);
  const after = filterOf(query, LINES_PARAMETER);
  const { data, hasMore } =
    after === undefined
      ? { data: invoice.lines, hasMore: invoice.linesHasMore }
      : await api.invoices.listLines(id, { limit: LINES_MAX, after });
  const lines = shownLines(data);
  const payment =
    invoice.paymentId === null ? null : await api.payments.retrieve(invoice.paymentId);
  const isCut = hasMore || lines.length < data.length;
  return { invoice, lines, isCut, payment, actions: actionsOf(invoice, payment) };
}

/** Lines of a page, and tiers of them: 50 us each. */
const LINES_MAX = 100;
const TIERS_MAX = 300;

/** The first ones, as far as a page has room for their tiers; at least one. */
function shownLines(lines: Invoice['lines']): Invoice['lines'] {
  let tiers = 0;
  const end = lines.findIndex((line, at) => {
    tiers += 'tiers' in line ? line.tiers.length : 0;
    return at > 0 && tiers > TIERS_MAX;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

function actionsOf(invoice: Invoice, payment: Payment | null): InvoiceActions {
  const isLive = payment !== null && UNDER_WAY.has(payment.status);
  const may = (action: InvoiceAction) => refusalOf(action, invoice, { isLive }) === null;
  return { finalize: may('finalize'), pay: may('pay'), void: may('void') };
}

function asked(
  question: (invoice: Invoice) => Pick<Question, 'title' | 'text' | 'submit' | 'isGrave'>,
) {
  return async ({ api, place, params: { id = '' } }: Visit) => {
    const invoice = await api.invoices.retrieve(id);
    const { number } = invoice;
    return confirmPage(place, { ...question(invoice), under: number, back: `/invoices/${id}` });
  };
}

async function changed(id: string, task: Promise<unknown>): Promise<Done> {
  await task;
  return { to: `/invoices/${id}`, notice: 'changed' };
}

async function pay({ api, params: { id = '' }, key }: Visit): Promise<Done> {
  await api.invoices.pay(id, given({ idempotencyKey: key }));
  return { to: `/invoices/${id}`, notice: 'charged' };
}

async function draft(visit: Visit): Promise<Done> {
  const { api, key } = visit;
  const typed = new Typed(visit);
  const asTyped = typed.required('customer');
  const customer = await customerNamed(api, asTyped);
  const { id } = await api.invoices.create(
    given({
      // Nobody has the address: the API says so.
      ...(customer ?? { externalCustomerId: asTyped }),
      currency: typed.required('currency'),
      lines: linesOf(typed),
      dueAt: typed.time('due_at'),
      draft: true,
    }),
    given({ idempotencyKey: key }),
  );
  return { to: `/invoices/${id}`, notice: 'created' };
}

function linesOf(typed: Typed) {
  return Array.from({ length: LINE_ROWS }, (_, at) => `lines.${at}.`).flatMap((prefix) => {
    const description = typed.text(`${prefix}description`);
    const unitAmount = typed.text(`${prefix}unit_amount`);
    if (description === undefined && unitAmount === undefined) return [];
    const quantity = typed.number(`${prefix}quantity`);
    return [
      { description: description ?? '', unitAmount: unitAmount ?? '', ...given({ quantity }) },
    ];
  });
}
