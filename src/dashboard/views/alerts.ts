// Alerts: the thresholds of a feature or of a customer, and the form that makes one.
import type { Alert, CustomerAlert, Customer, Meter } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { field, form, select } from '../parts/forms.ts';
import { button, heading, link, section } from '../parts/parts.ts';
import { table } from '../parts/tables.ts';
import { badge, code, quantity } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

const SENTENCES = {
  usage: (threshold) => `${threshold} used`,
  usage_percentage: (threshold) => `${threshold} % used`,
  remaining: (threshold) => `${threshold} left`,
  remaining_percentage: (threshold) => `${threshold} % left`,
} as const satisfies Record<Alert['type'], (threshold: string) => string>;

export const ALERT_TYPES = Object.keys(SENTENCES) as readonly Alert['type'][];

/** "80 % used". */
export function alertWords({ type, threshold }: Pick<Alert, 'type' | 'threshold'>): string {
  return SENTENCES[type](quantity(threshold));
}

/** Of a customer: its own, and those for each customer. */
/** Alerts that the page of a customer shows. */
const ALERTS_MAX = 100;

export function customerAlertsSection(
  place: Place,
  at: string,
  alerts: readonly CustomerAlert[],
): Html {
  const more = alerts.length - ALERTS_MAX;
  return section(
    'Alerts',
    html`${table({
      caption: 'Alerts of this customer',
      columns: ['Feature', 'Alert', 'State', 'For', ''],
      rows: alerts
        .slice(0, ALERTS_MAX)
        .map((alert) => [
          alert.featureKey,
          alertWords(alert),
          badge(alert.triggered ? 'fired' : 'armed'),
          alert.customerId === null ? 'each customer' : 'this customer',
          removal(place, alert),
        ]),
      empty: 'No alerts yet.',
    })}
    ${more > 0 ? html`<p class="muted">And ${more} more. The page of a feature lists its alerts.</p>` : null}`,
    place.may('createAlert') ? [button(place, `${at}/alert`, 'New alert')] : [],
  );
}

/** Of a meter: those for each customer and of single ones, the newest. */
export function meterAlertsSection(
  place: Place,
  at: string,
  { data, hasMore }: { readonly data: readonly Alert[]; readonly hasMore: boolean },
): Html {
  return section(
    'Alerts',
    html`${table({
      caption: 'Alerts, newest first',
      columns: ['Alert', 'For', ''],
      rows: data.map((alert) => [
        alertWords(alert),
        alert.customerId === null
          ? 'each customer'
          : link(
              place,
              `/customers/${alert.customerId}`,
              alert.externalCustomerId ?? code(alert.customerId),
            ),
        removal(place, alert),
      ]),
      empty: 'No alerts yet.',
    })}
    ${hasMore ? html`<p class="muted">There are more, for other customers.</p>` : null}`,
    place.may('createAlert') ? [button(place, `${at}/alert`, 'New alert')] : [],
  );
}

function removal(place: Place, { id }: Alert): Html | null {
  return place.may('deleteAlert') ? link(place, `/alerts/${id}/delete`, 'Delete') : null;
}

/** On a meter for each customer, or of a customer on one of these meters. */
export function alertForm(
  place: Place,
  of:
    | { readonly meter: Meter }
    | { readonly customer: Customer; readonly meters: readonly Meter[] },
): Html {
  const isOfMeter = 'meter' in of;
  const back = isOfMeter ? `/meters/${of.meter.id}` : `/customers/${of.customer.id}`;
  if (!isOfMeter && of.meters.length === 0) {
    return html`${heading('New alert')}
      <p class="empty">There is no feature yet. Create a meter first.</p>`;
  }
  const feature = isOfMeter
    ? null
    : select(place, {
        name: 'feature_key',
        label: 'Feature',
        options: of.meters.map(({ slug, name }) => ({ value: slug, label: `${name} (${slug})` })),
      });
  return html`${heading('New alert')}
    <p>
      ${
        isOfMeter
          ? html`For each customer of ${code(of.meter.slug)} who reaches the threshold.`
          : 'For this customer, whenever it reaches the threshold.'
      }
      Webhook endpoints that subscribe to ${code('alert.triggered')} get an event.
    </p>
    ${form(place, {
      to: place.path,
      submit: 'Create alert',
      fields: [
        feature,
        select(place, {
          name: 'type',
          label: 'Condition',
          options: ALERT_TYPES.map((type) => ({ value: type, label: SENTENCES[type]('…') })),
        }),
        field(place, {
          name: 'threshold',
          label: 'Threshold',
          hint: 'In units of the feature, or in percent of the limit.',
          isRequired: true,
        }),
      ],
    })}
    <p>${button(place, back, 'Cancel')}</p>`;
}
