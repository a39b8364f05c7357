// Webhook endpoints of an owner, who is an organisation or a group: the routes that both have, each below a path of its own.
import type { TSchema } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  type EndpointRecord,
  findEndpoint,
  listEndpoints,
  type Subscription,
  whoseEndpoints,
} from '../../records/webhook-endpoints.ts';
import type { Principal } from '../edge/auth.ts';
import type { Route } from '../edge/edge.ts';
import type { Handler, Operation } from '../operation.ts';
import { answerList, PAGE } from '../list.ts';
import type { Tag } from '../openapi/tags.ts';
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
  type EndpointChange,
  type EndpointCreate,
  type PartnerEndpointChange,
  type PartnerEndpointCreate,
  RotatedSecret,
  toEndpointPatch,
} from '../wire/webhooks.ts';

export type Owned = {
  readonly path: string;
  /** For this owner's key. */
  route<const O extends Operation>(operation: O, handler: Handler<O, Principal>): Route;
  readonly tag: Tag;
  /** What the document says. */
  readonly words: {
    /** Behind "a" and "an". */
    readonly one: string;
    /** In the names of the operations. */
    readonly id: string;
    readonly all: string;
    readonly registered: string;
    readonly deleted: string;
  };
  readonly schemas: {
    readonly create: typeof EndpointCreate | typeof PartnerEndpointCreate;
    readonly change: typeof EndpointChange | typeof PartnerEndpointChange;
    readonly endpoint: TSchema;
    readonly withSecret: TSchema;
  };
  /** What one hears that names nothing. */
  readonly byDefault: Subscription;
  readonly wire: (endpoint: EndpointRecord) => object;
};

export function ownedEndpointRoutes(deps: EndpointDeps, owned: Owned) {
  const { path } = owned;
  const operations = operationsOf(owned);
  return new Elysia()
    .post(path, ...createEndpoint(deps, owned, operations))
    .get(path, ...readEndpoints(deps, owned, operations))
    .get(`${path}/:id`, ...readEndpoint(deps, owned, operations))
    .patch(`${path}/:id`, ...changeEndpoint(deps, owned, operations))
    .delete(`${path}/:id`, ...removeEndpoint(deps, owned, operations))
    .post(`${path}/:id/rotate-secret`, ...rotateSecret(deps, owned, operations));
}

type Operations = ReturnType<typeof operationsOf>;

function operationsOf({ tag, words, schemas }: Owned) {
  const of = { tag, params: { id: 'The id of the endpoint.' } } as const;
  return {
    create: {
      operationId: `create${words.id}`,
      summary: `Register a ${words.one}`,
      description: `${words.registered} The answer holds the secret to verify them with, this once.`,
      tag,
      body: schemas.create,
      idempotent: true,
      answers: { 201: schemas.withSecret },
      refusals: ['conflict'],
    },
    list: {
      operationId: `list${words.id}s`,
      summary: `List ${words.all}, newest first`,
      tag,
      query: Body(PAGE),
      answers: { 200: ListOf(schemas.endpoint) },
    },
    read: {
      operationId: `get${words.id}`,
      summary: `Get a ${words.one}`,
      ...of,
      answers: { 200: schemas.endpoint },
      refusals: ['not_found'],
    },
    change: {
      operationId: `update${words.id}`,
      summary: `Change a ${words.one}`,
      description:
        'Events for a disabled endpoint are held. To enable it sends what was held, each with a schedule of its own, and forgets how ' +
        'the endpoint failed. Other types of event count from the next event on.',
      ...of,
      body: schemas.change,
      answers: { 200: schemas.endpoint },
      refusals: ['not_found'],
    },
    remove: {
      operationId: `delete${words.id}`,
      summary: `Delete a ${words.one}`,
      description: words.deleted,
      ...of,
      answers: { 204: null },
      refusals: ['not_found'],
    },
    rotate: {
      operationId: `rotate${words.id}Secret`,
      summary: `Replace the secret of a ${words.one}`,
      description:
        'Deliveries are signed with the replaced secret too, for 24 hours. To replace the secret again ends that for the first one.',
      ...of,
      idempotent: true,
      answers: { 200: RotatedSecret },
      refusals: ['not_found'],
    },
  } as const;
}

function createEndpoint(deps: EndpointDeps, owned: Owned, { create }: Operations): Route {
  const { path, byDefault, wire } = owned;
  const operation = `POST ${path}`;
  return owned.route(create, ({ principal, body, idempotencyKey: key }) =>
    register(deps, { principal, operation, key, body, byDefault, wire }),
  );
}

function readEndpoints({ lists }: EndpointDeps, owned: Owned, { list }: Operations): Route {
  return owned.route(list, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'webhookEndpoints',
        whose: whoseEndpoints(principal),
        rows: (sql, page) => listEndpoints(sql, principal, page),
        show: owned.wire,
      },
    ),
  );
}

function readEndpoint({ sql }: EndpointDeps, owned: Owned, { read }: Operations): Route {
  return owned.route(read, async ({ principal, params: { id } }) => {
    const endpoint = await findEndpoint(sql, principal, id);
    return endpoint === null ? noSuchEndpoint() : Response.json(owned.wire(endpoint));
  });
}

function changeEndpoint(deps: EndpointDeps, owned: Owned, operations: Operations): Route {
  return owned.route(operations.change, async ({ principal, params: { id }, body }) => {
    const changed = await change(deps, principal, { id, patch: toEndpointPatch(body) });
    return changed instanceof Response ? changed : Response.json(owned.wire(changed));
  });
}

function removeEndpoint(deps: EndpointDeps, owned: Owned, operations: Operations): Route {
  return owned.route(operations.remove, ({ principal, params: { id } }) =>
    remove(deps, principal, id),
  );
}

function rotateSecret(deps: EndpointDeps, owned: Owned, operations: Operations): Route {
  const operation = `POST ${owned.path}/{id}/rotate-secret`;
  return owned.route(operations.rotate, ({ principal, params: { id }, idempotencyKey: key }) =>
    rotate(deps, { principal, operation, key, id }),
  );
}
