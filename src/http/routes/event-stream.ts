import { type Static, Type } from '@sinclair/typebox';
import type { EventStreams } from '../../event-stream/event-streams.ts';
import { Full } from '../../platform/bounds.ts';
import { isUuid } from '../../records/uuid.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { Event } from '../wire/events.ts';
import { Body, Uuid } from '../wire/values.ts';

export type EventStreamRouteDeps = {
  readonly edge: Edge;
  readonly eventStreams: EventStreams;
  /** How long the connection of a request may take nothing before it is closed. */
  readonly idleAtMost: (request: Request, seconds: number) => void;
};

/** A comment comes every 15 s. */
const IDLE_S_MAX = 60;
const LAST_EVENT_ID = 'Last-Event-ID';

const EventStreamQuery = Body({
  after: Type.Optional({
    ...Uuid,
    description:
      "The stream continues after the event with this id. The organization's own id stands " +
      'for before its first event.',
  }),
});

const STREAM = {
  operationId: 'streamEvents',
  method: 'GET',
  path: '/events/stream',
  client: 'own',
  summary: 'Follow events as they happen',
  description: [
    'Server-sent events: each is an event as `GET /events` shows it, with its id as `id`. They ' +
      'come in the order of their commits, each once. Samples for a webhook endpoint are not in ' +
      'the stream; `usage.recorded`, `customer.spend_cap_reached`, `alert.*` and `auto_topup.*` ' +
      'are in it where an endpoint subscribes to them.',
    'The stream continues after the event in `Last-Event-ID` or `after`, without a gap and on ' +
      'any node; without either it begins now. An id that is unknown, of another mode, or no ' +
      'longer stored is refused. The first message has an `id` and no data: the place where the ' +
      'stream begins, so a caller that is cut off before the first event can continue from there.',
    'The stream ends when a node is stopped, when the key ends, and when the caller is too ' +
      'slow: connect again with the last `id`, after the time in `retry`. A comment is sent ' +
      'every 15 s. Each node serves 1,000 streams of an organization in a mode unless it is ' +
      'configured otherwise (409), and 5,000 in all (503).',
  ].join('\n\n'),
  tag: 'Events',
  roles: [],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: EventStreamQuery,
  headers: {
    [LAST_EVENT_ID]:
      'The last `id` that the caller got. It wins over `after`, which may still be in the URL ' +
      'that a browser reconnects to.',
  },
  answers: { 200: Event },
  mediaType: 'text/event-stream',
  refusals: ['invalid_request', 'conflict'],
} as const;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // nginx would hold the events back.
  'x-accel-buffering': 'no',
};

export function streamEvents({ edge, eventStreams, idleAtMost }: EventStreamRouteDeps): Route {
  return edge.organisation(STREAM, async ({ principal, query, request }) => {
    const { name, after } = placeOf(request, query);
    const refuseAfter = (message: string) => refuseInvalid([{ path: [name], message }]);
    if (after !== null && !isUuid(after)) return refuseAfter('must be the id of an event');
    const { kind, id: keyId } = principal.actor;
    if (kind !== 'key') return refuse('forbidden', 'this takes a key');
    const cut = (): void => idleAtMost(request, 1);
    const { signal } = request;
    const body = await eventStreams.stream({ tenant: principal, keyId, after, signal, cut });
    if (body === 'unknown') return refuseAfter('is no event of this mode that is still kept');
    if (body === 'no_room')
      return refuse('service_unavailable', 'this node has no room for more streams: retry');
    if (body instanceof Full) return refuse('conflict', body.message);
    idleAtMost(request, IDLE_S_MAX);
    return new Response(body, { headers: HEADERS });
  });
}

/** The id to go on after, as ids are stored, and what gave it. An empty header is none. */
function placeOf(request: Request, query: Static<typeof EventStreamQuery>) {
  const header = request.headers.get(LAST_EVENT_ID) ?? '';
  return header === ''
    ? { name: 'after', after: query.after?.toLowerCase() ?? null }
    : { name: LAST_EVENT_ID, after: header.toLowerCase() };
}
