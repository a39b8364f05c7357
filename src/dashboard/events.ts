import { eventPage, eventsPage } from './views/events.ts';
import { EVENT_TYPES } from '../records/events.ts';
import { choiceOf, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

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
  const asked = new Typed({ form: query, place: visit.place });
  const { place, rows } = await searched(visit.place, () =>
    api.events.list({
      ...pageOf(query),
      ...given({
        type: choiceOf(query, 'type', EVENT_TYPES),
        objectId: asked.text('object_id'),
        since: asked.time('since'),
        until: asked.time('until'),
      }),
    }),
  );
  return eventsPage(place, { page: rows, types: EVENT_TYPES });
}
