import type { Sql } from '../../platform/postgres/postgres.ts';
import { envelopeOf, findEvent, listEvents } from '../../records/events.ts';
import { ofScope } from '../../records/page.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { answerList } from '../list.ts';
import { Event, EventQuery, timesOf } from '../wire/events.ts';
import { ListOf } from '../wire/values.ts';
import { type EventStreamRouteDeps, streamEvents } from './event-stream.ts';

export type EventRoutesDeps = EventStreamRouteDeps & {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
};

const tag = 'Events';

const LIST = {
  operationId: 'listEvents',
  method: 'GET',
  path: '/events',
  client: 'events.list',
  summary: 'List events, newest first',
  description: 'Each as a webhook carries it. Events are kept for at least 30 days.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: EventQuery,
  answers: { 200: ListOf(Event) },
} as const;

const READ = {
  operationId: 'getEvent',
  method: 'GET',
  path: '/events/{id}',
  client: 'events.retrieve',
  summary: 'Get an event',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: { id: 'The id of the event.' },
  answers: { 200: Event },
  refusals: ['not_found'],
} as const;

export function eventRoutes(deps: EventRoutesDeps): Route[] {
  return [readEvents(deps), streamEvents(deps), readEvent(deps)];
}

function readEvents({ edge, lists }: EventRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) => {
    const times = timesOf(query);
    if ('length' in times) return refuseInvalid(times);
    const { type, object_id: objectId } = query;
    const filter = { type, objectId, ...times };
    const whose = ofScope(principal);
    return answerList(
      lists,
      { principal, query },
      {
        ...(objectId === undefined
          ? { name: 'events', whose }
          : { name: 'eventsOfObject', whose: { ...whose, object_id: objectId } }),
        rows: (sql, page) => listEvents(sql, principal, { ...page, ...filter }),
        show: envelopeOf,
      },
    );
  });
}

function readEvent({ edge, sql }: EventRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const event = await findEvent(sql, principal, id);
    return event === null ? refuse('not_found', 'no such event') : Response.json(envelopeOf(event));
  });
}
