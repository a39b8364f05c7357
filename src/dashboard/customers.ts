// One customer, on one page: who it is, what it may use and why, what it bought.
import type {
  AutoTopup,
  CreditBalance,
  CustomField,
  Customer,
  CustomerAlert,
  Decision,
  Event,
  Invoice,
  Payment,
  SpendCap,
  Subscription,
  Tag,
} from '../client/types.ts';
import { customerAlertsSection } from './alerts.ts';
import { AUTO_TOPUP_PAGES, autoTopupsSection } from './auto-topups.ts';
import { CUSTOMER_ACTIONS } from './customer-actions.ts';
import { type CustomerUsage, denialsOf, usageOf, usageSection } from './customer-usage.ts';
import { creditSection } from './parts/credit.ts';
import { button, facts, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filterField, filters, pager, table } from './parts/tables.ts';
import { badge, code, day, instant, money, whole } from './parts/values.ts';
import { words } from './parts/words.ts';
import { metersOf, poolOf } from './pools.ts';
import { filterOf, ledBy, pageOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { orNone } from './serve/refusals.ts';
import { given } from './form/typed.ts';
import {
  FEATURES_PARAMETER,
  type FeatureBalance,
  balancesSection,
  grantsPage,
} from './views/balances.ts';
import { denialsSection } from './views/customer-denials.ts';
import { type Html, html } from '../pages/html.ts';

/** Features on a page, and grants of each: a feature's own page has the rest. */
const FEATURES = 10;
const GRANTS = 10;
const GRANTS_A_PAGE = 100;
/** Of what a customer bought: the rest is in its own section. */
const NEWEST = 5;
const EVENTS = 10;
const LABELS_MAX = 100;

export const CUSTOMER_PAGES: readonly DashboardPage[] = [
  {
    path: '/customers',
    title: 'Customers',
    section: 'customers',
    needs: ['listCustomers', 'getCustomer'],
    show: showCustomers,
  },
  // Before the page of one: `new` is no id.
  ...CUSTOMER_ACTIONS,
  ...AUTO_TOPUP_PAGES,
  {
    path: '/customers/:id',
    title: 'Customer',
    section: 'customers',
    needs: [
      'getCustomer',
      'listBalances',
      'listGrants',
      'getMeter',
      'listMeters',
      'getUsage',
      'listDecisions',
      'getSpendCap',
      'getCredit',
      'listCustomerAlerts',
      'listAutoTopups',
      'listTags',
      'listCustomFields',
      'listSubscriptions',
      'listEvents',
      'listPayments',
      'listInvoices',
    ],
    show: showCustomer,
  },
  {
    path: '/customers/:id/grants',
    title: 'Grants of a customer',
    section: 'customers',
    needs: ['getCustomer', 'listGrants'],
    show: showGrants,
  },
];

/** By what an address begins with, or by one of its two ids. */
async function showCustomers({ api, query, place }: Visit) {
  const search = filterOf(query, 'search');
  const page = await api.customers.list({ ...pageOf(query), ...given({ emailPrefix: search }) });
  // A path of dots is another path.
  const isReference = search !== undefined && !/^\.+$/.test(search);
  const named = isReference ? await orNone(api.customers.retrieve(search)) : null;
  return customersPage(place, ledBy(page, named));
}

/** Lists are read in turn: an organisation has few places in their lane. */
async function showCustomer(visit: Visit) {
  const { api, params, place, query } = visit;
  const customer = await api.customers.retrieve(params['id'] ?? '');
  const { id } = customer;
  const [{ data: balances, nextCursor: nextFeatures }, spendCap] = await Promise.all([
    api.customers.listBalances(id, {
      limit: FEATURES,
      ...given({ cursor: filterOf(query, FEATURES_PARAMETER) }),
    }),
    orNone(api.customers.retrieveSpendCap(id)),
  ]);
  const [{ data: autoTopups }, { data: alerts }, meters] = await Promise.all([
    api.customers.listAutoTopups(id),
    api.alerts.listOfCustomer(id),
    metersOf(api),
  ]);
  const features = await Promise.all(
    balances.map(async (balance) => {
      const { featureKey, meterId } = balance;
      const grants = await api.grants.list(id, { featureKey, limit: GRANTS });
      return {
        balance,
        grants: grants.data,
        hasMoreGrants: grants.nextCursor !== null,
        alerts: alerts.filter((alert) => alert.meterId === meterId),
        pool: poolOf(featureKey, meters),
      };
    }),
  );
  const usage = await usageOf(visit, id, features);
  const denials = await denialsOf(visit, id);
  const labels = { objectId: id, limit: LABELS_MAX };
  const { data: tags } = await api.tags.list(labels);
  const { data: fields } = await api.customFields.list(labels);
  const newestOf = { customerId: id, limit: NEWEST };
  const { data: newest } = await api.subscriptions.list(newestOf);
  const subscriptions = [];
  for (const subscription of newest) {
    const { data: events } = await api.events.list({ objectId: subscription.id, limit: EVENTS });
    subscriptions.push({ subscription, events });
  }
  const { data: credit } = await api.customers.retrieveCredit(id);
  const { data: payments } = await api.payments.list(newestOf);
  const { data: invoices } = await api.invoices.list(newestOf);
  const limits = { spendCap, autoTopups, alerts };
  const seen = {
    customer,
    features,
    nextFeatures,
    usage,
    denials,
    ...limits,
    credit,
    tags,
    fields,
  };
  return customerPage(place, { ...seen, subscriptions, payments, invoices });
}

/** Grants of one feature, or of all, in the order in which they are used up. */
async function showGrants({ api, params, place, query }: Visit) {
  const customer = await api.customers.retrieve(params['id'] ?? '');
  const featureKey = filterOf(query, 'feature_key');
  const cursor = filterOf(query, 'after');
  const asked = { limit: GRANTS_A_PAGE, ...given({ featureKey, cursor }) };
  return grantsPage(place, { customer, ...(await api.grants.list(customer.id, asked)) });
}

/** The list, newest first. `last` is the id behind which it goes on. */
export function customersPage(
  place: Place,
  of: {
    readonly data: readonly Customer[];
    readonly hasMore: boolean;
    readonly last: string | undefined;
  },
): Html {
  const { data, hasMore, last } = of;
  return html`${heading('Customers', {
    actions: [place.may('createCustomer') ? button(place, '/customers/new', 'New customer') : null],
  })}
  ${filters([
    filterField(place, {
      name: 'search',
      label: 'E-mail (or its beginning) or id',
      type: 'search',
      maxlength: 254,
    }),
  ])}
  ${table({
    caption: 'Customers, newest first',
    columns: ['E-mail', 'Name', 'Your id', 'Created'],
    rows: data.map((customer) => [
      link(place, `/customers/${customer.id}`, customer.email ?? code(customer.id)),
      customer.name,
      customer.externalCustomerId,
      instant(place, customer.createdAt),
    ]),
    empty: place.query.has('search') ? 'No customers match this search.' : 'No customers yet.',
  })}
  ${pager(place, { hasMore, last })}`;
}

export type CustomerFacts = {
  readonly customer: Customer;
  /** A page of them, and the cursor of the next one. */
  readonly features: readonly FeatureBalance[];
  readonly nextFeatures: string | null;
  readonly usage: CustomerUsage;
  /** The newest few. */
  readonly denials: readonly Decision[];
  readonly spendCap: SpendCap | null;
  readonly credit: readonly CreditBalance[];
  readonly alerts: readonly CustomerAlert[];
  readonly autoTopups: readonly AutoTopup[];
  readonly tags: readonly Tag[];
  readonly fields: readonly CustomField[];
  /** The newest few, each with its newest events. */
  readonly subscriptions: readonly {
    readonly subscription: Subscription;
    readonly events: readonly Event[];
  }[];
  readonly payments: readonly Payment[];
  readonly invoices: readonly Invoice[];
};

export function customerPage(place: Place, of: CustomerFacts): Html {
  const { customer } = of;
  const at = `/customers/${customer.id}`;
  return html`${heading(
    customer.name ?? customer.email ?? customer.externalCustomerId ?? 'A customer',
    {
      under: code(customer.id),
      actions: [
        place.may('createGrant') ? button(place, `${at}/grant`, 'Grant') : null,
        place.may('trackUsage') ? button(place, `${at}/correct`, 'Correct usage') : null,
        place.may('createPortalToken') ? button(place, `${at}/portal-link`, 'Portal link') : null,
        place.may('listDecisions') ? button(place, whyOf(customer), 'Why was it denied?') : null,
        place.may('updateCustomer') ? button(place, `${at}/edit`, 'Edit') : null,
      ],
    },
  )}
  ${who(place, of)} ${balancesSection(place, at, of)} ${usageSection(place, of.usage)}
  ${denialsSection(place, of.denials)} ${cap(place, at, of.spendCap)}
  ${creditSection(place, of.credit)} ${autoTopupsSection(place, at, of.autoTopups)}
  ${customerAlertsSection(place, at, of.alerts)} ${bought(place, of)}`;
}

const whyOf = ({ id }: Customer): string =>
  `/why?${new URLSearchParams({ customer: id }).toString()}`;

function who(place: Place, { customer, tags, fields }: CustomerFacts): Html {
  const { billingAddress: address } = customer;
  const metadata = Object.entries(customer.metadata);
  return html`${facts([
    ['E-mail', customer.email],
    ['Your id', customer.externalCustomerId],
    ['Created', instant(place, customer.createdAt)],
    address === null
      ? null
      : [
          'Address',
          Object.values(address)
            .filter((line) => line !== null)
            .join(', '),
        ],
    ...metadata.map(([name, value]) => [name, value] as const),
    [
      'Tags',
      html`${tags.map(({ name }) => html`<span class="badge dead">${name}</span> `)}
      ${
        place.may('createTag')
          ? link(place, `/customers/${customer.id}/labels`, 'Edit tags and fields')
          : null
      }`,
    ],
    ...fields.map(({ name, value }) => [name, value] as const),
  ])}`;
}

function cap(place: Place, at: string, spendCap: SpendCap | null): Html {
  const change = place.may('putSpendCap') ? [button(place, `${at}/spend-cap`, 'Change')] : [];
  if (spendCap === null) {
    return section(
      'Spend cap',
      html`<p class="empty">None. All usage over the limit is billed.</p>`,
      change,
    );
  }
  const { amount, currency, spent, remaining } = spendCap;
  return section(
    'Spend cap',
    facts([
      ['Maximum per period', money(amount, currency)],
      ['So far', `${spent} ${currency}`],
      ['Left', `${remaining} ${currency}`],
    ]),
    change,
  );
}

function bought(
  place: Place,
  { customer, subscriptions, payments, invoices }: CustomerFacts,
): Html {
  const all = (path: string) => [button(place, `${path}?customer=${customer.id}`, 'All')];
  return html`${section(
    'Subscriptions',
    subscriptions.length === 0
      ? html`<p class="empty">No subscriptions yet.</p>`
      : subscriptions.map((one) => subscribed(place, one)),
    all('/subscriptions'),
  )}
  ${section(
    'Payments',
    table({
      caption: 'Latest payments',
      columns: [
        'Payment',
        'Status',
        { label: 'Amount', isNumber: true },
        { label: 'Refunded', isNumber: true },
        'When',
      ],
      rows: payments.map(({ id, status, amount, amountRefunded, currency, createdAt }) => [
        link(place, `/payments/${id}`, code(id)),
        badge(status),
        money(amount, currency),
        money(amountRefunded, currency),
        instant(place, createdAt),
      ]),
      empty: 'No payments yet.',
    }),
    all('/payments'),
  )}
  ${section(
    'Invoices',
    table({
      caption: 'Latest invoices',
      columns: [
        'Invoice',
        'Status',
        { label: 'Total', isNumber: true },
        { label: 'Due', isNumber: true },
        'Issued',
      ],
      rows: invoices.map(({ id, number, status, total, amountDue, currency, issuedAt }) => [
        link(place, `/invoices/${id}`, number === null ? code(id) : whole(number)),
        badge(status),
        money(total, currency),
        money(amountDue, currency),
        day(place, issuedAt),
      ]),
      empty: 'No invoices yet.',
    }),
    all('/invoices'),
  )}`;
}

/** A subscription, and what happened to it, newest first. */
function subscribed(
  place: Place,
  { subscription, events }: CustomerFacts['subscriptions'][number],
): Html {
  const { id, planName, status, overdueState, quantity } = subscription;
  return html`<h3>${link(place, `/subscriptions/${id}`, planName)}</h3>
    ${facts([
      ['Status', html`${badge(status)} ${overdueState === 'clear' ? null : badge(overdueState)}`],
      quantity === 1 ? null : ['Quantity', String(quantity)],
      [
        'Period',
        html`${day(place, subscription.currentPeriodStart)} –
        ${day(place, subscription.currentPeriodEnd)}`,
      ],
      subscription.trialEnd === null
        ? null
        : ['Trial until', instant(place, subscription.trialEnd)],
      subscription.cancellationEffectiveAt === null
        ? null
        : ['Ends', instant(place, subscription.cancellationEffectiveAt)],
      subscription.resumesAt === null ? null : ['Resumes', instant(place, subscription.resumesAt)],
    ])}
    <ol class="timeline">
      ${events.map(
        ({ type, timestamp }) =>
          html`<li>
            ${instant(place, timestamp)}
            ${words(type.replace('subscription.', '').replace('.', ' '))}
          </li>`,
      )}
    </ol>`;
}
