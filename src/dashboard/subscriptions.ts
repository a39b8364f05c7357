// Subscriptions: their state, what comes next, what happened.
import { type Action, legalActions } from '../../ledger/subscriptions/transitions.ts';
import { type Tollhouse, TollhouseError } from '../client/index.ts';
import type { OperationId } from '../client/operations.ts';
import type { Event, Invoice, Subscription, UpcomingInvoice } from '../client/types.ts';
import { isNone } from './parts/amounts.ts';
import { faultNotice } from './parts/forms.ts';
import { lineTable } from './parts/invoice-lines.ts';
import { button, facts, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filters, pager, table } from './parts/tables.ts';
import { badge, code, instant, money, whole } from './parts/values.ts';
import { words } from './parts/words.ts';
import { customerFilter, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { choice, textField } from './form/field.ts';
import { drawFilters, readFilters } from './form/form.ts';
import { type Html, html } from '../pages/html.ts';

/** As many as are shown of what belongs to one. */
const OF_ONE = 50;

export const SUBSCRIPTION_PAGES: readonly DashboardPage[] = [
  {
    path: '/subscriptions',
    title: 'Subscriptions',
    section: 'subscriptions',
    needs: ['listSubscriptions'],
    show: showSubscriptions,
  },
  {
    path: '/subscriptions/:id',
    title: 'Subscription',
    section: 'subscriptions',
    needs: ['getSubscription', 'getUpcomingInvoice', 'listInvoices', 'listPayments', 'listEvents'],
    show: showSubscription,
  },
  {
    path: '/dunning',
    title: 'Unpaid',
    section: 'subscriptions',
    needs: ['listInvoices', 'getSubscription'],
    show: showDunning,
  },
];

async function showSubscriptions(visit: Visit) {
  const { api, query } = visit;
  const { customer: named, ...asked } = readFilters(visit, SUBSCRIPTION_FILTERS);
  const { place, rows } = await searched(visit.place, async () => {
    const customer = await customerFilter(api, named);
    if (customer === null) return null;
    return api.subscriptions.list({ ...pageOf(query), ...customer, ...asked });
  });
  return subscriptionsPage(place, rows);
}

async function showSubscription({ api, place, params: { id = '' } }: Visit) {
  const [standing, upcoming, events] = await Promise.all([
    standingOf(api, id),
    readUpcoming(api, id),
    api.events.list({ objectId: id, limit: OF_ONE }),
  ]);
  return subscriptionPage(place, { ...standing, upcoming, events: events.data });
}

/** A subscription, what it owes, and what may be done with it now. */
export async function standingOf(api: Tollhouse, id: string) {
  const [subscription, open] = await Promise.all([
    api.subscriptions.retrieve(id),
    api.invoices.list({ subscriptionId: id, status: 'open', limit: OF_ONE }),
  ]);
  const { trialEnd, currentPeriodEnd, cancellationEffectiveAt } = subscription;
  const legal = legalActions({
    status: subscription.status,
    // A trial is the period before the first one.
    periodIndex: trialEnd !== null && trialEnd === currentPeriodEnd ? -1 : 0,
    cancelAt: cancellationEffectiveAt === null ? null : Date.parse(cancellationEffectiveAt),
    // That of a change that was taken back too, until its bank has decided.
    open: open.data.map(() => ({})),
    waiting: subscription.pendingChange,
  });
  const actions = legal.filter((action) => CHANGES[action](subscription));
  return { subscription, open: open.data, actions };
}

/** Whether a legal action would change anything. */
const CHANGES: Readonly<Record<Action, (subscription: Subscription) => boolean>> = {
  cancel: () => true,
  uncancel: ({ cancelAtPeriodEnd }) => cancelAtPeriodEnd,
  pause: () => true,
  resume: ({ status }) => status === 'paused',
  change: () => true,
  unschedule: () => true,
  end_trial: () => true,
};

/** null after the end: nothing more is billed. */
export async function readUpcoming(api: Tollhouse, id: string): Promise<UpcomingInvoice | null> {
  try {
    return await api.subscriptions.upcomingInvoice(id);
  } catch (error) {
    if (error instanceof TollhouseError && error.type === 'invalid_state') return null;
    throw error;
  }
}

async function showDunning({ api, query, place: at }: Visit) {
  const { place, rows } = await searched(at, () =>
    api.invoices.list({ ...pageOf(query), status: 'open' }),
  );
  const ids = new Set(rows.data.flatMap(({ subscriptionId }) => subscriptionId ?? []));
  const found = await Promise.all([...ids].map((id) => api.subscriptions.retrieve(id)));
  const byId = new Map(found.map((subscription) => [subscription.id, subscription]));
  return dunningPage(place, {
    hasMore: rows.hasMore,
    rows: rows.data.map((invoice) => ({
      invoice,
      subscription: byId.get(invoice.subscriptionId ?? '') ?? null,
    })),
  });
}

export const SUBSCRIPTION_STATUSES: readonly Subscription['status'][] = [
  'active',
  'paused',
  'canceled',
];

const SUBSCRIPTION_FILTERS = {
  status: choice({ label: 'State', values: SUBSCRIPTION_STATUSES, none: 'All' }),
  customer: textField({ label: 'Customer: e-mail, id or your id', type: 'search' }),
};

function subscriptionsPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly Subscription[]; readonly hasMore: boolean },
): Html {
  return html`${heading('Subscriptions', {
    actions: [place.may('listInvoices') ? button(place, '/dunning', 'Unpaid') : null],
  })}
  ${faultNotice(place)} ${filters(drawFilters(place, SUBSCRIPTION_FILTERS))}
  ${table({
    caption: 'Subscriptions, newest first',
    columns: ['Plan', 'Customer', 'State', 'Period ends', 'Since'],
    rows: data.map((subscription) => [
      link(place, `/subscriptions/${subscription.id}`, subscription.planName),
      customerOf(place, subscription),
      stateOf(subscription),
      instant(place, subscription.currentPeriodEnd),
      instant(place, subscription.createdAt),
    ]),
    empty: 'No subscriptions match these filters.',
  })}
  ${pager(place, { hasMore, last: data.at(-1)?.id })}`;
}

