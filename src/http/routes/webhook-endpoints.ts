import type { Static } from '@sinclair/typebox';
import { listDeliveries, countReplay, replay, sendSample } from '../../records/deliveries.ts';
import type { EventType } from '../../records/events.ts';
import {
  DEFAULT_TYPES,
  type EndpointRecord,
  findEndpoint,
} from '../../records/webhook-endpoints.ts';
import type { Route } from '../edge/edge.ts';
import { refuseInvalid } from '../edge/errors.ts';
import { answer, once, refusal } from '../idempotency/idempotency.ts';
import { answerList } from '../list.ts';
import { type EndpointDeps, noSuchEndpoint } from '../webhook-endpoints.ts';
import { ListOf } from '../wire/values.ts';
import {
  Delivery,
  DeliveryQuery,
  Endpoint,
  EndpointChange,
  EndpointCreate,
  EndpointWithSecret,
  fromDelivery,
  fromEndpoint,
  Replayed,
  ReplayRequest,
  RotatedSecret,
  SampleRequest,
  sampleOf,
  toReplayRange,
} from '../wire/webhooks.ts';
import {
  CHANGE_DESCRIPTION,
  ENDPOINT_ID,
  ENDPOINT_PAGE,
  type EndpointOwner,
  ownedEndpointRoutes,
  ROTATE_DESCRIPTION,
  SECRET_ONCE,
} from './owned-endpoints.ts';

const tag = 'Webhooks';

const READ = {
  operationId: 'getWebhookEndpoint',
  method: 'GET',
  path: '/webhook-endpoints/{id}',
  client: 'webhookEndpoints.retrieve',
  summary: 'Get a webhook endpoint',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: ENDPOINT_ID,
  answers: { 200: Endpoint },
  refusals: ['not_found'],
} as const;

const ENDPOINTS = {
  create: {
    operationId: 'createWebhookEndpoint',
    method: 'POST',
    path: '/webhook-endpoints',
    client: 'webhookEndpoints.create',
    summary: 'Register a webhook endpoint',
    description: `Events are sent to it as signed POST requests. ${SECRET_ONCE}`,
    tag,
    roles: ['owner', 'admin'],
    scopes: ['all'],
    audit: { object: 'webhook_endpoint' },
    body: EndpointCreate,
    idempotent: true,
    answers: { 201: EndpointWithSecret },
    refusals: ['conflict'],
  },
  list: {
    operationId: 'listWebhookEndpoints',
    method: 'GET',
    path: '/webhook-endpoints',
    client: 'webhookEndpoints.list',
    summary: 'List webhook endpoints, newest first',
    tag,
    roles: ['owner', 'admin', 'support', 'read_only'],
    scopes: ['all', 'read'],
    audit: 'nothing',
    query: ENDPOINT_PAGE,
    answers: { 200: ListOf(Endpoint) },
  },
  read: READ,
  change: {
    operationId: 'updateWebhookEndpoint',
    method: 'PATCH',
    path: '/webhook-endpoints/{id}',
    client: 'webhookEndpoints.update',
    summary: 'Update a webhook endpoint',
    description: CHANGE_DESCRIPTION,
    tag,
    roles: ['owner', 'admin'],
    scopes: ['all'],
    audit: { object: 'webhook_endpoint', before: READ },
    params: ENDPOINT_ID,
    body: EndpointChange,
    answers: { 200: Endpoint },
    refusals: ['not_found'],
  },
  remove: {
    operationId: 'deleteWebhookEndpoint',
    method: 'DELETE',
    path: '/webhook-endpoints/{id}',
    client: 'webhookEndpoints.del',
    summary: 'Delete a webhook endpoint',
    description: 'Nothing more is sent to it. Past deliveries can still be read by their ids.',
    tag,
    roles: ['owner', 'admin'],
    scopes: ['all'],
    audit: { object: 'webhook_endpoint', before: READ },
    params: ENDPOINT_ID,
    answers: { 204: null },
    refusals: ['not_found'],
  },
  rotate: {
    operationId: 'rotateWebhookEndpointSecret',
    method: 'POST',
    path: '/webhook-endpoints/{id}/rotate-secret',
    client: 'webhookEndpoints.rotateSecret',
    summary: 'Rotate the secret of a webhook endpoint',
    description: ROTATE_DESCRIPTION,
    tag,
    roles: ['owner', 'admin'],
    scopes: ['all'],
    audit: { object: 'webhook_endpoint', id: 'path' },
    params: ENDPOINT_ID,
    idempotent: true,
    answers: { 200: RotatedSecret },
    refusals: ['not_found'],
  },
} as const;

