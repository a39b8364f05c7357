import { Type } from '@sinclair/typebox';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import {
  archivePrice,
  findProduct,
  insertPrice,
  insertProduct,
  listProducts,
  type ProductPatch,
  updateProduct,
} from '../../records/products.ts';
import { ofScope } from '../../records/page.ts';
import { PREFIXED_MAX } from '../../records/prefixed.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { UsageConflict } from '../../records/usage-conflicts.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { answer, once, refusal } from '../idempotency/idempotency.ts';
import { answerList, PAGE } from '../list.ts';
import {
  fromPrice,
  fromProduct,
  Price,
  PriceCreate,
  Product,
  ProductChange,
  ProductCreate,
  ProductStatus,
  toNewPrice,
  toNewProduct,
  toProductPatch,
} from '../wire/products.ts';
import { Body, ListOf } from '../wire/values.ts';

export type ProductRoutesDeps = {
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
  operationId: 'createProduct',
  method: 'POST',
  path: '/products',
  client: 'products.create',
  summary: 'Create a product, with its prices',
  description: 'Without a `slug` it gets one from its name.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'product' },
  body: ProductCreate,
  idempotent: true,
  answers: { 201: Product },
  refusals: ['conflict'],
} as const;

const LIST = {
  operationId: 'listProducts',
  method: 'GET',
  path: '/products',
  client: 'products.list',
  summary: 'List products, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body({
    ...PAGE,
    status: Type.Optional(ProductStatus),
    name_prefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: `The beginning of the name, in any case. The first ${PREFIXED_MAX} in alphabetical order are listed.`,
      }),
    ),
  }),
  answers: { 200: ListOf(Product) },
} as const;

const READ = {
  operationId: 'getProduct',
  method: 'GET',
  path: '/products/{id}',
  client: 'products.retrieve',
  summary: 'Get a product with all its prices',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Product },
  refusals: ['not_found'],
} as const;

const CHANGE = {
  operationId: 'updateProduct',
  method: 'PATCH',
  path: '/products/{id}',
  client: 'products.update',
  summary: 'Update a product',
  description:
    'Metadata is replaced as a whole. A slug that is replaced stays reserved for the ' +
    'organization, so an old buy link never leads to another seller.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'product', before: READ },
  params,
  body: ProductChange,
  answers: { 200: Product },
  refusals: ['not_found', 'conflict'],
} as const;

const ARCHIVE = {
  operationId: 'archiveProduct',
  method: 'POST',
  path: '/products/{id}/archive',
  client: 'products.archive',
  summary: 'Archive a product',
  description: 'It can no longer be bought. Repeating the call changes nothing.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'product', before: READ },
  params,
  answers: { 200: Product },
  refusals: ['not_found'],
} as const;

const PUBLISH = {
  operationId: 'publishProduct',
  method: 'POST',
  path: '/products/{id}/publish',
  client: 'products.publish',
  summary: 'Publish a product',
  description: 'It becomes active, whatever its status was. Repeating the call changes nothing.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'product', before: READ },
  params,
  answers: { 200: Product },
  refusals: ['not_found'],
} as const;

const ADD_PRICE = {
  operationId: 'createPrice',
  method: 'POST',
  path: '/products/{id}/prices',
  client: 'products.createPrice',
  summary: 'Add a price to a product',
  description:
    'Recurring with an `interval`, else one-time; a `type` must agree. A price cannot be ' +
    'changed: archive it and add another. The number of prices of a product is bounded, archived ' +
    'ones included (`LIMIT_PRICES_PER_PRODUCT`). 409 if it renews more often than an allowance ' +
    'whose usage is sold is given.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'price' },
  params,
  body: PriceCreate,
  idempotent: true,
  answers: { 201: Price },
  refusals: ['not_found', 'conflict'],
} as const;

const ARCHIVE_PRICE = {
  operationId: 'archivePrice',
  method: 'POST',
  path: '/products/{id}/prices/{price_id}/archive',
  client: 'products.archivePrice',
  summary: 'Archive a price',
  description: 'It can no longer be bought. Repeating the call changes nothing.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'price' },
  params: { ...params, price_id: 'The id of the price.' },
  answers: { 200: Price },
  refusals: ['not_found'],
} as const;