function customerOf(
  place: Place,
  { customerId, customerEmail }: Pick<Subscription, 'customerId' | 'customerEmail'>,
): Html {
  return link(place, `/customers/${customerId}`, customerEmail ?? code(customerId));
}

function stateOf({ status, overdueState, cancelAtPeriodEnd }: Subscription): Html {
  return html`${badge(status)}
  ${overdueState === 'clear' ? null : badge(overdueState === 'blocked' ? 'blocked' : 'past_due')}
  ${cancelAtPeriodEnd ? html`<small>ends</small>` : null}`;
}

type Offer = {
  readonly action: Action;
  readonly path: string;
  readonly label: string;
  readonly needs: OperationId;
};

/** In the order in which they stand on the page. */
const OFFERS: readonly Offer[] = [
  { action: 'end_trial', path: 'end-trial', label: 'End trial', needs: 'endTrial' },
  { action: 'change', path: 'change', label: 'Change plan', needs: 'changeSubscription' },
  { action: 'pause', path: 'pause', label: 'Pause', needs: 'pauseSubscription' },
  { action: 'resume', path: 'resume', label: 'Resume', needs: 'resumeSubscription' },
  {
    action: 'uncancel',
    path: 'uncancel',
    label: 'Undo cancellation',
    needs: 'uncancelSubscription',
  },
  {
    action: 'unschedule',
    path: 'unschedule',
    label: 'Undo change',
    needs: 'unscheduleSubscription',
  },
  { action: 'cancel', path: 'cancel', label: 'Cancel', needs: 'cancelSubscription' },
];

type SubscriptionView = {
  readonly subscription: Subscription;
  /** What would change something, and is legal. */
  readonly actions: readonly Action[];
  /** null after its end. */
  readonly upcoming: UpcomingInvoice | null;
  readonly open: readonly Invoice[];
  readonly events: readonly Event[];
};

function subscriptionPage(place: Place, view: SubscriptionView): Html {
  const { subscription, actions, upcoming, open, events } = view;
  const { id, productId } = subscription;
  const offers = OFFERS.filter(({ action, needs }) => actions.includes(action) && place.may(needs));
  return html`${heading(subscription.planName, {
    under: html`${stateOf(subscription)} ${code(id)}`,
    actions: offers.map(({ path, label }) => button(place, `/subscriptions/${id}/${path}`, label)),
  })}
  ${facts([
    ['Customer', customerOf(place, subscription)],
    ['Product', link(place, `/products/${productId}`, code(productId))],
    ['Quantity', String(subscription.quantity)],
    [
      'Period',
      html`${instant(place, subscription.currentPeriodStart)} to
      ${instant(place, subscription.currentPeriodEnd)}`,
    ],
    optional('Pending change', pendingOf(place, subscription)),
    optional('Trial until', instant(place, subscription.trialEnd)),
    optional('Ends', instant(place, subscription.cancellationEffectiveAt)),
    optional('Next retry', instant(place, subscription.nextRetryAt)),
    optional('Paused', instant(place, subscription.pausedAt)),
    optional('Resumes', instant(place, subscription.resumesAt)),
    optional('Ended', instant(place, subscription.endedAt)),
    ['Since', instant(place, subscription.createdAt)],
    ...Object.entries(subscription.metadata).map(([name, text]) => [name, text] as const),
  ])}
  ${open.length === 0 ? null : section('Unpaid invoices', openTable(place, open))}
  ${upcoming === null ? null : section('Next invoice', upcomingOf(place, upcoming))}
  ${section('Timeline', timeline(place, events))}`;
}

