import { PARTNER_DEFAULT_TYPES } from '../../records/webhook-endpoints.ts';
import type { EndpointDeps } from '../webhook-endpoints.ts';
import {
  fromPartnerEndpoint,
  PartnerEndpoint,
  PartnerEndpointChange,
  PartnerEndpointCreate,
  PartnerEndpointWithSecret,
  RotatedSecret,
} from '../wire/webhooks.ts';
import { ListOf } from '../wire/values.ts';
import {
  CHANGE_DESCRIPTION,
  ENDPOINT_ID,
  ENDPOINT_PAGE,
  ownedEndpointRoutes,
  ROTATE_DESCRIPTION,
  SECRET_ONCE,
} from './owned-endpoints.ts';

const tag = 'Partner';

const READ = {
  operationId: 'getPartnerWebhookEndpoint',
  method: 'GET',
  path: '/partner/webhook-endpoints/{id}',
  client: 'partnerWebhookEndpoints.retrieve',
  summary: "Get a group's webhook endpoint",
  tag,
  roles: [],
  scopes: ['all'],
  audit: 'nothing',
  params: ENDPOINT_ID,
  answers: { 200: PartnerEndpoint },
  refusals: ['not_found'],
} as const;

const ENDPOINTS = {
  create: {
    operationId: 'createPartnerWebhookEndpoint',
    method: 'POST',
    path: '/partner/webhook-endpoints',
    client: 'partnerWebhookEndpoints.create',
    summary: "Register a group's webhook endpoint",
    description: `Events of every organization in the group are sent to it; \`data.organizationId\` says of which. ${SECRET_ONCE}`,
    tag,
    roles: [],
    scopes: ['all'],
    audit: { object: 'webhook_endpoint' },
    body: PartnerEndpointCreate,
    idempotent: true,
    answers: { 201: PartnerEndpointWithSecret },
    refusals: ['conflict'],
  },
  list: {
    operationId: 'listPartnerWebhookEndpoints',
    method: 'GET',
    path: '/partner/webhook-endpoints',
    client: 'partnerWebhookEndpoints.list',
    summary: "List the group's webhook endpoints, newest first",
    tag,
    roles: [],
    scopes: ['all'],
    audit: 'nothing',
    query: ENDPOINT_PAGE,
    answers: { 200: ListOf(PartnerEndpoint) },
  },
  read: READ,
  change: {
    operationId: 'updatePartnerWebhookEndpoint',
    method: 'PATCH',
    path: '/partner/webhook-endpoints/{id}',
    client: 'partnerWebhookEndpoints.update',
    summary: "Update a group's webhook endpoint",
    description: CHANGE_DESCRIPTION,
    tag,
    roles: [],
    scopes: ['all'],
    audit: { object: 'webhook_endpoint', before: READ },
    params: ENDPOINT_ID,
    body: PartnerEndpointChange,
    answers: { 200: PartnerEndpoint },
    refusals: ['not_found'],
  },
  remove: {
    operationId: 'deletePartnerWebhookEndpoint',
    method: 'DELETE',
    path: '/partner/webhook-endpoints/{id}',
    client: 'partnerWebhookEndpoints.del',
    summary: "Delete a group's webhook endpoint",
    description: 'Nothing more is sent to it.',
    tag,
    roles: [],
    scopes: ['all'],
    audit: { object: 'webhook_endpoint', before: READ },
    params: ENDPOINT_ID,
    answers: { 204: null },
    refusals: ['not_found'],
  },
  rotate: {
    operationId: 'rotatePartnerWebhookEndpointSecret',
    method: 'POST',
    path: '/partner/webhook-endpoints/{id}/rotate-secret',
    client: 'partnerWebhookEndpoints.rotateSecret',
    summary: "Rotate the secret of a group's webhook endpoint",
    description: ROTATE_DESCRIPTION,
    tag,
    roles: [],
    scopes: ['all'],
    audit: { object: 'webhook_endpoint', id: 'path' },
    params: ENDPOINT_ID,
    idempotent: true,
    answers: { 200: RotatedSecret },
    refusals: ['not_found'],
  },
} as const;

export function partnerRoutes(deps: EndpointDeps) {
  return ownedEndpointRoutes(deps, {
    route: (operation, handler) => deps.edge.group(operation, handler),
    operations: ENDPOINTS,
    byDefault: PARTNER_DEFAULT_TYPES,
    wire: fromPartnerEndpoint,
  });
}
