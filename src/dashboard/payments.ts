// Payments, and what was given back of them.
import type { Dispute, Payment, PaymentMethod, Refund } from '../client/types.ts';
import { isNone } from './parts/amounts.ts';
import { confirmPage } from './parts/confirm.ts';
import { choice, textField } from './form/field.ts';
import { drawFields, drawFilters, read, readFilters } from './form/form.ts';
import { faultNotice } from './parts/forms.ts';
import { type Cell, button, facts, heading, link, live, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filters, pager, table } from './parts/tables.ts';
import { badge, code, instant, money } from './parts/values.ts';
import { words } from './parts/words.ts';
import { customerFilter, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { type Html, html } from '../pages/html.ts';
import type { RiskyAction } from '../people/step-up.ts';

/** As many as are shown of what belongs to one object. */
const OF_ONE = 50;

export const PAYMENT_PAGES: readonly DashboardPage[] = [
  {
    path: '/payments',
    title: 'Payments',
    section: 'payments',
    needs: ['listPayments'],
    show: showPayments,
  },
  {
    path: '/payments/:id',
    title: 'Payment',
    section: 'payments',
    needs: ['getPayment', 'listRefunds'],
    show: showPayment,
  },
  {
    path: '/payments/:id/refund',
    title: 'Refund',
    section: 'payments',
    needs: ['getPayment', 'refundPayment'],
    show: async ({ api, place, params: { id = '' } }) =>
      refundPage(place, await api.payments.retrieve(id)),
    act: { needs: ['refundPayment'], risk, isInTurn: true, run: giveBack },
  },
];

async function showPayments(visit: Visit) {
  const { api, query } = visit;
  const { customer: named, ...asked } = readFilters(visit, PAYMENT_FILTERS);
  const { place, rows } = await searched(visit.place, async () => {
    const customer = await customerFilter(api, named);
    if (customer === null) return null;
    return api.payments.list({ ...pageOf(query), ...customer, ...asked });
  });
  return paymentsPage(place, rows);
}

async function showPayment({ api, place, params: { id = '' } }: Visit) {
  const [payment, refunds] = await Promise.all([
    api.payments.retrieve(id),
    api.payments.listRefunds(id, { limit: OF_ONE }),
  ]);
  return paymentPage(place, { payment, refunds: refunds.data });
}

/** The organisation lets go so much without a code. Empty is all that is left. */
async function risk(visit: Visit): Promise<RiskyAction> {
  const { api, params } = visit;
  const { refundStepUpAmount: upTo } = await api.organization.retrieveSecurity();
  const { amount: asked } = read(visit, REFUND);
  const amount = asked ?? (await api.payments.retrieve(params['id'] ?? '')).refundableAmount;
  return { kind: 'refund', amount, already: await visit.refundedLately(), upTo };
}

async function giveBack(visit: Visit): Promise<Done> {
  const { api, params, key } = visit;
  const { id = '' } = params;
  await api.payments.refund(id, read(visit, REFUND), given({ idempotencyKey: key }));
  return { to: `/payments/${id}`, notice: 'refunded' };
}

export const PAYMENT_STATUSES: readonly Payment['status'][] = [
  'requires_action',
  'processing',
  'succeeded',
  'partially_refunded',
  'refunded',
  'failed',
  'errored',
  'canceled',
];

const REFUND_REASONS: readonly Refund['reason'][] = [
  'requested_by_customer',
  'duplicate',
  'fraudulent',
];

const KINDS: Readonly<Record<Payment['transactionType'], string>> = {
  PURCHASE: 'Purchase',
  SUBSCRIPTION_START: 'Subscription start',
  RECURRING: 'Renewal',
};

const PAYMENT_FILTERS = {
  status: choice({ label: 'State', values: PAYMENT_STATUSES, none: 'All' }),
  customer: textField({ label: 'Customer: e-mail, id or your id', type: 'search' }),
};

const REFUND = {
  amount: textField({
    label: 'Amount',
    hint: 'Leave empty to refund all that is left.',
    maxlength: 20,
  }),
  reason: choice({ label: 'Reason', values: REFUND_REASONS }),
};

/** Searches payments by state and customer. */
export function paymentsPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly Payment[]; readonly hasMore: boolean },
): Html {
  return html`${heading('Payments')} ${faultNotice(place)}
  ${filters(drawFilters(place, PAYMENT_FILTERS))} ${paymentTable(place, data)}
  ${pager(place, { hasMore, last: data.at(-1)?.id })}`;
}

function paymentTable(place: Place, payments: readonly Payment[]): Html {
  return table({
    caption: 'Payments, newest first',
    columns: [
      'When',
      { label: 'Amount', isNumber: true },
      'State',
      'Customer',
      'For',
      { label: 'Refunded', isNumber: true },
    ],
    rows: payments.map((payment) => [
      link(place, `/payments/${payment.id}`, instant(place, payment.createdAt)),
      money(payment.amount, payment.currency),
      badge(payment.status),
      customerOf(place, payment),
      KINDS[payment.transactionType],
      isNone(payment.amountRefunded) ? null : money(payment.amountRefunded, payment.currency),
    ]),
    empty: 'No payments match these filters.',
  });
}

