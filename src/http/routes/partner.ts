import { PARTNER_DEFAULT_TYPES } from '../../records/webhook-endpoints.ts';
import type { EndpointDeps } from '../webhook-endpoints.ts';
import {
  fromPartnerEndpoint,
  PartnerEndpoint,
  PartnerEndpointChange,
  PartnerEndpointCreate,
  PartnerEndpointWithSecret,
} from '../wire/webhooks.ts';
import { ownedEndpointRoutes } from './owned-endpoints.ts';

export function partnerRoutes(deps: EndpointDeps) {
  return ownedEndpointRoutes(deps, {
    path: '/partner/webhook-endpoints',
    route: (operation, handler) => deps.edge.group(operation, handler),
    tag: 'Partner',
    words: {
      one: "group's webhook endpoint",
      id: 'PartnerWebhookEndpoint',
      all: "the group's webhook endpoints",
      registered:
        'Events of every organisation in the group are delivered to it; `data.organizationId` says of which.',
      deleted: 'Nothing more is sent to it.',
    },
    schemas: {
      create: PartnerEndpointCreate,
      change: PartnerEndpointChange,
      endpoint: PartnerEndpoint,
      withSecret: PartnerEndpointWithSecret,
    },
    byDefault: PARTNER_DEFAULT_TYPES,
    wire: fromPartnerEndpoint,
  });
}
