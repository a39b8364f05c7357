// What is done with a subscription: a page for each action, which shows what will be.
import type { Action } from '../../ledger/subscriptions/transitions.ts';
import { type Tollhouse, TollhouseError } from '../client/index.ts';
import type { OperationId } from '../client/operations.ts';
import {
  cancelPage,
  changePage,
  changePreviewPage,
  endTrialPage,
  notNow,
  pausePage,
  resumePage,
  type Subject,
  uncancelPage,
  unschedulePage,
} from './views/subscription-forms.ts';
import { Html } from '../pages/html.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { readUpcoming, standingOf } from './subscriptions.ts';
import { given, Typed } from './form/typed.ts';

/** As many products as a change offers the plans of. */
const PRODUCTS_MAX = 200;
const MODES = ['at_period_end', 'immediate'] as const;

type ActionPage = {
  readonly action: Action;
  readonly path: string;
  readonly title: string;
  readonly operation: OperationId;
  /** What says beforehand what it does; null where no money moves. */
  readonly previewed: OperationId | null;
  readonly show: (visit: Visit, subject: Subject) => Html | Promise<Html>;
  /** `Html` is shown at once: what it would do. */
  readonly run: (visit: Visit, typed: Typed, id: string) => Promise<unknown>;
};

const once = ({ key }: Visit) => given({ idempotencyKey: key });

const ACTION_PAGES: readonly ActionPage[] = [
  {
    action: 'cancel',
    path: 'cancel',
    title: 'Cancel a subscription',
    operation: 'cancelSubscription',
    previewed: 'previewSubscriptionCancel',
    show: async ({ api, place }, subject) => {
      const { id } = subject.subscription;
      const atOnce = await api.subscriptions.previewCancel(id, { mode: 'immediate' });
      return cancelPage(place, subject, atOnce);
    },
    run: (visit, typed, id) => {
      const mode = typed.choice('mode', MODES);
      return visit.api.subscriptions.cancel(id, given({ mode }), once(visit));
    },
  },
  {
    action: 'uncancel',
    path: 'uncancel',
    title: 'Undo a cancellation',
    operation: 'uncancelSubscription',
    previewed: null,
    show: ({ place }, subject) => uncancelPage(place, subject),
    run: (visit, _typed, id) => visit.api.subscriptions.uncancel(id, once(visit)),
  },
  {
    action: 'unschedule',
    path: 'unschedule',
    title: 'Undo a change',
    operation: 'unscheduleSubscription',
    previewed: null,
    show: ({ place }, subject) => unschedulePage(place, subject),
    run: (visit, _typed, id) => visit.api.subscriptions.unschedule(id, once(visit)),
  },
  {
    action: 'pause',
    path: 'pause',
    title: 'Pause a subscription',
    operation: 'pauseSubscription',
    previewed: null,
    show: ({ place }, subject) => pausePage(place, subject),
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
    previewed: 'previewSubscriptionResume',
    show: async ({ api, place }, subject) =>
      resumePage(place, subject, await api.subscriptions.previewResume(subject.subscription.id)),
    run: (visit, _typed, id) => visit.api.subscriptions.resume(id, once(visit)),
  },
  {
    action: 'end_trial',
    path: 'end-trial',
    title: 'End a trial',
    operation: 'endTrial',
    previewed: 'previewTrialEnd',
    show: async ({ api, place }, subject) =>
      endTrialPage(
        place,
        subject,
        await api.subscriptions.previewEndTrial(subject.subscription.id),
      ),
    run: (visit, _typed, id) => visit.api.subscriptions.endTrial(id, once(visit)),
  },
  {
    action: 'change',
    path: 'change',
    title: 'Change a subscription',
    operation: 'changeSubscription',
    previewed: 'previewSubscriptionChange',
    show: async ({ api, place }, subject) =>
      changePage(place, subject, await plansOf(api, subject.price?.currency)),
    run: async (visit, typed, id) => {
      const { api, form, place } = visit;
      const fields = given({ priceId: typed.text('price_id'), quantity: typed.number('quantity') });
      if (!form.has('preview')) return api.subscriptions.change(id, fields, once(visit));
      const [subject, preview] = await Promise.all([
        subjectOf(api, id),
        api.subscriptions.previewChange(id, fields),
      ]);
      const { priceId, quantity } = preview.subscription;
      const chosen = { price_id: priceId, quantity: String(quantity) };
      return changePreviewPage(place, subject, { preview, fields: chosen });
    },
  },
];

export const SUBSCRIPTION_ACTION_PAGES: readonly DashboardPage[] = ACTION_PAGES.map(
  ({ action, path, title, operation, previewed, show, run }) => ({
    path: `/subscriptions/:id/${path}`,
    title,
    section: 'subscriptions',
    needs: ['getSubscription', 'getProduct', operation, ...(previewed === null ? [] : [previewed])],
    show: async (visit) => {
      const { api, place, params } = visit;
      const { id = '' } = params;
      const subject = await subjectOf(api, id);
      const refused = () => notNow(place, subject.subscription, title);
      if (!subject.actions.includes(action)) return refused();
      try {
        return await show(visit, subject);
      } catch (error) {
        // It may have become illegal since.
        if (error instanceof TollhouseError && error.type === 'invalid_state') return refused();
        throw error;
      }
    },
    act: {
      needs: [operation],
      run: async (visit) => {
        const { id = '' } = visit.params;
        const done = await run(visit, new Typed(visit), id);
        return done instanceof Html ? done : { to: `/subscriptions/${id}`, notice: 'changed' };
      },
    },
  }),
);

async function subjectOf(api: Tollhouse, id: string) {
  const [{ subscription, actions }, upcoming] = await Promise.all([
    standingOf(api, id),
    readUpcoming(api, id),
  ]);
  const product = await api.products.retrieve(subscription.productId);
  const price = product.prices.find((each) => each.id === subscription.priceId) ?? null;
  return { subscription, actions, product, price, upcoming };
}

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
