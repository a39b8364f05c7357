import type { Customer } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { button, heading, link } from '../parts/parts.ts';
import { filterField, filters, pager, table } from '../parts/tables.ts';
import { code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

/** The list, newest first. `last` is the id behind which it goes on. */
export function customersPage(
  place: Place,
  of: {
    readonly data: readonly Customer[];
    readonly hasMore: boolean;
    readonly last: string | undefined;
  },
): Html {
  const { data, hasMore, last } = of;
  return html`${heading('Customers', {
    actions: [place.may('createCustomer') ? button(place, '/customers/new', 'New customer') : null],
  })}
  ${filters([
    filterField(place, {
      name: 'search',
      label: 'E-mail (or its beginning) or id',
      type: 'search',
      maxlength: 254,
    }),
  ])}
  ${table({
    caption: 'Customers, newest first',
    columns: ['E-mail', 'Name', 'Your id', 'Created'],
    rows: data.map((customer) => [
      link(place, `/customers/${customer.id}`, customer.email ?? code(customer.id)),
      customer.name,
      customer.externalCustomerId,
      instant(place, customer.createdAt),
    ]),
    empty: place.query.has('search') ? 'No customers match this search.' : 'No customers yet.',
  })}
  ${pager(place, { hasMore, last })}`;
}
