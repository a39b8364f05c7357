// One customer, on one page: who it is, what it may use and why, what it bought.
import type {
  AutoTopup,
  CreditBalance,
  Customer,
  CustomerAlert,
  CustomField,
  Decision,
  Event,
  Invoice,
  Payment,
  SpendCap,
  Subscription,
  Tag,
} from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { customerAlertsSection } from './alerts.ts';
import { creditSection } from '../parts/credit.ts';
import { autoTopupsSection } from './auto-topups.ts';
import { balancesSection, type FeatureBalance } from './balances.ts';
import { denialsSection } from './customer-denials.ts';
import { type CustomerUsage, usageSection } from './customer-usage.ts';
import { button, facts, heading, link, section } from '../parts/parts.ts';
import { table } from '../parts/tables.ts';
import { badge, code, day, instant, money, whole } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { words } from '../parts/words.ts';

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
