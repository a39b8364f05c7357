// Events: what happened, newest first, and one of them as a webhook carries it.
import type { Event } from '../client/types.ts';
import { type Cell, facts, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filters, pager, table } from './parts/tables.ts';
import { code, instant } from './parts/values.ts';
import { pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { choice, textField, time } from './form/field.ts';
import { drawFilters, readFilters } from './form/form.ts';
import { type Html, html } from '../pages/html.ts';
import { EVENT_TYPES } from '../records/events.ts';

export const EVENT_PAGES: readonly DashboardPage[] = [
  { path: '/events', title: 'Events', section: 'events', needs: ['listEvents'], show: showAll },
  {
    path: '/events/:id',
    title: 'Event',
    section: 'events',
    needs: ['getEvent'],
    show: async ({ api, params: { id = '' }, place }) =>
      eventPage(place, await api.events.retrieve(id)),
  },
];

async function showAll(visit: Visit) {
  const { api, query } = visit;
  const { place, rows } = await searched(visit.place, () =>
    api.events.list({ ...pageOf(query), ...readFilters(visit, EVENT_FILTERS) }),
  );
  return eventsPage(place, rows);
}

type EventPage = { readonly data: readonly Event[]; readonly hasMore: boolean };

const EVENT_FILTERS = {
  type: choice({ label: 'Event', values: EVENT_TYPES, called: (type) => type, none: 'any' }),
  objectId: textField({ label: 'Object id', type: 'search' }),
  since: time({ label: ({ zone }) => `From (${zone})` }),
  until: time({ label: ({ zone }) => `Before (${zone})` }),
};

function eventsPage(place: Place, page: EventPage): Html {
  return html`${heading('Events', { under: 'What happened, as webhooks carry it.' })}
  ${filters(drawFilters(place, EVENT_FILTERS))} ${eventTable(place, page.data)}
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

function eventPage(place: Place, event: Event): Html {
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
