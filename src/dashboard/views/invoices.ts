// Invoices: what was billed, what of it is paid.
import type { Invoice, Payment } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { isNone } from '../parts/amounts.ts';
import { lineTable } from '../parts/invoice-lines.ts';
import { faultNotice, field, form } from '../parts/forms.ts';
import { button, facts, heading, link, section } from '../parts/parts.ts';
import { filterField, filters, filterSelect, pager, table } from '../parts/tables.ts';
import { badge, code, instant, money, whole } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { optionsOf, words } from '../parts/words.ts';

export const INVOICE_STATUSES: readonly Invoice['status'][] = [
  'draft',
  'open',
  'paid',
  'void',
  'uncollectible',
];
/** Rows of lines in the form: those that are left empty do not count. */
export const LINE_ROWS = 5;

export function invoicesPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly Invoice[]; readonly hasMore: boolean },
): Html {
  return html`${heading('Invoices', {
    actions: [
      button(place, '/dunning', 'Unpaid'),
      place.may('createInvoice') ? button(place, '/invoices/new', 'Bill a customer', false) : null,
    ],
  })}
  ${faultNotice(place)}
  ${filters([
    filterField(place, { name: 'number', label: 'Number', type: 'search', maxlength: 64 }),
    filterSelect(place, {
      name: 'status',
      label: 'State',
      options: optionsOf(INVOICE_STATUSES, 'All'),
    }),
    filterField(place, {
      name: 'customer',
      label: 'Customer: e-mail, id or your id',
      type: 'search',
    }),
  ])}
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
export const LINES_PARAMETER = 'lines';

export type InvoiceActions = {
  readonly finalize: boolean;
  readonly pay: boolean;
  readonly void: boolean;
};

export function invoicePage(
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

export function invoiceForm(place: Place): Html {
  const line = (at: number) => {
    const one = (name: string, label: string) =>
      field(place, { name: `lines.${at}.${name}`, label, maxlength: 500 });
    return html`<div class="tier">
      ${one('description', `Line ${at + 1}`)} ${one('quantity', 'Quantity')}
      ${one('unit_amount', 'Unit price')}
    </div>`;
  };
  const fields = [
    field(place, {
      name: 'customer',
      label: 'Customer: e-mail, id or your id',
      value: place.query.get('customer') ?? '',
      isRequired: true,
    }),
    field(place, { name: 'currency', label: 'Currency', value: 'USD', maxlength: 3 }),
    html`<fieldset class="stack">
      <legend>Lines</legend>
      <p class="hint">Empty rows are ignored.</p>
      ${Array.from({ length: LINE_ROWS }, (_, at) => line(at))}
    </fieldset>`,
    field(place, { name: 'due_at', label: `Due, in ${place.zone}`, type: 'datetime-local' }),
  ];
  return html`${heading('Bill a customer', {
      under: 'It is created as a draft, which you can read before it is issued.',
    })}
    ${form(place, { to: place.path, submit: 'Create draft', fields })}
    <p>${button(place, '/invoices', 'Cancel')}</p>`;
}