const SLUG_TAKEN = 'another product has this slug';
const notFound = (what = 'product') => refuse('not_found', `no such ${what}`);

export function productRoutes(deps: ProductRoutesDeps): Route[] {
  return [
    createProduct(deps),
    readProducts(deps),
    readProduct(deps),
    changeProduct(deps),
    archiveProduct(deps),
    publishProduct(deps),
    addPrice(deps),
    retirePrice(deps),
  ];
}

function createProduct(deps: ProductRoutesDeps): Route {
  const { edge, sql, ids, orgClock } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(CREATE, ({ principal, body, idempotencyKey: key }) => {
    const product = toNewProduct(body, () => ids.next());
    if ('issues' in product) return refuseInvalid(product.issues);
    const now = orgClock.now(principal);
    const attempt = { sql, principal, operation: CREATE, key, body, now };
    return once(attempt, async (transaction) => {
      const made = await insertProduct(transaction, principal, { product, bounds, now });
      if (made instanceof Full) return refusal('conflict', made.message);
      return made === 'slug_taken'
        ? refusal('conflict', SLUG_TAKEN)
        : answer(201, fromProduct(made));
    });
  });
}

function readProducts({ edge, lists }: ProductRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'products',
        whose: ofScope(principal),
        rows: (sql, page) =>
          listProducts(sql, principal, {
            ...page,
            status: query.status,
            namePrefix: query.name_prefix,
          }),
        show: fromProduct,
      },
    ),
  );
}

function readProduct({ edge, sql }: ProductRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const product = await findProduct(sql, principal, id);
    return product === null ? notFound() : Response.json(fromProduct(product));
  });
}

function changeProduct(deps: ProductRoutesDeps): Route {
  return deps.edge.organisation(CHANGE, ({ principal, params: { id }, body }) =>
    change(deps, principal, { id, patch: toProductPatch(body) }),
  );
}

function archiveProduct(deps: ProductRoutesDeps): Route {
  return deps.edge.organisation(ARCHIVE, ({ principal, params: { id } }) =>
    change(deps, principal, { id, patch: { status: 'archived' } }),
  );
}

function publishProduct(deps: ProductRoutesDeps): Route {
  return deps.edge.organisation(PUBLISH, ({ principal, params: { id } }) =>
    change(deps, principal, { id, patch: { status: 'active' } }),
  );
}

async function change(
  { sql, orgClock, settings: { bounds } }: ProductRoutesDeps,
  scope: Tenant,
  { id, patch }: { id: string; patch: ProductPatch },
): Promise<Response> {
  const now = orgClock.now(scope);
  const changed = await updateProduct(sql, scope, { id, patch, bounds, now });
  if (changed === 'not_found') return notFound();
  if (changed === 'slug_taken') return refuse('conflict', SLUG_TAKEN);
  if (changed instanceof Full) return refuse('conflict', changed.message);
  return Response.json(fromProduct(changed));
}

function addPrice(deps: ProductRoutesDeps): Route {
  const { edge, sql, ids, orgClock } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(
    ADD_PRICE,
    async ({ principal, params: { id }, body, idempotencyKey: key }) => {
      const product = await findProduct(sql, principal, id);
      if (product === null) return notFound();
      const price = toNewPrice(body, { id: ids.next(), path: [] });
      if ('issues' in price) return refuseInvalid(price.issues);
      const now = orgClock.now(principal);
      // The product is part of the request that a key is for.
      const request = { product_id: product.id, ...body };
      return once(
        { sql, principal, operation: ADD_PRICE, key, body: request, now },
        async (transaction) => {
          const wanted = { productId: product.id, price, bounds, now };
          const made = await insertPrice(transaction, wanted);
          return made instanceof Full || made instanceof UsageConflict
            ? refusal('conflict', made.message)
            : answer(201, fromPrice(made));
        },
      );
    },
  );
}

function retirePrice({ edge, sql }: ProductRoutesDeps): Route {
  return edge.organisation(
    ARCHIVE_PRICE,
    async ({ principal, params: { id, price_id: priceId } }) => {
      const named = { productId: id, priceId };
      const price = await archivePrice(sql, principal, named);
      return price === null ? notFound('price') : Response.json(fromPrice(price));
    },
  );
}
