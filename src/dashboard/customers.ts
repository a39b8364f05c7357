import { customersPage } from './views/customers.ts';
import { FEATURES_PARAMETER, grantsPage } from './views/balances.ts';
import { customerPage } from './views/customer.ts';
import { AUTO_TOPUP_PAGES } from './auto-topups.ts';
import { CUSTOMER_ACTIONS } from './customer-actions.ts';
import { denialsOf, usageOf } from './customer-usage.ts';
import { filterOf, ledBy, pageOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { metersOf, poolOf } from './pools.ts';
import { orNone } from './serve/refusals.ts';
import { given } from './serve/typed.ts';

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
  const bought = { customerId: id, limit: NEWEST };
  const { data: newest } = await api.subscriptions.list(bought);
  const subscriptions = [];
  for (const subscription of newest) {
    const { data: events } = await api.events.list({ objectId: subscription.id, limit: EVENTS });
    subscriptions.push({ subscription, events });
  }
  const { data: credit } = await api.customers.retrieveCredit(id);
  const { data: payments } = await api.payments.list(bought);
  const { data: invoices } = await api.invoices.list(bought);
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
