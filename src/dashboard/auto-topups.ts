// The page that sets the automatic top-up of a customer's feature, or removes it.
import { autoTopupForm, LIMIT_INTERVALS } from './views/auto-topups.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { orNone } from './serve/refusals.ts';
import { Typed } from './serve/typed.ts';

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
  const typed = new Typed(visit);
  const id = idOf(visit);
  const feature = typed.required('feature_key');
  const to = `/customers/${id}`;
  if (typed.isTicked('remove')) {
    await api.customers.delAutoTopup(id, feature);
    return { to, notice: 'removed' };
  }
  const count = typed.number('limit.count');
  const interval = typed.choice('limit.interval', LIMIT_INTERVALS) ?? 'month';
  await api.customers.putAutoTopup(id, feature, {
    enabled: typed.isTicked('enabled'),
    threshold: typed.required('threshold'),
    amount: typed.required('amount'),
    priceId: typed.required('price_id'),
    limit: count === undefined ? null : { count, interval },
  });
  return { to, notice: 'changed' };
}