const TEST = {
  operationId: 'sendSampleEvent',
  method: 'POST',
  path: '/webhook-endpoints/{id}/test',
  client: 'webhookEndpoints.test',
  summary: 'Send a sample event to a webhook endpoint',
  description:
    'Of the given type, or else of one that the endpoint subscribes to; `data.test` is true. No ' +
    'other endpoint gets it.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'webhook_endpoint', id: 'path' },
  params: ENDPOINT_ID,
  body: SampleRequest,
  bodyOptional: true,
  idempotent: true,
  answers: { 200: Delivery },
  refusals: ['not_found', 'invalid_state'],
} as const;

const DELIVERIES = {
  operationId: 'listDeliveries',
  method: 'GET',
  path: '/webhook-endpoints/{id}/deliveries',
  client: 'webhookEndpoints.listDeliveries',
  summary: 'List the deliveries of a webhook endpoint, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: ENDPOINT_ID,
  query: DeliveryQuery,
  answers: { 200: ListOf(Delivery) },
  refusals: ['not_found'],
} as const;

const REPLAY = {
  operationId: 'replayEvents',
  method: 'POST',
  path: '/webhook-endpoints/{id}/replay',
  client: 'webhookEndpoints.replay',
  summary: 'Send a range of events to a webhook endpoint again',
  description:
    'Every event of these types in this range, whether it was delivered before or not, also if ' +
    'the endpoint did not subscribe to it or did not exist yet. `count` is their number; events ' +
    'that are being sent, or that are just being passed on, are not included. A large range ' +
    'takes a while: with an Idempotency-Key the count can be asked for again.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'webhook_endpoint', id: 'path' },
  params: ENDPOINT_ID,
  body: ReplayRequest,
  idempotent: true,
  answers: { 200: Replayed },
  refusals: ['not_found', 'invalid_state'],
} as const;

const DISABLED = 'nothing is sent to a disabled endpoint: enable it first';

export function webhookEndpointRoutes(deps: EndpointDeps): Route[] {
  const owner: EndpointOwner = {
    route: (operation, handler) => deps.edge.organisation(operation, handler),
    operations: ENDPOINTS,
    byDefault: DEFAULT_TYPES,
    wire: fromEndpoint,
  };
  return [
    ...ownedEndpointRoutes(deps, owner),
    testEndpoint(deps),
    readDeliveries(deps),
    replayEvents(deps),
  ];
}

function testEndpoint({ edge, sql, ids, clock }: EndpointDeps): Route {
  return edge.organisation(
    TEST,
    async ({ principal, params: { id }, body = {}, idempotencyKey: key }) => {
      const endpoint = await findEndpoint(sql, principal, id);
      if (endpoint === null) return noSuchEndpoint();
      const now = clock.now();
      const request = { id: endpoint.id, ...body };
      return once(
        { sql, principal, operation: TEST, key, body: request, now },
        async (transaction) => {
          if (endpoint.status === 'disabled') return refusal('invalid_state', DISABLED);
          const event = sampleOf(body.type ?? firstType(endpoint), { ids, now });
          const sent = await sendSample(transaction, principal, { event, endpointId: endpoint.id });
          // The endpoint was deleted meanwhile.
          if (sent === null) return refusal('not_found', 'no such webhook endpoint');
          return answer(200, fromDelivery(sent));
        },
      );
    },
  );
}

function firstType({ eventTypes: [first = '*'] }: EndpointRecord): EventType {
  return first === '*' ? 'payment.succeeded' : first;
}

function readDeliveries({ edge, sql, lists }: EndpointDeps): Route {
  return edge.organisation(DELIVERIES, async ({ principal, params: { id }, query }) => {
    const endpoint = await findEndpoint(sql, principal, id);
    if (endpoint === null) return noSuchEndpoint();
    const filter = { status: query.status, eventType: query.event_type };
    return answerList(
      lists,
      { principal, query },
      {
        name: 'deliveries',
        whose: { endpoint_id: endpoint.id },
        rows: (own, page) => listDeliveries(own, endpoint.id, { ...page, ...filter }),
        show: fromDelivery,
      },
    );
  });
}

function replayEvents({ edge, sql, replays, clock }: EndpointDeps): Route {
  return edge.organisation(
    REPLAY,
    async ({ principal, params: { id }, body, idempotencyKey: key }) => {
      const endpoint = await findEndpoint(sql, principal, id);
      if (endpoint === null) return noSuchEndpoint();
      const range = toReplayRange(body, endpoint.eventTypes);
      if ('length' in range) return refuseInvalid(range);
      const now = clock.now();
      const request = { id: endpoint.id, ...body };
      return replays.run(principal, (own) => {
        const attempt = { sql: own, principal, operation: REPLAY, key, body: request, now };
        return once(attempt, async (transaction) => {
          if (endpoint.status === 'disabled') return refusal('invalid_state', DISABLED);
          const what = { ...range, endpointId: endpoint.id, now };
          const act = body.dry_run === true ? countReplay : replay;
          const count = await act(transaction, principal, what);
          return answer(200, { count } satisfies Static<typeof Replayed>);
        });
      });
    },
  );
}
