import { ALERT_TYPES, alertForm, alertWords } from './views/alerts.ts';
import { confirmPage } from './parts/confirm.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

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
  const featureKey = new Typed(visit).required('feature_key');
  await create(visit, { featureKey, customerId: id });
  return { to: `/customers/${id}`, notice: 'created' };
}

async function createOfMeter(visit: Visit): Promise<Done> {
  const { id, slug } = await visit.api.meters.retrieve(idOf(visit));
  await create(visit, { featureKey: slug });
  return { to: `/meters/${id}`, notice: 'created' };
}

async function create(
  visit: Visit,
  of: { readonly featureKey: string; readonly customerId?: string },
): Promise<void> {
  const typed = new Typed(visit);
  const type = typed.choice('type', ALERT_TYPES) ?? 'usage';
  const alert = { ...of, type, threshold: typed.required('threshold') };
  await visit.api.alerts.create(alert, given({ idempotencyKey: visit.key }));
}

async function remove(visit: Visit): Promise<Done> {
  const alert = await visit.api.alerts.retrieve(idOf(visit));
  await visit.api.alerts.del(alert.id);
  return { to: backOf(alert), notice: 'removed' };
}
