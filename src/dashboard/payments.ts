import {
  PAYMENT_STATUSES,
  paymentPage,
  paymentsPage,
  REFUND_REASONS,
  refundPage,
} from './views/payments.ts';
import type { RiskyAction } from '../people/step-up.ts';
import { choiceOf, customerFilter, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

/** As many as are shown of what belongs to one object. */
const OF_ONE = 50;

export const PAYMENT_PAGES: readonly DashboardPage[] = [
  {
    path: '/payments',
    title: 'Payments',
    section: 'payments',
    needs: ['listPayments'],
    show: showPayments,
  },
  {
    path: '/payments/:id',
    title: 'Payment',
    section: 'payments',
    needs: ['getPayment', 'listRefunds'],
    show: showPayment,
  },
  {
    path: '/payments/:id/refund',
    title: 'Refund',
    section: 'payments',
    needs: ['getPayment', 'refundPayment'],
    show: async ({ api, place, params: { id = '' } }) =>
      refundPage(place, await api.payments.retrieve(id)),
    act: { needs: ['refundPayment'], risk, isInTurn: true, run: refund },
  },
];

async function showPayments(visit: Visit) {
  const { api, query } = visit;
  const { place, rows } = await searched(visit.place, async () => {
    const customer = await customerFilter(visit);
    if (customer === null) return null;
    const status = choiceOf(query, 'status', PAYMENT_STATUSES);
    return api.payments.list({ ...pageOf(query), ...customer, ...given({ status }) });
  });
  return paymentsPage(place, rows);
}

async function showPayment({ api, place, params: { id = '' } }: Visit) {
  const [payment, refunds] = await Promise.all([
    api.payments.retrieve(id),
    api.payments.listRefunds(id, { limit: OF_ONE }),
  ]);
  return paymentPage(place, { payment, refunds: refunds.data });
}

/** The organisation lets go so much without a code. Empty is all that is left. */
async function risk(visit: Visit): Promise<RiskyAction> {
  const { api, params } = visit;
  const { refundStepUpAmount: upTo } = await api.organization.retrieveSecurity();
  const typed = new Typed(visit).text('amount');
  const amount = typed ?? (await api.payments.retrieve(params['id'] ?? '')).refundableAmount;
  return { kind: 'refund', amount, already: await visit.refundedLately(), upTo };
}

async function refund(visit: Visit): Promise<Done> {
  const { api, params, key } = visit;
  const { id = '' } = params;
  const typed = new Typed(visit);
  const amount = typed.text('amount');
  const reason = typed.choice('reason', REFUND_REASONS);
  await api.payments.refund(id, given({ amount, reason }), given({ idempotencyKey: key }));
  return { to: `/payments/${id}`, notice: 'refunded' };
}
