// Discounts: codes that a buyer types.
import type { Discount } from '../client/types.ts';
import { catalogueHead } from './parts/catalogue.ts';
import { confirmPage } from './parts/confirm.ts';
import { drawForm, read } from './form/form.ts';
import { numberField, textField, time } from './form/field.ts';
import { type Cell, button, heading, link } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { pager, table } from './parts/tables.ts';
import { code, instant, money } from './parts/values.ts';
import { PAGE_ROWS_MAX, pageOf, rowOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { type Html, html } from '../pages/html.ts';

export const DISCOUNT_PAGES: readonly DashboardPage[] = [
  {
    path: '/discounts',
    title: 'Discounts',
    section: 'products',
    needs: ['listDiscounts'],
    show: showDiscounts,
  },
  {
    path: '/discounts/new',
    title: 'New discount',
    section: 'products',
    needs: ['createDiscount'],
    show: ({ place }) => Promise.resolve(discountForm(place)),
    act: { needs: ['createDiscount'], run: create },
  },
  {
    path: '/discounts/:id/delete',
    title: 'Delete a discount',
    section: 'products',
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
  const discount = await rowOf(all, params['id'], 'discount');
  return confirmPage(place, {
    title: 'Delete discount',
    under: discount.code,
    text: 'The code stops working and can be used for a new discount. Past payments stay as they are.',
    submit: 'Delete',
    isGrave: true,
    back: '/discounts',
  });
}

async function create(visit: Visit): Promise<Done> {
  const { api, key } = visit;
  await api.discounts.create(read(visit, DISCOUNT), given({ idempotencyKey: key }));
  return { to: '/discounts', notice: 'created' };
}

function discountsPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly Discount[]; readonly hasMore: boolean },
): Html {
  const make = {
    operation: 'createDiscount',
    to: '/discounts/new',
    label: 'New discount',
  } as const;
  return html`${catalogueHead(place, 'Discounts', make)}
  ${table({
    caption: 'Discounts, newest first',
    columns: ['Code', 'Discount', 'Redeemed', 'Expires', 'Created', ''],
    rows: data.map((discount) => [
      code(discount.code),
      offOf(discount),
      discount.maxRedemptions === null
        ? String(discount.redemptions)
        : `${discount.redemptions} of ${discount.maxRedemptions}`,
      instant(place, discount.expiresAt),
      instant(place, discount.createdAt),
      place.may('deleteDiscount')
        ? link(place, `/discounts/${discount.id}/delete`, 'Delete')
        : null,
    ]),
    empty: 'No discounts yet.',
  })}
  ${pager(place, { hasMore, last: data.at(-1)?.id })}`;
}

function offOf({ percentOff, amountOff, currency }: Discount): Cell {
  if (percentOff !== null) return `${percentOff} %`;
  return amountOff === null || currency === null ? null : money(amountOff, currency);
}

const DISCOUNT = {
  code: textField({ label: 'Code', isRequired: true, maxlength: 64 }),
  percentOff: numberField({
    label: 'Percent off',
    hint: 'Either this or an amount.',
    maxlength: 8,
  }),
  amountOff: textField({ label: 'Amount off', maxlength: 20 }),
  currency: textField({ label: 'Currency of the amount', maxlength: 3 }),
  maxRedemptions: numberField({
    label: 'Maximum redemptions',
    hint: 'Leave empty for no limit.',
    maxlength: 10,
  }),
  expiresAt: time({ label: ({ zone }) => `Expires, in ${zone}` }),
};

const discountForm = (place: Place): Html =>
  html`${heading('New discount')} ${drawForm(place, DISCOUNT, { submit: 'Create' })}
    <p>${button(place, '/discounts', 'Cancel')}</p>`;