function customerOf(place: Place, { customerId, customerEmail }: Payment): Cell {
  if (customerId === null) return customerEmail;
  return link(place, `/customers/${customerId}`, customerEmail ?? code(customerId));
}

function methodOf({ type, brand, last4 }: PaymentMethod): Html {
  const name = type === 'bank_debit' ? 'Bank debit' : (brand ?? 'Card');
  return html`${name} ${code(`•••• ${last4}`)}`;
}

/** What is left of a payment, and what was or is being given back. */
function left(payment: Payment): (readonly [string, Cell] | null)[] {
  const { currency, amountRefunded, amountRefundPending, refundableAmount } = payment;
  return [
    ['Refunded', money(amountRefunded, currency)],
    isNone(amountRefundPending) ? null : ['Refund pending', money(amountRefundPending, currency)],
    ['Refundable', money(refundableAmount, currency)],
  ];
}

export function paymentPage(
  place: Place,
  { payment, refunds }: { readonly payment: Payment; readonly refunds: readonly Refund[] },
): Html {
  const { id, currency, checkoutId, subscriptionId, invoiceId, disputes = [] } = payment;
  const canRefund = place.may('refundPayment') && !isNone(payment.refundableAmount);
  const to = (path: string, other: string | null) =>
    other === null ? null : link(place, `${path}/${other}`, code(other));
  return html`${heading(money(payment.amount, currency), {
    under: html`${badge(payment.status, 'state')} ${KINDS[payment.transactionType]}`,
    actions: [canRefund ? button(place, `/payments/${id}/refund`, 'Refund', false) : null],
  })}
  ${live(
    'payment',
    facts([
      ['Payment', code(id)],
      ['Customer', customerOf(place, payment)],
      ['Paid with', payment.paymentMethod === null ? null : methodOf(payment.paymentMethod)],
      ['Created', instant(place, payment.createdAt)],
      ['Paid', instant(place, payment.paidAt)],
      payment.failureCode === null
        ? null
        : ['Failure', `${words(payment.failureCode)}: ${payment.failureMessage ?? ''}`],
      ...left(payment),
      ['Invoice', to('/invoices', invoiceId)],
      ['Subscription', to('/subscriptions', subscriptionId)],
      ['Product', to('/products', payment.productId)],
      ['Checkout', to('/checkouts', checkoutId)],
      payment.clientReferenceId === null ? null : ['Client reference', payment.clientReferenceId],
      ...Object.entries(payment.metadata).map(([name, text]) => [name, text] as const),
    ]),
  )}
  ${section('Refunds', live('refunds', refundTable(place, refunds)))}
  ${disputes.length === 0 ? null : section('Disputes', disputeTable(place, disputes, currency))}`;
}

function refundTable(place: Place, refunds: readonly Refund[]): Html {
  return table({
    caption: 'Refunds, newest first',
    columns: ['When', { label: 'Amount', isNumber: true }, 'State', 'Reason', 'Settled', 'Id'],
    rows: refunds.map((refund) => [
      instant(place, refund.createdAt),
      money(refund.amount, refund.currency),
      refund.failureReason === null
        ? badge(refund.status)
        : html`${badge(refund.status)} ${words(refund.failureReason)}`,
      words(refund.reason),
      instant(place, refund.settledAt),
      code(refund.id),
    ]),
    empty: 'No refunds yet.',
  });
}

function disputeTable(place: Place, disputes: readonly Dispute[], currency: string): Html {
  return table({
    caption: 'Disputes, oldest first',
    columns: [
      'Opened',
      { label: 'Amount', isNumber: true },
      'State',
      'Reason',
      'Closed',
      'Reference',
    ],
    rows: disputes.map((dispute) => [
      instant(place, dispute.openedAt),
      money(dispute.amount, currency),
      badge(dispute.status),
      words(dispute.reason),
      instant(place, dispute.closedAt),
      code(dispute.reference),
    ]),
    empty: 'No disputes.',
  });
}

/** Asks how much of a payment is given back. */
export function refundPage(place: Place, payment: Payment): Html {
  const { id, currency, refundableAmount } = payment;
  const back = `/payments/${id}`;
  if (isNone(refundableAmount)) {
    return html`${heading('Refund')}
      <p>Nothing of this payment is left to refund.</p>
      <p>${link(place, back, 'Back to the payment')}</p>`;
  }
  return confirmPage(place, {
    title: 'Refund',
    text: html`<p>
        The money goes back to the payment method. A pending refund counts as refunded until the
        processor has confirmed or declined it.
      </p>
      ${facts([['Paid', money(payment.amount, currency)], ...left(payment)])}`,
    submit: 'Refund',
    isGrave: true,
    back,
    fields: drawFields(place, REFUND, {
      values: { amount: refundableAmount },
      labels: { amount: `Amount in ${currency}` },
    }),
  });
}