/** A change that begins when its payment is there. */
function pendingOf(place: Place, { pendingChange, priceId }: Subscription): Html | null {
  if (pendingChange === null) return null;
  const { quantity, invoiceId, paymentId, since } = pendingChange;
  const terms =
    pendingChange.priceId === priceId
      ? html`quantity ${quantity}`
      : html`quantity ${quantity} of the price ${code(pendingChange.priceId)}`;
  return html`A change to ${terms}, since ${instant(place, since)}. It takes effect with
  ${link(place, `/payments/${paymentId}`, 'the payment')} of
  ${link(place, `/invoices/${invoiceId}`, 'its invoice')}`;
}

const optional = (name: string, value: Html | null) =>
  value === null ? null : ([name, value] as const);

/** Of an invoice. */
const numberOf = ({ number, id }: Invoice): Html => (number === null ? code(id) : whole(number));

function openTable(place: Place, open: readonly Invoice[]): Html {
  return table({
    caption: 'Unpaid invoices',
    columns: ['Invoice', { label: 'Due', isNumber: true }, 'Since', 'Attempts'],
    rows: open.map((invoice) => [
      link(place, `/invoices/${invoice.id}`, numberOf(invoice)),
      money(invoice.amountDue, invoice.currency),
      instant(place, invoice.dueAt),
      String(invoice.attempts),
    ]),
    empty: 'No unpaid invoices.',
  });
}

export function upcomingOf(place: Place, upcoming: UpcomingInvoice): Html {
  const { periodEnd, asOf, discountTotal, total, currency } = upcoming;
  const off = html`, after a discount of ${money(discountTotal, currency)}`;
  return html`<p>
      On ${instant(place, periodEnd)}, with what was used until ${instant(place, asOf)}:
      ${money(total, currency)}${isNone(discountTotal) ? null : off}
    </p>
    ${lineTable(place, upcoming)}`;
}

function timeline(place: Place, events: readonly Event[]): Html {
  return table({
    caption: 'Timeline, newest first',
    columns: ['When', 'Change', 'State', 'Event'],
    rows: events.map((event) => [
      instant(place, event.timestamp),
      words(event.type.replace('.', ' ')),
      'status' in event.data && typeof event.data.status === 'string'
        ? badge(event.data.status)
        : null,
      code(event.id),
    ]),
    empty: 'No events. They are kept for 30 days.',
  });
}

function nextTryOf(place: Place, { nextRetryAt }: Subscription): Html | null {
  if (nextRetryAt === null) return null;
  return html`<br /><small class="muted">next retry ${instant(place, nextRetryAt)}</small>`;
}

/** Subscriptions that are not paid for, and what is owed. */
function dunningPage(
  place: Place,
  of: {
    readonly rows: readonly {
      readonly invoice: Invoice;
      readonly subscription: Subscription | null;
    }[];
    readonly hasMore: boolean;
  },
): Html {
  return html`${heading('Unpaid', {
    under: 'Open invoices, newest first. A failed charge is retried on the schedule.',
  })}
  ${faultNotice(place)}
  ${table({
    caption: 'Open invoices, newest first',
    columns: [
      'Invoice',
      { label: 'Amount due', isNumber: true },
      'Due',
      { label: 'Attempts', isNumber: true },
      'Subscription',
      'Customer',
    ],
    rows: of.rows.map(({ invoice, subscription }) => [
      link(place, `/invoices/${invoice.id}`, numberOf(invoice)),
      money(invoice.amountDue, invoice.currency),
      instant(place, invoice.dueAt),
      String(invoice.attempts),
      subscription === null
        ? null
        : html`${link(place, `/subscriptions/${subscription.id}`, subscription.planName)}
          ${stateOf(subscription)} ${nextTryOf(place, subscription)}`,
      subscription === null
        ? invoice.customerId === null
          ? null
          : link(place, `/customers/${invoice.customerId}`, code(invoice.customerId))
        : customerOf(place, subscription),
    ]),
    empty: 'No unpaid invoices.',
  })}
  ${pager(place, { hasMore: of.hasMore, last: of.rows.at(-1)?.invoice.id })}`;
}
