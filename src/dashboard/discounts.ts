import { confirmPage } from './parts/confirm.ts';
import { discountForm, discountsPage } from './views/discounts.ts';
import { PAGE_ROWS_MAX, pageOf, rowOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

const section = 'products';

export const DISCOUNT_PAGES: readonly DashboardPage[] = [
  {
    path: '/discounts',
    title: 'Discounts',
    section,
    needs: ['listDiscounts'],
    show: showDiscounts,
  },
  {
    path: '/discounts/new',
    title: 'New discount',
    section,
    needs: ['createDiscount'],
    show: ({ place }) => Promise.resolve(discountForm(place)),
    act: { needs: ['createDiscount'], run: create },
  },
  {
    path: '/discounts/:id/delete',
    title: 'Delete a discount',
    section,
    needs: ['listDiscounts', 'deleteDiscount'],
    show: askDelete,
    act: {
      needs: ['deleteDiscount'],
      run: async ({ api, params: { id = '' } }) => {
        await api.discounts.del(id);
        return { to: '/discounts', notice: 'removed' };
      },
    },
  },
];

async function showDiscounts({ api, query, place: at }: Visit) {
  const { place, rows } = await searched(at, () => api.discounts.list(pageOf(query)));
  return discountsPage(place, rows);
}

async function askDelete({ api, place, params }: Visit) {
  const all = api.discounts.list({ limit: PAGE_ROWS_MAX });
  const { code } = await rowOf(all, params['id'], 'discount');
  return confirmPage(place, {
    title: 'Delete discount',
    under: code,
    text: 'The code stops working and can be used for a new discount. Past payments stay as they are.',
    submit: 'Delete',
    isGrave: true,
    back: '/discounts',
  });
}

async function create(visit: Visit): Promise<Done> {
  const { api, key } = visit;
  const typed = new Typed(visit);
  const discount = given({
    code: typed.required('code'),
    percentOff: typed.number('percent_off'),
    amountOff: typed.text('amount_off'),
    currency: typed.text('currency'),
    maxRedemptions: typed.number('max_redemptions'),
    expiresAt: typed.time('expires_at'),
  });
  await api.discounts.create(discount, given({ idempotencyKey: key }));
  return { to: '/discounts', notice: 'created' };
}
