import { legalActions, type Action } from '../../ledger/subscriptions/transitions.ts';
import { type Tollhouse, TollhouseError } from '../client/index.ts';
import type { Subscription, UpcomingInvoice } from '../client/types.ts';
import {
  dunningPage,
  SUBSCRIPTION_STATUSES,
  subscriptionPage,
  subscriptionsPage,
} from './views/subscriptions.ts';
import { choiceOf, customerFilter, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './serve/typed.ts';

const section = 'subscriptions';
/** As many as are shown of what belongs to one. */
const OF_ONE = 50;

export const SUBSCRIPTION_PAGES: readonly DashboardPage[] = [
  {
    path: '/subscriptions',
    title: 'Subscriptions',
    section,
    needs: ['listSubscriptions'],
    show: showSubscriptions,
  },
  {
    path: '/subscriptions/:id',
    title: 'Subscription',
    section,
    needs: ['getSubscription', 'getUpcomingInvoice', 'listInvoices', 'listPayments', 'listEvents'],
    show: showSubscription,
  },
  {
    path: '/dunning',
    title: 'Unpaid',
    section,
    needs: ['listInvoices', 'getSubscription'],
    show: showDunning,
  },
];

async function showSubscriptions(visit: Visit) {
  const { api, query } = visit;
  const status = choiceOf(query, 'status', SUBSCRIPTION_STATUSES);
  const { place, rows } = await searched(visit.place, async () => {
    const customer = await customerFilter(visit);
    if (customer === null) return null;
    return api.subscriptions.list({ ...pageOf(query), ...customer, ...given({ status }) });
  });
  return subscriptionsPage(place, rows);
}

async function showSubscription({ api, place, params: { id = '' } }: Visit) {
  const [standing, upcoming, events] = await Promise.all([
    standingOf(api, id),
    upcomingOf(api, id),
    api.events.list({ objectId: id, limit: OF_ONE }),
  ]);
  return subscriptionPage(place, { ...standing, upcoming, events: events.data });
}

/** A subscription, what it owes, and what may be done with it now. */
export async function standingOf(api: Tollhouse, id: string) {
  const [subscription, open] = await Promise.all([
    api.subscriptions.retrieve(id),
    api.invoices.list({ subscriptionId: id, status: 'open', limit: OF_ONE }),
  ]);
  const { trialEnd, currentPeriodEnd, cancellationEffectiveAt } = subscription;
  const legal = legalActions({
    status: subscription.status,
    // A trial is the period before the first one.
    periodIndex: trialEnd !== null && trialEnd === currentPeriodEnd ? -1 : 0,
    cancelAt: cancellationEffectiveAt === null ? null : Date.parse(cancellationEffectiveAt),
    // That of a change that was taken back too, until its bank has decided.
    open: open.data.map(() => ({})),
    waiting: subscription.pendingChange,
  });
  const actions = legal.filter((action) => CHANGES[action](subscription));
  return { subscription, open: open.data, actions };
}

/** Whether a legal action would change anything. */
const CHANGES: Readonly<Record<Action, (subscription: Subscription) => boolean>> = {
  cancel: () => true,
  uncancel: ({ cancelAtPeriodEnd }) => cancelAtPeriodEnd,
  pause: () => true,
  resume: ({ status }) => status === 'paused',
  change: () => true,
  unschedule: () => true,
  end_trial: () => true,
};

/** null after the end: nothing more is billed. */
export async function upcomingOf(api: Tollhouse, id: string): Promise<UpcomingInvoice | null> {
  try {
    return await api.subscriptions.upcomingInvoice(id);
  } catch (error) {
    if (error instanceof TollhouseError && error.type === 'invalid_state') return null;
    throw error;
  }
}

async function showDunning({ api, query, place: at }: Visit) {
  const { place, rows } = await searched(at, () =>
    api.invoices.list({ ...pageOf(query), status: 'open' }),
  );
  const ids = new Set(rows.data.flatMap(({ subscriptionId }) => subscriptionId ?? []));
  const found = await Promise.all([...ids].map((id) => api.subscriptions.retrieve(id)));
  const byId = new Map(found.map((subscription) => [subscription.id, subscription]));
  return dunningPage(place, {
    hasMore: rows.hasMore,
    rows: rows.data.map((invoice) => ({
      invoice,
      subscription: byId.get(invoice.subscriptionId ?? '') ?? null,
    })),
  });
}
