// Checkouts: the addresses at which buyers pay.
import type { Checkout } from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { faultNotice } from './parts/forms.ts';
import { button, facts, heading, link, live } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filters, pager, table } from './parts/tables.ts';
import { badge, code, instant, money } from './parts/values.ts';
import { pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { choice } from './form/field.ts';
import { drawFilters, readFilters } from './form/form.ts';
import { type Html, html } from '../pages/html.ts';

export const CHECKOUT_PAGES: readonly DashboardPage[] = [
  {
    path: '/checkouts',
    title: 'Checkouts',
    section: 'checkouts',
    needs: ['listCheckouts'],
    show: showCheckouts,
  },
  {
    path: '/checkouts/:id',
    title: 'Checkout',
    section: 'checkouts',
    needs: ['getCheckout'],
    show: async ({ api, place, params: { id = '' } }) =>
      checkoutPage(place, await api.checkouts.retrieve(id)),
  },
  {
    path: '/checkouts/:id/expire',
    title: 'Expire a checkout',
    section: 'checkouts',
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
  const { place, rows } = await searched(visit.place, () =>
    api.checkouts.list({ ...pageOf(query), ...readFilters(visit, CHECKOUT_FILTERS) }),
  );
  return checkoutsPage(place, rows);
}

export const CHECKOUT_STATUSES: readonly Checkout['status'][] = [
  'active',
  'processing',
  'paid',
  'expired',
  'canceled',
];

const CHECKOUT_FILTERS = {
  status: choice({ label: 'State', values: CHECKOUT_STATUSES, none: 'All' }),
};

function checkoutsPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly Checkout[]; readonly hasMore: boolean },
): Html {
  return html`${heading('Checkouts')} ${faultNotice(place)}
  ${filters(drawFilters(place, CHECKOUT_FILTERS))}
  ${table({
    caption: 'Checkouts, newest first',
    columns: ['Checkout', { label: 'Amount', isNumber: true }, 'State', 'Buyer', 'Expires', 'Paid'],
    rows: data.map((checkout) => [
      link(place, `/checkouts/${checkout.id}`, code(checkout.id)),
      money(checkout.amount, checkout.currency),
      badge(checkout.status),
      checkout.customerEmail,
      instant(place, checkout.expiresAt),
      instant(place, checkout.paidAt),
    ]),
    empty: 'No checkouts match these filters.',
  })}
  ${pager(place, { hasMore, last: data.at(-1)?.id })}`;
}

function checkoutPage(place: Place, checkout: Checkout): Html {
  const { id, status, customerId } = checkout;
  const isOpen = status === 'active';
  return html`${heading('Checkout', {
    under: html`${badge(status, 'state')} ${code(id)}`,
    actions: [
      isOpen && place.may('expireCheckout')
        ? button(place, `/checkouts/${id}/expire`, 'Expire')
        : null,
    ],
  })}
  ${isOpen ? facts([['Checkout URL', html`<a href="${checkout.url}">${checkout.url}</a>`]]) : null}
  ${live(
    'checkout',
    facts([
      ['Amount', money(checkout.amount, checkout.currency)],
      ['Product', link(place, `/products/${checkout.productId}`, code(checkout.productId))],
      ['Buyer', checkout.customerEmail],
      ['Name', checkout.customerName],
      [
        'Customer',
        customerId === null ? null : link(place, `/customers/${customerId}`, code(customerId)),
      ],
      ['Your customer id', checkout.externalCustomerId],
      ['Client reference', checkout.clientReferenceId],
      ['Expires', instant(place, checkout.expiresAt)],
      ['Paid', instant(place, checkout.paidAt)],
      ...Object.entries(checkout.metadata).map(([name, text]) => [name, text] as const),
    ]),
  )}`;
}
