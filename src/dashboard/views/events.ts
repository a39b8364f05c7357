// Events: what happened, newest first, and one of them as a webhook carries it.
import type { Event } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Cell, facts, heading, link, section } from '../parts/parts.ts';
import { filterField, filters, filterSelect, pager, table } from '../parts/tables.ts';
import { code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

type EventPage = { readonly data: readonly Event[]; readonly hasMore: boolean };

export function eventsPage(
  place: Place,
  { page, types }: { readonly page: EventPage; readonly types: readonly string[] },
): Html {
  return html`${heading('Events', { under: 'What happened, as webhooks carry it.' })}
  ${filters([
    filterSelect(place, {
      name: 'type',
      label: 'Event',
      options: [
        { value: '', label: 'any' },
        ...types.map((type) => ({ value: type, label: type })),
      ],
    }),
    filterField(place, { name: 'object_id', label: 'Object id', type: 'search' }),
    filterField(place, { name: 'since', label: `From (${place.zone})`, type: 'datetime-local' }),
    filterField(place, { name: 'until', label: `Before (${place.zone})`, type: 'datetime-local' }),
  ])}
  ${eventTable(place, page.data)}
  ${pager(place, { hasMore: page.hasMore, last: page.data.at(-1)?.id })}`;
}

export function eventTable(place: Place, events: readonly Event[]): Html {
  return table({
    caption: 'Events, newest first',
    columns: ['When', 'Type', 'Object'],
    rows: events.map((event) => [
      instant(place, event.timestamp),
      link(place, `/events/${event.id}`, event.type),
      aboutOf(place, event),
    ]),
    empty: 'No events match these filters.',
  });
}

/** The pages of what events are about. */
const PAGES: Readonly<Record<string, string>> = {
  CUSTOMER: 'customers',
  INVOICE: 'invoices',
  PAYMENT: 'payments',
  SUBSCRIPTION: 'subscriptions',
};

function aboutOf(place: Place, { data }: Event): Cell {
  const { objectType, objectId } = data;
  const name = objectType.toLowerCase().replaceAll('_', ' ');
  const page = PAGES[objectType];
  // A sample is about nothing that there is.
  if (page === undefined || data.test === true) return html`${name} ${code(objectId)}`;
  return html`${name} ${link(place, `/${page}/${objectId}`, code(objectId))}`;
}

export function eventPage(place: Place, event: Event): Html {
  const { data } = event;
  return html`${heading(event.type)}
  ${facts([
    ['Id', code(event.id)],
    ['When', instant(place, event.timestamp)],
    ['Object', aboutOf(place, event)],
    ['Sequence', `${data.sequence} of this object`],
    data.test === true ? ['Sample', 'A test: nothing of it happened.'] : null,
  ])}
  ${section('Payload', html`<pre tabindex="0">${JSON.stringify(event, null, 2)}</pre>`)}`;
}
