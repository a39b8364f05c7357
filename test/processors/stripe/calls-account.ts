// The calls of the account, its events and its webhook endpoints.
import type Stripe from 'stripe';
import { found } from './books.ts';
import { answers, lists, type Route, tells } from './call.ts';
import { API_VERSION, createEndpoint, EVENT_TYPES } from './endpoints.ts';
import { expandNothing } from './expand.ts';
import { isAsked, isWithin } from './list.ts';
import { bool, list, metadata, oneOf, range, required, shape, text, url } from './params.ts';

export const ACCOUNT_CALLS: readonly Route[] = [
  answers(
    'GET',
    '/v1/account',
    'accounts_kyc_basic_read',
    {},
    expandNothing,
    ({ books }) => books.account,
  ),
  answers('GET', '/v1/events/:id', 'event_read', {}, expandNothing, ({ books, id }) =>
    found(books.events, id, 'event'),
  ),
  lists(
    '/v1/events',
    'event_read',
    shape<Stripe.EventListParams>()({ created: range, type: text, types: list(text, 20) }),
    expandNothing,
    ({ books, params }) =>
      [...books.events.values()].filter(
        (one) =>
          isWithin(one.created, params.created) &&
          isAsked<string>(one.type, params.type) &&
          (params.types === undefined || params.types.includes(one.type)),
      ),
  ),
  answers(
    'POST',
    '/v1/webhook_endpoints',
    'webhook_write',
    shape<Stripe.WebhookEndpointCreateParams>()({
      api_version: oneOf(API_VERSION),
      description: text,
      enabled_events: required(list(oneOf(...EVENT_TYPES))),
      metadata,
      url: required(url),
    }),
    expandNothing,
    ({ books, params }) => createEndpoint(books, params),
  ),
  lists('/v1/webhook_endpoints', 'webhook_read', {}, expandNothing, ({ books }) =>
    books.endpoints.values(),
  ),
  answers('GET', '/v1/webhook_endpoints/:id', 'webhook_read', {}, expandNothing, ({ books, id }) =>
    found(books.endpoints, id, 'webhook endpoint'),
  ),
  answers(
    'POST',
    '/v1/webhook_endpoints/:id',
    'webhook_write',
    shape<Stripe.WebhookEndpointUpdateParams>()({
      description: text,
      disabled: bool,
      enabled_events: list(oneOf(...EVENT_TYPES)),
      metadata,
      url,
    }),
    expandNothing,
    ({ books, params, id }) => {
      const endpoint = found(books.endpoints, id, 'webhook endpoint');
      endpoint.url = params.url ?? endpoint.url;
      endpoint.description = params.description ?? endpoint.description;
      endpoint.enabled_events = params.enabled_events ?? endpoint.enabled_events;
      endpoint.metadata = { ...endpoint.metadata, ...params.metadata };
      if (params.disabled !== undefined) endpoint.status = params.disabled ? 'disabled' : 'enabled';
      return endpoint;
    },
  ),
  tells('DELETE', '/v1/webhook_endpoints/:id', 'webhook_write', {}, ({ books, id }) => {
    found(books.endpoints, id, 'webhook endpoint');
    books.endpoints.delete(id);
    return { id, object: 'webhook_endpoint', deleted: true };
  }),
];
