import { CHECKOUT_STATUSES, checkoutPage, checkoutsPage } from './views/checkouts.ts';
import { confirmPage } from './parts/confirm.ts';
import { choiceOf, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './serve/typed.ts';

const section = 'checkouts';

export const CHECKOUT_PAGES: readonly DashboardPage[] = [
  {
    path: '/checkouts',
    title: 'Checkouts',
    section,
    needs: ['listCheckouts'],
    show: showCheckouts,
  },
  {
    path: '/checkouts/:id',
    title: 'Checkout',
    section,
    needs: ['getCheckout'],
    show: async ({ api, place, params: { id = '' } }) =>
      checkoutPage(place, await api.checkouts.retrieve(id)),
  },
  {
    path: '/checkouts/:id/expire',
    title: 'Expire a checkout',
    section,
    needs: ['getCheckout', 'expireCheckout'],
    show: async ({ api, place, params: { id = '' } }) => {
      await api.checkouts.retrieve(id);
      return confirmPage(place, {
        title: 'Expire checkout',
        text: 'It can no longer be paid.',
        submit: 'Expire',
        isGrave: true,
        back: `/checkouts/${id}`,
      });
    },
    act: {
      needs: ['expireCheckout'],
      run: async ({ api, params: { id = '' }, key }) => {
        await api.checkouts.expire(id, given({ idempotencyKey: key }));
        return { to: `/checkouts/${id}`, notice: 'changed' };
      },
    },
  },
];

async function showCheckouts(visit: Visit) {
  const { api, query } = visit;
  const status = choiceOf(query, 'status', CHECKOUT_STATUSES);
  const { place, rows } = await searched(visit.place, () =>
    api.checkouts.list({ ...pageOf(query), ...given({ status }) }),
  );
  return checkoutsPage(place, rows);
}
