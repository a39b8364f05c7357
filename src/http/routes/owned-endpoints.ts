// Webhook endpoints of an owner, who is an organisation or a group: the routes that both have, each
// What an operation says of itself stands with the owner's routes.
import {
  type EndpointRecord,
  findEndpoint,
  listEndpoints,
  type Subscription,
  whoseEndpoints,
} from '../../records/webhook-endpoints.ts';
import type { Principal } from '../edge/auth.ts';
import type { Route } from '../edge/edge.ts';
import type { Handler } from '../operation.ts';
import type { KeyedOperation } from '../policy.ts';
import { answerList, PAGE } from '../list.ts';
import {
  change,
  type EndpointDeps,
  noSuchEndpoint,
  register,
  remove,
  rotate,
} from '../webhook-endpoints.ts';
import { Body } from '../wire/values.ts';
import {
  type EndpointChange,
  type EndpointCreate,
  type PartnerEndpointChange,
  type PartnerEndpointCreate,
  toEndpointPatch,
} from '../wire/webhooks.ts';

type ById = KeyedOperation & { readonly params: typeof ENDPOINT_ID };

/** The operations of one owner's endpoints, as its part of the document says them. */
type EndpointOperations = {
  readonly create: KeyedOperation & {
    readonly body: typeof EndpointCreate | typeof PartnerEndpointCreate;
  };
  readonly list: KeyedOperation & { readonly query: typeof ENDPOINT_PAGE };
  readonly read: ById;
  readonly change: ById & { readonly body: typeof EndpointChange | typeof PartnerEndpointChange };
  readonly remove: ById;
  readonly rotate: ById;
};

export const ENDPOINT_ID = { id: 'The id of the endpoint.' };
export const ENDPOINT_PAGE = Body(PAGE);

/** What is true of both owners' endpoints. */
export const SECRET_ONCE = 'The answer has the signing secret, only this once.';
export const CHANGE_DESCRIPTION =
  'Events for a disabled endpoint are held. Enabling it sends the held events, each with its own ' +
  'retry schedule, and resets its failures. Other event types apply from the next event on.';
export const ROTATE_DESCRIPTION =
  'Deliveries are also signed with the old secret for 24 hours. Rotating again ends that for the ' +
  'older one.';

export type EndpointOwner = {
  /** For this owner's key. */
  route<const O extends KeyedOperation>(operation: O, handler: Handler<O, Principal>): Route;
  readonly operations: EndpointOperations;
  /** The types of events of an endpoint that names none. */
  readonly byDefault: Subscription;
  readonly wire: (endpoint: EndpointRecord) => { readonly id: string };
};

export function ownedEndpointRoutes(deps: EndpointDeps, owner: EndpointOwner): Route[] {
  return [
    createEndpoint(deps, owner),
    readEndpoints(deps, owner),
    readEndpoint(deps, owner),
    changeEndpoint(deps, owner),
    removeEndpoint(deps, owner),
    rotateSecret(deps, owner),
  ];
}

function createEndpoint(deps: EndpointDeps, owner: EndpointOwner): Route {
  const { operations, byDefault, wire } = owner;
  const operation = operations.create;
  return owner.route(operations.create, ({ principal, body, idempotencyKey: key }) =>
    register(deps, { principal, operation, key, body, byDefault, wire }),
  );
}

function readEndpoints({ lists }: EndpointDeps, owner: EndpointOwner): Route {
  return owner.route(owner.operations.list, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'webhookEndpoints',
        whose: whoseEndpoints(principal),
        rows: (sql, page) => listEndpoints(sql, principal, page),
        show: owner.wire,
      },
    ),
  );
}

function readEndpoint({ sql }: EndpointDeps, owner: EndpointOwner): Route {
  return owner.route(owner.operations.read, async ({ principal, params: { id } }) => {
    const endpoint = await findEndpoint(sql, principal, id);
    return endpoint === null ? noSuchEndpoint() : Response.json(owner.wire(endpoint));
  });
}

function changeEndpoint(deps: EndpointDeps, owner: EndpointOwner): Route {
  return owner.route(owner.operations.change, async ({ principal, params: { id }, body }) => {
    const changed = await change(deps, principal, { id, patch: toEndpointPatch(body) });
    return changed instanceof Response ? changed : Response.json(owner.wire(changed));
  });
}

function removeEndpoint(deps: EndpointDeps, owner: EndpointOwner): Route {
  return owner.route(owner.operations.remove, ({ principal, params: { id } }) =>
    remove(deps, principal, id),
  );
}

function rotateSecret(deps: EndpointDeps, owner: EndpointOwner): Route {
  const operation = owner.operations.rotate;
  return owner.route(
    owner.operations.rotate,
    ({ principal, params: { id }, idempotencyKey: key }) =>
      rotate(deps, { principal, operation, key, id }),
  );
}
