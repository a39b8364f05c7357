// Discounts: codes that a buyer types.
import type { Discount } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { field, form } from '../parts/forms.ts';
import { button, type Cell, heading, link } from '../parts/parts.ts';
import { pager, table } from '../parts/tables.ts';
import { code, instant, money } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { catalogueHead } from '../parts/catalogue.ts';

export function discountsPage(
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

export function discountForm(place: Place): Html {
  const fields = [
    field(place, { name: 'code', label: 'Code', isRequired: true, maxlength: 64 }),
    field(place, {
      name: 'percent_off',
      label: 'Percent off',
      hint: 'Either this or an amount.',
      maxlength: 8,
    }),
    field(place, { name: 'amount_off', label: 'Amount off', maxlength: 20 }),
    field(place, { name: 'currency', label: 'Currency of the amount', maxlength: 3 }),
    field(place, {
      name: 'max_redemptions',
      label: 'Maximum redemptions',
      hint: 'Leave empty for no limit.',
      maxlength: 10,
    }),
    field(place, {
      name: 'expires_at',
      label: `Expires, in ${place.zone}`,
      type: 'datetime-local',
    }),
  ];
  return html`${heading('New discount')}
    ${form(place, { to: place.path, submit: 'Create', fields })}
    <p>${button(place, '/discounts', 'Cancel')}</p>`;
}
