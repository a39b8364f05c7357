// The automatic top-ups of a customer: what they are and how they stand, and the form that sets
// one.
import type { AutoTopup, Customer, Meter, Product } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { checkbox, field, form, select } from '../parts/forms.ts';
import { button, heading, link, section } from '../parts/parts.ts';
import { table } from '../parts/tables.ts';
import { badge, instant, quantity } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

/** How often a limit begins anew. */
export const LIMIT_INTERVALS = ['day', 'week', 'month'] as const;

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

type Choice = {
  readonly meters: readonly Meter[];
  readonly products: readonly Product[];
  /** What is there already. */
  readonly current: AutoTopup | null;
};

export function autoTopupForm(
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
        : form(place, {
            to,
            submit: 'Save top-up',
            fields: [
              select(place, {
                name: 'feature_key',
                label: 'Feature',
                value: current?.featureKey ?? '',
                options: features.map(({ slug, name: label }) => ({ value: slug, label })),
              }),
              checkbox(place, {
                name: 'enabled',
                label: 'Enabled',
                isChecked: current?.enabled ?? true,
              }),
              field(place, {
                name: 'threshold',
                label: 'Threshold',
                value: String(current?.threshold ?? ''),
                isRequired: true,
              }),
              field(place, {
                name: 'amount',
                label: 'Units to add',
                value: String(current?.amount ?? ''),
                isRequired: true,
              }),
              select(place, {
                name: 'price_id',
                label: 'Price',
                value: current?.priceId ?? '',
                options: prices,
              }),
              field(place, {
                name: 'limit.count',
                label: 'Maximum charges',
                value: String(current?.limit?.count ?? ''),
                hint: 'Leave empty for no limit.',
              }),
              select(place, {
                name: 'limit.interval',
                label: 'Per',
                value: current?.limit?.interval ?? 'month',
                options: LIMIT_INTERVALS.map((value) => ({ value, label: value })),
              }),
            ],
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
