// Checkouts: the addresses at which buyers pay.
import type { Checkout } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { faultNotice } from '../parts/forms.ts';
import { button, facts, heading, link, live } from '../parts/parts.ts';
import { filters, filterSelect, pager, table } from '../parts/tables.ts';
import { badge, code, instant, money } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { optionsOf } from '../parts/words.ts';

export const CHECKOUT_STATUSES: readonly Checkout['status'][] = [
  'active',
  'processing',
  'paid',
  'expired',
  'canceled',
];

export function checkoutsPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly Checkout[]; readonly hasMore: boolean },
): Html {
  return html`${heading('Checkouts')} ${faultNotice(place)}
  ${filters([
    filterSelect(place, {
      name: 'status',
      label: 'State',
      options: optionsOf(CHECKOUT_STATUSES, 'All'),
    }),
  ])}
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

export function checkoutPage(place: Place, checkout: Checkout): Html {
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
