import { Elysia } from 'elysia';
import {
  type EndpointRecord,
  findEndpoint,
  listEndpoints,
  PARTNER_DEFAULT_TYPES,
} from '../../records/webhook-endpoints.ts';
import type { GroupPrincipal } from '../auth.ts';
import type { Route } from '../edge.ts';
import { listed, PAGE, pageOf } from '../query.ts';
import {
  change,
  type EndpointDeps,
  noSuchEndpoint,
  register,
  remove,
  rotate,
} from '../webhook-endpoints.ts';
import { Body, ListOf } from '../wire/values.ts';
import {
  fromPartnerEndpoint,
  PartnerEndpoint,
  PartnerEndpointChange,
  PartnerEndpointCreate,
  PartnerEndpointWithSecret,
  RotatedSecret,
  toEndpointPatch,
} from '../wire/webhooks.ts';

const tag = 'Partner';
const params = { id: 'The id of the endpoint.' };

const CREATE = {
  summary: "Register a group's webhook endpoint",
  description:
    'Events of every organisation in the group are delivered to it; `data.organizationId` says of which. The answer holds the ' +
    'secret to verify them with, this once.',
  tag,
  body: PartnerEndpointCreate,
  idempotent: true,
  answers: { 201: PartnerEndpointWithSecret },
  refusals: ['conflict', 'idempotency_in_progress', 'idempotency_key_reused'],
} as const;

const LIST = {
  summary: "List the group's webhook endpoints, newest first",
  tag,
  query: Body(PAGE),
  answers: { 200: ListOf(PartnerEndpoint) },
} as const;

const READ = {
  summary: "Get a group's webhook endpoint",
  tag,
  params,
  answers: { 200: PartnerEndpoint },
  refusals: ['not_found'],
} as const;

const CHANGE = {
  summary: "Change a group's webhook endpoint",
  description: 'Events for a disabled endpoint are held; to enable it sends what was held.',
  tag,
  params,
  body: PartnerEndpointChange,
  answers: { 200: PartnerEndpoint },
  refusals: ['not_found'],
} as const;

const DELETE = {
  summary: "Delete a group's webhook endpoint",
  description: 'Nothing more is sent to it.',
  tag,
  params,
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

const ROTATE = {
  summary: "Replace the secret of a group's webhook endpoint",
  description:
    'Deliveries are signed with the replaced secret too, for 24 hours. To replace the secret again ends that for the first one.',
  tag,
  params,
  idempotent: true,
  answers: { 200: RotatedSecret },
  refusals: ['not_found', 'idempotency_in_progress', 'idempotency_key_reused'],
} as const;

export function partnerRoutes(deps: EndpointDeps) {
  return new Elysia()
    .post('/partner/webhook-endpoints', ...createEndpoint(deps))
    .get('/partner/webhook-endpoints', ...readEndpoints(deps))
    .get('/partner/webhook-endpoints/:id', ...readEndpoint(deps))
    .patch('/partner/webhook-endpoints/:id', ...changeEndpoint(deps))
    .delete('/partner/webhook-endpoints/:id', ...removeEndpoint(deps))
    .post('/partner/webhook-endpoints/:id/rotate-secret', ...rotateSecret(deps));
}

const wireFor =
  ({ groupId }: GroupPrincipal) =>
  (endpoint: EndpointRecord) =>
    fromPartnerEndpoint({ ...endpoint, groupId });

function createEndpoint(deps: EndpointDeps): Route {
  return deps.edge.group(CREATE, ({ principal, body, idempotencyKey: key }) => {
    const operation = 'POST /partner/webhook-endpoints';
    const how = { byDefault: PARTNER_DEFAULT_TYPES, wire: wireFor(principal) };
    return register(deps, { principal, operation, key, body, ...how });
  });
}

function readEndpoints({ edge, sql }: EndpointDeps): Route {
  return edge.group(LIST, async ({ principal, query }) => {
    const page = pageOf(query);
    const endpoints = await listEndpoints(sql, principal, page);
    return Response.json(listed(endpoints.map(wireFor(principal)), page));
  });
}

function readEndpoint({ edge, sql }: EndpointDeps): Route {
  return edge.group(READ, async ({ principal, params: { id } }) => {
    const endpoint = await findEndpoint(sql, principal, id);
    return endpoint === null ? noSuchEndpoint() : Response.json(wireFor(principal)(endpoint));
  });
}

function changeEndpoint(deps: EndpointDeps): Route {
  return deps.edge.group(CHANGE, async ({ principal, params: { id }, body }) => {
    const changed = await change(deps, principal, { id, patch: toEndpointPatch(body) });
    return changed instanceof Response ? changed : Response.json(wireFor(principal)(changed));
  });
}

function removeEndpoint(deps: EndpointDeps): Route {
  return deps.edge.group(DELETE, ({ principal, params: { id } }) => remove(deps, principal, id));
}

function rotateSecret(deps: EndpointDeps): Route {
  const operation = 'POST /partner/webhook-endpoints/{id}/rotate-secret';
  return deps.edge.group(ROTATE, ({ principal, params: { id }, idempotencyKey: key }) =>
    rotate(deps, { principal, operation, key, id }),
  );
}
