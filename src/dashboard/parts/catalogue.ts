// The head of the lists of products, meters and discounts: each leads to the others.
import type { OperationId } from '../../client/operations.ts';
import { type Html, html } from '../../pages/html.ts';
import { faultNotice } from './forms.ts';
import { button, heading } from './parts.ts';
import type { Place } from './place.ts';

export function catalogueHead(
  place: Place,
  title: string,
  make: { readonly operation: OperationId; readonly to: string; readonly label: string },
): Html {
  const actions = [
    button(place, '/products', 'Products'),
    place.may('listMeters') ? button(place, '/meters', 'Meters') : null,
    place.may('listDiscounts') ? button(place, '/discounts', 'Discounts') : null,
    place.may(make.operation) ? button(place, make.to, make.label, false) : null,
  ];
  return html`${heading(title, { actions })} ${faultNotice(place)}`;
}
