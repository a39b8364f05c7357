// Alerts: the thresholds of a feature or of a customer, and the form that makes one.
import type { Alert, AlertCreate, Customer, CustomerAlert, Meter } from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { drawForm, read } from './form/form.ts';
import { choice, pick, textField } from './form/field.ts';
import { featuresOf } from './parts/features.ts';
import { button, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { table } from './parts/tables.ts';
import { badge, code, quantity } from './parts/values.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { type Html, html } from '../pages/html.ts';

/** Of a select: more features than this are not offered. */
const FEATURES_MAX = 200;

const idOf = ({ params }: Visit): string => params['id'] ?? '';

/** Alerts are made from the page of a customer or of a meter, and deleted from there. */
export const ALERT_PAGES: readonly DashboardPage[] = [
  {
    path: '/customers/:id/alert',
    title: 'New alert',
    section: 'customers',
    needs: ['getCustomer', 'listMeters', 'createAlert'],
    show: async (visit) => {
      const { api, place } = visit;
      const customer = await api.customers.retrieve(idOf(visit));
      const { data } = await api.meters.list({ limit: FEATURES_MAX });
      return alertForm(place, { customer, meters: data.filter(isActive) });
    },
    act: { needs: ['createAlert'], run: createOfCustomer },
  },
  {
    path: '/meters/:id/alert',
    title: 'New alert',
    section: 'products',
    needs: ['getMeter', 'createAlert'],
    show: async (visit) =>
      alertForm(visit.place, { meter: await visit.api.meters.retrieve(idOf(visit)) }),
    act: { needs: ['createAlert'], run: createOfMeter },
  },
  {
    path: '/alerts/:id/delete',
    title: 'Delete an alert',
    section: 'products',
    needs: ['getAlert', 'deleteAlert'],
    show: async (visit) => {
      const alert = await visit.api.alerts.retrieve(idOf(visit));
      return confirmPage(visit.place, {
        title: 'Delete alert',
        under: `${alert.featureKey}: ${alertWords(alert)}`,
        text: 'It no longer fires.',
        submit: 'Delete',
        isGrave: true,
        back: backOf(alert),
      });
    },
    act: { needs: ['getAlert', 'deleteAlert'], run: remove },
  },
];

const isActive = ({ status }: { readonly status: string }): boolean => status === 'active';

function backOf(alert: { readonly customerId: string | null; readonly meterId: string }): string {
  const { customerId, meterId } = alert;
  return customerId === null ? `/meters/${meterId}` : `/customers/${customerId}`;
}

async function createOfCustomer(visit: Visit): Promise<Done> {
  const { id } = await visit.api.customers.retrieve(idOf(visit));
  await create(visit, { ...read(visit, CUSTOMER_ALERT), customerId: id });
  return { to: `/customers/${id}`, notice: 'created' };
}

async function createOfMeter(visit: Visit): Promise<Done> {
  const { id, slug } = await visit.api.meters.retrieve(idOf(visit));
  await create(visit, { ...read(visit, ALERT), featureKey: slug });
  return { to: `/meters/${id}`, notice: 'created' };
}

async function create({ api, key }: Visit, alert: AlertCreate): Promise<void> {
  await api.alerts.create(alert, given({ idempotencyKey: key }));
}

async function remove(visit: Visit): Promise<Done> {
  const alert = await visit.api.alerts.retrieve(idOf(visit));
  await visit.api.alerts.del(alert.id);
  return { to: backOf(alert), notice: 'removed' };
}

const SENTENCES = {
  usage: (threshold) => `${threshold} used`,
  usage_percentage: (threshold) => `${threshold} % used`,
  remaining: (threshold) => `${threshold} left`,
  remaining_percentage: (threshold) => `${threshold} % left`,
} as const satisfies Record<Alert['type'], (threshold: string) => string>;

const ALERT_TYPES = Object.keys(SENTENCES) as readonly Alert['type'][];

/** "80 % used". */
export function alertWords({ type, threshold }: Pick<Alert, 'type' | 'threshold'>): string {
  return SENTENCES[type](quantity(threshold));
}

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

const ALERT = {
  type: choice({
    label: 'Condition',
    values: ALERT_TYPES,
    called: (type) => SENTENCES[type]('…'),
    otherwise: 'usage',
  }),
  threshold: textField({
    label: 'Threshold',
    hint: 'In units of the feature, or in percent of the limit.',
    isRequired: true,
  }),
};

const CUSTOMER_ALERT = { featureKey: pick({ label: 'Feature', isRequired: true }), ...ALERT };

/** On a meter for each customer, or of a customer on one of these meters. */
export function alertForm(
  place: Place,
  of:
    | { readonly meter: Meter }
    | { readonly customer: Customer; readonly meters: readonly Meter[] },
): Html {
  const isOfMeter = 'meter' in of;
  const submit = 'Create alert';
  const back = isOfMeter ? `/meters/${of.meter.id}` : `/customers/${of.customer.id}`;
  if (!isOfMeter && of.meters.length === 0) {
    return html`${heading('New alert')}
      <p class="empty">There is no feature yet. Create a meter first.</p>`;
  }
  return html`${heading('New alert')}
    <p>
      ${
        isOfMeter
          ? html`For each customer of ${code(of.meter.slug)} who reaches the threshold.`
          : 'For this customer, whenever it reaches the threshold.'
      }
      Webhook endpoints that subscribe to ${code('alert.triggered')} get an event.
    </p>
    ${
      isOfMeter
        ? drawForm(place, ALERT, { submit })
        : drawForm(place, CUSTOMER_ALERT, {
            submit,
            options: { featureKey: featuresOf(of.meters) },
          })
    }
    <p>${button(place, back, 'Cancel')}</p>`;
}
