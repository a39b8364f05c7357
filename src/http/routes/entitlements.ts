import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import {
  deleteEntitlement,
  insertEntitlement,
  listEntitlements,
} from '../../records/entitlements.ts';
import { findActiveMeter } from '../../records/meters.ts';
import { findProduct } from '../../records/products.ts';
import { ofScope } from '../../records/page.ts';
import { UsageConflict } from '../../records/usage-conflicts.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { answer, once, refusal } from '../idempotency/idempotency.ts';
import { answerList, PAGE } from '../list.ts';
import {
  Entitlement,
  EntitlementCreate,
  fromEntitlement,
  toNewEntitlement,
} from '../wire/entitlements.ts';
import { Body, ListOf } from '../wire/values.ts';

export type EntitlementRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly settings: Settings;
};

const tag = 'Products';
const params = { id: 'The id of the product.' };

const CREATE = {
  operationId: 'attachFeature',
  method: 'POST',
  path: '/products/{id}/entitlements',
  client: 'products.createFeature',
  summary: 'Attach a feature to a product',
  description:
    'New subscriptions to the product, and changes to it, get the feature at once; existing ' +
    'subscriptions get it from the next period on. A product has a feature once. If the product ' +
    'has a usage price for the feature, the allowance must be one beyond which usage can be sold.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'entitlement' },
  params,
  body: EntitlementCreate,
  idempotent: true,
  answers: { 201: Entitlement },
  refusals: ['not_found', 'conflict'],
} as const;

const LIST = {
  operationId: 'listFeatures',
  method: 'GET',
  path: '/products/{id}/entitlements',
  client: 'products.listFeatures',
  summary: 'List the features of a product, oldest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  query: Body(PAGE),
  answers: { 200: ListOf(Entitlement) },
  refusals: ['not_found'],
} as const;

const DELETE = {
  operationId: 'detachFeature',
  method: 'DELETE',
  path: '/products/{id}/entitlements/{entitlement_id}',
  client: 'products.deleteFeature',
  summary: 'Detach a feature from a product',
  description: 'Customers keep what they were given until their period ends.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'entitlement' },
  params: { ...params, entitlement_id: 'The id of the entitlement.' },
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

const TAKEN = 'the product gives this feature already';
const notFound = (what: string) => refuse('not_found', `no such ${what}`);

export function entitlementRoutes(deps: EntitlementRoutesDeps): Route[] {
  return [attachFeature(deps), readFeatures(deps), detachFeature(deps)];
}

function attachFeature(deps: EntitlementRoutesDeps): Route {
  const { edge, sql, ids, orgClock } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(
    CREATE,
    async ({ principal, params: { id }, body, idempotencyKey: key }) => {
      const product = await findProduct(sql, principal, id);
      if (product === null) return notFound('product');
      const meter = await findActiveMeter(sql, principal, body.feature_key);
      if (meter === null) return notFound('feature');
      const entitlement = toNewEntitlement(body, { id: ids.next(), product, meter });
      if ('issues' in entitlement) return refuseInvalid(entitlement.issues);
      const now = orgClock.now(principal);
      // The product is part of the request that a key is for.
      const request = { product_id: product.id, ...body };
      return once(
        { sql, principal, operation: CREATE, key, body: request, now },
        async (transaction) => {
          const wanted = { entitlement, bounds, now };
          const made = await insertEntitlement(transaction, principal, wanted);
          if (made === 'meter_deleted') return refusal('not_found', 'no such feature');
          if (made === 'feature_taken') return refusal('conflict', TAKEN);
          if (made instanceof Full || made instanceof UsageConflict) {
            return refusal('conflict', made.message);
          }
          return answer(201, fromEntitlement(made));
        },
      );
    },
  );
}

function readFeatures({ edge, sql, lists }: EntitlementRoutesDeps): Route {
  return edge.organisation(LIST, async ({ principal, params: { id }, query }) => {
    if ((await findProduct(sql, principal, id)) === null) return notFound('product');
    return answerList(
      lists,
      { principal, query },
      {
        name: 'entitlements',
        whose: { ...ofScope(principal), product_id: id },
        rows: async (own, { limit, offset, after }) => {
          const all = await listEntitlements(own, principal, id);
          const behind = after === undefined ? all : all.filter((each) => each.id > after.id);
          return behind.slice(offset, offset + limit + 1);
        },
        show: fromEntitlement,
      },
    );
  });
}

function detachFeature({ edge, sql }: EntitlementRoutesDeps): Route {
  return edge.organisation(
    DELETE,
    async ({ principal, params: { id: productId, entitlement_id: id } }) => {
      const isGone = await deleteEntitlement(sql, principal, { productId, id });
      return isGone ? new Response(null, { status: 204 }) : notFound('entitlement');
    },
  );
}
