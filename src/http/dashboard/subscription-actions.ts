// What is done with a subscription: a page for each action, which shows what will be.
import type { Action } from '../../../ledger/subscriptions/transitions.ts';
import type { Tollhouse } from '../../client/index.ts';
import type { OperationId } from '../../client/operations.ts';
import {
  cancelPage,
  changePage,
  endTrialPage,
  notNow,
  pausePage,
  type Preview,
  resumePage,
  uncancelPage,
} from '../../pages/dashboard/subscription-forms.ts';
import type { Html } from '../../pages/html.ts';
import type { DashboardPage, Visit } from './page.ts';
import { standingOf, upcomingOf } from './subscriptions.ts';
import { given, Typed } from './typed.ts';

/** As many products as a change offers the plans of. */
const PRODUCTS_MAX = 200;
const MODES = ['at_period_end', 'immediate'] as const;

type ActionPage = {
  readonly action: Action;
  readonly path: string;
  readonly title: string;
  readonly operation: OperationId;
  readonly show: (visit: Visit, preview: Preview) => Html | Promise<Html>;
  readonly run: (visit: Visit, typed: Typed, id: string) => Promise<unknown>;
};

const once = ({ key }: Visit) => given({ idempotencyKey: key });

const ACTION_PAGES: readonly ActionPage[] = [
  {
    action: 'cancel',
    path: 'cancel',
    title: 'Cancel a subscription',
    operation: 'cancelSubscription',
    show: ({ place }, preview) => cancelPage(place, preview),
    run: (visit, typed, id) => {
      const mode = typed.choice('mode', MODES);
      return visit.api.subscriptions.cancel(id, given({ mode }), once(visit));
    },
  },
  {
    action: 'uncancel',
    path: 'uncancel',
    title: 'Take a cancellation back',
    operation: 'uncancelSubscription',
    show: ({ place }, preview) => uncancelPage(place, preview),
    run: (visit, _typed, id) => visit.api.subscriptions.uncancel(id, once(visit)),
  },
  {
    action: 'pause',
    path: 'pause',
    title: 'Pause a subscription',
    operation: 'pauseSubscription',
    show: ({ place }, preview) => pausePage(place, preview),
    run: (visit, typed, id) => {
      const resumesAt = typed.time('resumes_at');
      const keepInvoices = typed.isTicked('keep_invoices');
      return visit.api.subscriptions.pause(id, given({ resumesAt, keepInvoices }), once(visit));
    },
  },
  {
    action: 'resume',
    path: 'resume',
    title: 'Resume a subscription',
    operation: 'resumeSubscription',
    show: ({ place }, preview) => resumePage(place, preview),
    run: (visit, _typed, id) => visit.api.subscriptions.resume(id, once(visit)),
  },
  {
    action: 'end_trial',
    path: 'end-trial',
    title: 'End a trial',
    operation: 'endTrial',
    show: ({ place }, preview) => endTrialPage(place, preview),
    run: (visit, _typed, id) => visit.api.subscriptions.endTrial(id, once(visit)),
  },
  {
    action: 'change',
    path: 'change',
    title: 'Change a subscription',
    operation: 'changeSubscription',
    show: async ({ api, place }, preview) =>
      changePage(place, preview, await plansOf(api, preview.price?.currency)),
    run: (visit, typed, id) => {
      const fields = given({ priceId: typed.text('price_id'), quantity: typed.number('quantity') });
      return visit.api.subscriptions.change(id, fields, once(visit));
    },
  },
];

export const SUBSCRIPTION_ACTION_PAGES: readonly DashboardPage[] = ACTION_PAGES.map(
  ({ action, path, title, operation, show, run }) => ({
    path: `/subscriptions/:id/${path}`,
    title,
    section: 'subscriptions',
    needs: ['getSubscription', 'getProduct', operation],
    show: async (visit) => {
      const { api, place, params } = visit;
      const { id = '' } = params;
      const { subscription, actions } = await standingOf(api, id);
      if (!actions.includes(action)) return notNow(place, subscription, title);
      const [product, upcoming] = await Promise.all([
        api.products.retrieve(subscription.productId),
        upcomingOf(api, id),
      ]);
      const price = product.prices.find((each) => each.id === subscription.priceId) ?? null;
      return show(visit, { subscription, product, price, upcoming });
    },
    act: {
      needs: [operation],
      run: async (visit) => {
        const { id = '' } = visit.params;
        await run(visit, new Typed(visit), id);
        return { to: `/subscriptions/${id}`, notice: 'changed' };
      },
    },
  }),
);

/** Every plan that it may change to, in its own currency. */
async function plansOf(api: Tollhouse, currency: string | undefined) {
  const { data } = await api.products.list({ status: 'active', limit: PRODUCTS_MAX });
  return data.flatMap((product) =>
    product.prices
      .filter((price) => price.type === 'recurring' && price.status === 'active')
      .filter((price) => price.currency === currency)
      .map((price) => ({ product, price })),
  );
}
