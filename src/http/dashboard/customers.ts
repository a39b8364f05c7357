import type { Meter } from '../../client/types.ts';
import { customersPage } from '../../pages/dashboard/customers.ts';
import { customerPage } from '../../pages/dashboard/customer.ts';
import { AUTO_TOPUP_PAGES } from './auto-topups.ts';
import { CUSTOMER_ACTIONS } from './customer-actions.ts';
import { denialsOf, usageOf } from './customer-usage.ts';
import { filterOf, ledBy, pageOf } from './lists.ts';
import type { DashboardPage, Visit } from './page.ts';
import { orNone } from './refusals.ts';
import { given } from './typed.ts';

/** Of what a customer bought: the rest is in its own section. */
/** As many as are looked through for the pool that pays. */
const METERS_MAX = 200;
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
  const { api, params, place } = visit;
  const customer = await api.customers.retrieve(params['id'] ?? '');
  const { id } = customer;
  const [{ data: balances }, { data: grants }, spendCap] = await Promise.all([
    api.customers.listBalances(id),
    api.grants.list(id),
    orNone(api.customers.retrieveSpendCap(id)),
  ]);
  const [{ data: autoTopups }, { data: alerts }, meters] = await Promise.all([
    api.customers.listAutoTopups(id),
    api.alerts.listOfCustomer(id),
    api.meters.list({ limit: METERS_MAX }),
  ]);
  const features = balances.map((balance) => ({
    balance,
    grants: grants.filter(({ meterId }) => meterId === balance.meterId),
    alerts: alerts.filter(({ meterId }) => meterId === balance.meterId),
    pool: poolOf(balance.featureKey, meters.data),
  }));
  const usage = await usageOf(visit, id, features);
  const denials = await denialsOf(visit, id);
  const labels = { objectId: id, limit: LABELS_MAX };
  const { data: tags } = await api.tags.list(labels);
  const { data: fields } = await api.customFields.list(labels);
  const bought = { customerId: id, limit: NEWEST };
  const { data: newest } = await api.subscriptions.list(bought);
  const subscriptions = [];
  for (const subscription of newest) {
    const { data: events } = await api.events.list({ objectId: subscription.id, limit: EVENTS });
    subscriptions.push({ subscription, events });
  }
  const { data: payments } = await api.payments.list(bought);
  const { data: invoices } = await api.invoices.list(bought);
  const limits = { spendCap, autoTopups, alerts };
  const seen = { customer, features, usage, denials, ...limits, tags, fields };
  return customerPage(place, { ...seen, subscriptions, payments, invoices });
}

/** The slug of the pool whose list in force has the feature, or null. */
function poolOf(feature: string, meters: readonly Meter[]): string | null {
  const pays = meters.find(({ creditCosts }) =>
    creditCosts.some(({ featureKey }) => featureKey === feature),
  );
  return pays?.slug ?? null;
}
