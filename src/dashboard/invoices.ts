// Invoices: what was billed, what of it is paid.
import type { Invoice, Payment } from '../client/types.ts';
import { isNone } from './parts/amounts.ts';
import { type Question, confirmPage } from './parts/confirm.ts';
import { faultNotice } from './parts/forms.ts';
import { lineTable } from './parts/invoice-lines.ts';
import { button, facts, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filters, pager, table } from './parts/tables.ts';
import { badge, code, instant, money, whole } from './parts/values.ts';
import { words } from './parts/words.ts';
import { customerFilter, customerNamed, filterOf, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { numberField, textField, time, choice } from './form/field.ts';
import {
  drawFields,
  drawFilters,
  drawForm,
  drawRows,
  read,
  readFilters,
  readRows,
} from './form/form.ts';
import { given } from './form/typed.ts';
import { type InvoiceAction, refusalOf } from '../invoices/transitions.ts';
import { type Html, html } from '../pages/html.ts';

const UNDER_WAY: ReadonlySet<string> = new Set(['requires_action', 'processing']);

export const INVOICE_PAGES: readonly DashboardPage[] = [
  {
    path: '/invoices',
    title: 'Invoices',
    section: 'invoices',
    needs: ['listInvoices'],
    show: showInvoices,
  },
  {
    path: '/invoices/new',
    title: 'Bill a customer',
    section: 'invoices',
    needs: ['createInvoice'],
    show: ({ place }) => Promise.resolve(invoiceForm(place)),
    act: { needs: ['createInvoice'], run: draft },
  },
  {
    path: '/invoices/:id',
    title: 'Invoice',
    section: 'invoices',
    needs: ['getInvoice', 'getPayment'],
    show: async (visit) => invoicePage(visit.place, await standingOf(visit)),
  },
  {
    path: '/invoices/:id/print',
    title: 'Invoice',
    section: 'invoices',
    needs: ['printInvoice'],
    show: ({ download, query, params: { id = '' } }) =>
      download(`/api/invoices/${encodeURIComponent(id)}/pdf?${query.toString()}`),
  },
  {
    path: '/invoices/:id/usage',
    title: 'Usage behind an invoice',
    section: 'invoices',
    needs: ['downloadInvoiceUsage'],
    show: ({ download, params: { id = '' } }) =>
      download(`/invoices/${encodeURIComponent(id)}/usage.csv`),
  },
  {
    path: '/invoices/:id/finalize',
    title: 'Finalize an invoice',
    section: 'invoices',
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
    section: 'invoices',
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
    section: 'invoices',
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
  const { customer: named, ...narrowed } = readFilters(visit, INVOICE_FILTERS);
  const { place, rows } = await searched(visit.place, async () => {
    const customer = await customerFilter(api, named);
    if (customer === null) return null;
    return api.invoices.list({ ...pageOf(query), ...customer, ...narrowed });
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
  const { customer: asTyped, currency } = read(visit, DRAFT);
  const customer = await customerNamed(api, asTyped);
  const { id } = await api.invoices.create(
    given({
      // Nobody has the address: the API says so.
      ...(customer ?? { externalCustomerId: asTyped }),
      currency,
      lines: linesOf(visit),
      ...read(visit, DUE),
      draft: true,
    }),
    given({ idempotencyKey: key }),
  );
  return { to: `/invoices/${id}`, notice: 'created' };
}

function linesOf(visit: Visit) {
  const rows = readRows(visit, 'lines', LINE) ?? [];
  return rows.map(({ description = '', unitAmount = '', ...quantity }) => ({
    description,
    unitAmount,
    ...quantity,
  }));
}

export const INVOICE_STATUSES: readonly Invoice['status'][] = [
  'draft',
  'open',
  'paid',
  'void',
  'uncollectible',
];
/** Rows of lines in the form: those that are left empty do not count. */
const LINE_ROWS = 5;

function invoicesPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly Invoice[]; readonly hasMore: boolean },
): Html {
  return html`${heading('Invoices', {
    actions: [
      button(place, '/dunning', 'Unpaid'),
      place.may('createInvoice') ? button(place, '/invoices/new', 'Bill a customer', false) : null,
    ],
  })}
  ${faultNotice(place)} ${filters(drawFilters(place, INVOICE_FILTERS))}
  ${table({
    caption: 'Invoices, newest first',
    columns: [
      'Number',
      { label: 'Total', isNumber: true },
      'State',
      'Billing reason',
      'Issued',
      'Due',
      'Paid',
    ],
    rows: data.map((invoice) => [
      link(place, `/invoices/${invoice.id}`, whole(invoice.number ?? 'Draft')),
      money(invoice.total, invoice.currency),
      badge(invoice.status),
      words(invoice.billingReason),
      instant(place, invoice.issuedAt),
      instant(place, invoice.dueAt),
      instant(place, invoice.paidAt),
    ]),
    empty: 'No invoices match these filters.',
  })}
  ${pager(place, { hasMore, last: data.at(-1)?.id })}`;
}

/** In the address: the line behind which they go on. */
const LINES_PARAMETER = 'lines';

type InvoiceActions = {
  readonly finalize: boolean;
  readonly pay: boolean;
  readonly void: boolean;
};

function invoicePage(
  place: Place,
  of: {
    readonly invoice: Invoice;
    /** A page of its lines, and whether there are more behind them. */
    readonly lines: Invoice['lines'];
    readonly isCut: boolean;
    readonly actions: InvoiceActions;
    readonly payment: Payment | null;
  },
): Html {
  const { invoice, lines, isCut, actions, payment } = of;
  const { id, customerId, subscriptionId } = invoice;
  const at = `/invoices/${id}`;
  const hasUsage = invoice.lines.some((line) => 'tiers' in line);
  return html`${heading(invoice.number ?? 'Draft', {
    under: html`${badge(invoice.status)} ${code(id)}`,
    actions: [
      button(place, `${at}/print`, 'Print'),
      hasUsage ? button(place, `${at}/usage`, 'Usage as CSV') : null,
      actions.finalize && place.may('finalizeInvoice')
        ? button(place, `${at}/finalize`, 'Finalize')
        : null,
      actions.pay && place.may('payInvoice') ? button(place, `${at}/pay`, 'Charge now') : null,
      actions.void && place.may('voidInvoice') ? button(place, `${at}/void`, 'Void') : null,
    ],
  })}
  ${facts([
    ['Billing reason', words(invoice.billingReason)],
    [
      'Customer',
      customerId === null ? null : link(place, `/customers/${customerId}`, code(customerId)),
    ],
    subscriptionId === null
      ? null
      : ['Subscription', link(place, `/subscriptions/${subscriptionId}`, code(subscriptionId))],
    invoice.periodStart === null
      ? null
      : [
          'Period',
          html`${instant(place, invoice.periodStart)} to ${instant(place, invoice.periodEnd)}`,
        ],
    ['Issued', instant(place, invoice.issuedAt)],
    ['Due', instant(place, invoice.dueAt)],
    ['Paid', instant(place, invoice.paidAt)],
    ['Payment attempts', String(invoice.attempts)],
  ])}
  ${section(
    'Lines',
    html`${lineTable(place, { ...invoice, lines })}
    ${pager(place, { hasMore: isCut, last: lines.at(-1)?.id }, LINES_PARAMETER)}`,
  )}
  ${totals(invoice)}
  ${
    payment === null
      ? null
      : section(
          'Payment',
          html`<p>
            ${link(place, `/payments/${payment.id}`, instant(place, payment.createdAt))}
            ${money(payment.amount, payment.currency)} ${badge(payment.status)}
          </p>`,
        )
  }`;
}

function totals(invoice: Invoice): Html {
  const { currency, amountChargedBack } = invoice;
  const some = (name: string, amount: string, sign = '') =>
    isNone(amount) ? null : ([name, money(sign + amount, currency)] as const);
  return facts([
    ['Subtotal', money(invoice.subtotal, currency)],
    some('Discount', invoice.discountTotal, '-'),
    some('Tax', invoice.taxTotal),
    ['Total', money(invoice.total, currency)],
    ['Paid', money(invoice.amountPaid, currency)],
    some('Refunded', invoice.amountRefunded),
    some('Charged back', amountChargedBack ?? '0'),
    ['Amount due', money(invoice.amountDue, currency)],
  ]);
}

const INVOICE_FILTERS = {
  number: textField({ label: 'Number', type: 'search', maxlength: 64 }),
  status: choice({ label: 'State', values: INVOICE_STATUSES, none: 'All' }),
  customer: textField({ label: 'Customer: e-mail, id or your id', type: 'search' }),
};

const DRAFT = {
  customer: textField({ label: 'Customer: e-mail, id or your id', isRequired: true }),
  currency: textField({ label: 'Currency', value: 'USD', maxlength: 3, isRequired: true }),
};

const LINE = (at: number) => ({
  description: textField({ label: `Line ${at + 1}`, maxlength: 500 }),
  quantity: numberField({ label: 'Quantity', maxlength: 500 }),
  unitAmount: textField({ label: 'Unit price', maxlength: 500 }),
});

const DUE = { dueAt: time({ label: ({ zone }) => `Due, in ${zone}` }) };

function invoiceForm(place: Place): Html {
  const lines = html`<fieldset class="stack">
    <legend>Lines</legend>
    <p class="hint">Empty rows are ignored.</p>
    ${drawRows(place, 'lines', LINE, { count: LINE_ROWS })}
  </fieldset>`;
  return html`${heading('Bill a customer', {
      under: 'It is created as a draft, which you can read before it is issued.',
    })}
    ${drawForm(place, DRAFT, {
      submit: 'Create draft',
      values: { customer: place.query.get('customer') },
      more: [lines, ...drawFields(place, DUE)],
    })}
    <p>${button(place, '/invoices', 'Cancel')}</p>`;
}
