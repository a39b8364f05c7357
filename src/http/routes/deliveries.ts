import type { Clock } from '../../../ledger/ports.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findDelivery, type NotSent, retryDelivery } from '../../records/deliveries.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse } from '../edge/errors.ts';
import { answer, once, refusal } from '../idempotency/idempotency.ts';
import { Delivery, fromDelivery } from '../wire/webhooks.ts';

export type DeliveryRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly clock: Clock;
};

const tag = 'Webhooks';
const params = { id: 'The id of the delivery.' };

const READ = {
  operationId: 'getDelivery',
  method: 'GET',
  path: '/deliveries/{id}',
  client: 'deliveries.retrieve',
  summary: 'Get a delivery, with all its attempts',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Delivery },
  refusals: ['not_found'],
} as const;

const RETRY = {
  operationId: 'retryDelivery',
  method: 'POST',
  path: '/deliveries/{id}/retry',
  client: 'deliveries.retry',
  summary: 'Send a delivery now',
  description:
    'In any state: a delivery that succeeded is sent once more. Not while it is being sent, and ' +
    'not to an endpoint that is disabled or deleted.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'delivery', before: READ },
  params,
  idempotent: true,
  answers: { 200: Delivery },
  refusals: ['not_found', 'invalid_state'],
} as const;

const WHY_NOT: Readonly<Record<NotSent, string>> = {
  in_flight: 'it is being sent at this moment',
  endpoint_disabled: 'nothing is sent to a disabled endpoint: enable it first',
  endpoint_deleted: 'its endpoint was deleted',
};

const NOT_FOUND = 'no such delivery';

export function deliveryRoutes(deps: DeliveryRoutesDeps): Route[] {
  return [readDelivery(deps), retry(deps)];
}

function readDelivery({ edge, sql }: DeliveryRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const delivery = await findDelivery(sql, principal, id);
    return delivery === null
      ? refuse('not_found', NOT_FOUND)
      : Response.json(fromDelivery(delivery));
  });
}

function retry({ edge, sql, clock }: DeliveryRoutesDeps): Route {
  return edge.organisation(RETRY, ({ principal, params: { id }, idempotencyKey: key }) => {
    const now = clock.now();
    return once(
      { sql, principal, operation: RETRY, key, body: { id }, now },
      async (transaction) => {
        const retried = await retryDelivery(transaction, principal, { id, now });
        if (retried === 'not_found') return refusal('not_found', NOT_FOUND);
        if (typeof retried === 'string') return refusal('invalid_state', WHY_NOT[retried]);
        return answer(200, fromDelivery(retried));
      },
    );
  });
}
