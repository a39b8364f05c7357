// The automatic top-ups of a customer: how they stand, and the page that sets or removes one.
import type { AutoTopup, Customer, Meter, Product } from '../client/types.ts';
import { choice, numberField, pick, textField, tick } from './form/field.ts';
import { drawForm, read } from './form/form.ts';
import { form } from './parts/forms.ts';
import { button, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { table } from './parts/tables.ts';
import { badge, instant, quantity } from './parts/values.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { orNone } from './serve/refusals.ts';
import { type Html, html } from '../pages/html.ts';

/** Of each select. */
const CHOICES_MAX = 200;

const idOf = ({ params }: Visit): string => params['id'] ?? '';

export const AUTO_TOPUP_PAGES: readonly DashboardPage[] = [
  {
    path: '/customers/:id/auto-topup',
    title: 'Automatic top-up',
    section: 'customers',
    needs: ['getCustomer', 'listMeters', 'listProducts', 'getAutoTopup', 'putAutoTopup'],
    show,
    act: { needs: ['putAutoTopup', 'deleteAutoTopup'], run: set },
  },
];

async function show({ api, query, place, ...visit }: Visit) {
  const id = visit.params['id'] ?? '';
  const feature = query.get('feature_key') ?? '';
  const customer = await api.customers.retrieve(id);
  const { data: meters } = await api.meters.list({ limit: CHOICES_MAX });
  const { data: products } = await api.products.list({ limit: CHOICES_MAX });
  const isNamed = meters.some(({ slug }) => slug === feature);
  const current = isNamed ? await orNone(api.customers.retrieveAutoTopup(id, feature)) : null;
  const active = meters.filter(({ status }) => status === 'active');
  return autoTopupForm(place, customer, { meters: active, products, current });
}

async function set(visit: Visit): Promise<Done> {
  const { api } = visit;
  const id = idOf(visit);
  const { featureKey, limit, ...topup } = read(visit, TOPUP);
  const to = `/customers/${id}`;
  if (visit.form.has('remove')) {
    await api.customers.delAutoTopup(id, featureKey);
    return { to, notice: 'removed' };
  }
  const { count, interval } = limit;
  await api.customers.putAutoTopup(id, featureKey, {
    ...topup,
    limit: count === undefined ? null : { count, interval },
  });
  return { to, notice: 'changed' };
}

/** How often a limit begins anew. */
const LIMIT_INTERVALS = ['day', 'week', 'month'] as const;

export function autoTopupsSection(
  place: Place,
  at: string,
  autoTopups: readonly AutoTopup[],
): Html {
  const add = place.may('putAutoTopup') ? [button(place, `${at}/auto-topup`, 'Set up')] : [];
  const title = 'Automatic top-ups';
  if (autoTopups.length === 0) {
    return section(title, html`<p class="empty">None. Nothing is charged automatically.</p>`, add);
  }
  return section(
    title,
    table({
      caption: 'Automatic top-ups of this customer',
      columns: [
        'Feature',
        { label: 'Adds', isNumber: true },
        { label: 'Below', isNumber: true },
        'At most',
        'State',
        'Next attempt',
        'Last payment',
        '',
      ],
      rows: autoTopups.map((one) => rowOf(place, at, one)),
      empty: 'None.',
    }),
    add,
  );
}

function rowOf(place: Place, at: string, one: AutoTopup): readonly (Html | string | null)[] {
  const { featureKey, amount, threshold, limit, paymentId, nextAttemptAt } = one;
  const to = `${at}/auto-topup?feature_key=${encodeURIComponent(featureKey)}`;
  return [
    featureKey,
    quantity(amount),
    quantity(threshold),
    limit === null ? 'no limit' : `${limit.count} a ${limit.interval}`,
    badge(one.enabled ? (one.reason ?? one.status) : 'off'),
    nextAttemptAt === null ? null : instant(place, nextAttemptAt),
    paymentId === null ? null : link(place, `/payments/${paymentId}`, 'Payment'),
    place.may('putAutoTopup') ? link(place, to, 'Change') : null,
  ];
}

const TOPUP = {
  featureKey: pick({ label: 'Feature', isRequired: true }),
  enabled: tick({ label: 'Enabled', isChecked: true }),
  threshold: textField({ label: 'Threshold', isRequired: true }),
  amount: textField({ label: 'Units to add', isRequired: true }),
  priceId: pick({ label: 'Price', isRequired: true }),
  limit: {
    count: numberField({ label: 'Maximum charges', hint: 'Leave empty for no limit.' }),
    interval: choice({
      label: 'Per',
      values: LIMIT_INTERVALS,
      value: 'month',
      otherwise: 'month',
    }),
  },
};

type Choice = {
  readonly meters: readonly Meter[];
  readonly products: readonly Product[];
  /** What is there already. */
  readonly current: AutoTopup | null;
};

function autoTopupForm(
  place: Place,
  customer: Customer,
  { meters, products, current }: Choice,
): Html {
  const to = `/customers/${customer.id}/auto-topup`;
  const name = customer.name ?? customer.email ?? customer.externalCustomerId ?? customer.id;
  const prices = pricesOf(products, current);
  const features = meters.filter(({ aggregation }) => ['sum', 'count'].includes(aggregation));
  return html`${heading('Automatic top-up', { under: link(place, `/customers/${customer.id}`, name) })}
    <p>
      When fewer units than the threshold are left, the customer's newest payment method is charged
      the price, and the units are granted.
    </p>
    ${
      features.length === 0 || prices.length === 0
        ? html`<p class="empty">
            An automatic top-up needs a meter that sums or counts, and a one-time price.
          </p>`
        : drawForm(place, TOPUP, {
            to,
            submit: 'Save top-up',
            values: current,
            options: {
              featureKey: features.map(({ slug, name: label }) => ({ value: slug, label })),
              priceId: prices,
            },
          })
    }
    ${removal(place, to, current)}`;
}

function removal(place: Place, to: string, current: AutoTopup | null): Html | null {
  if (current === null || !place.may('deleteAutoTopup')) return null;
  return section(
    'Remove',
    form(place, {
      to,
      submit: `Remove the top-up of ${current.featureKey}`,
      hidden: { remove: 'true', feature_key: current.featureKey },
      isGrave: true,
    }),
  );
}

/** One-time prices that are for sale, and the one that it has. */
function pricesOf(products: readonly Product[], current: AutoTopup | null) {
  return products.flatMap(({ name, status, prices }) =>
    prices
      .filter(
        ({ id, type, status: own }) =>
          id === current?.priceId ||
          (type === 'one_time' && status === 'active' && own === 'active'),
      )
      .map(({ id, amount, currency }) => ({ value: id, label: `${name}: ${amount} ${currency}` })),
  );
}
