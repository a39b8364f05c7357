import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findActiveMeter } from '../../records/meters.ts';
import { ofScope } from '../../records/page.ts';
import { findProduct } from '../../records/products.ts';
import {
  archiveUsagePrice,
  insertUsagePrice,
  listUsagePrices,
} from '../../records/usage-prices.ts';
import { UsageConflict } from '../../records/usage-conflicts.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { answer, once, refusal, refusedField } from '../idempotency/idempotency.ts';
import { answerList, PAGE } from '../list.ts';
import {
  fromUsagePrice,
  toNewUsagePrice,
  UsagePrice,
  UsagePriceCreate,
} from '../wire/usage-prices.ts';
import { Body, ListOf } from '../wire/values.ts';

export type UsagePriceRoutesDeps = {
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
  operationId: 'createUsagePrice',
  method: 'POST',
  path: '/products/{id}/usage-prices',
  client: 'products.createUsagePrice',
  summary: 'Add a usage price to a product',
  description: [
    'What usage of a feature costs beyond its allowance. A subscription takes the active usage ' +
      'prices of its product in its own currency at its start, at each renewal and at a change, ' +
      'and keeps them for that period. `/check` then allows past the limit (`overage_allowed` is ' +
      'true); in a trial it does not, and nothing is charged. A usage price cannot be changed: ' +
      'archive it and add another. A product has one active usage price for each feature and ' +
      'currency. Their number, the number that is active in one currency, and their tiers are ' +
      'bounded (`LIMIT_USAGE_…`).',
    'Units are counted beyond the allowance. `per_unit`: 150 units at `0.002` cost 0.30. ' +
      '`graduated` with tiers up to 100 at `1.00` and then at `0.50`: 100 × 1.00 + 50 × 0.50 = ' +
      '125.00. `volume` with the same tiers: 150 × 0.50 = 75.00. The `flat_amount` of a tier is ' +
      'added once: for each tier that is reached, or with `volume` for the one that has the ' +
      'quantity. `package` of 100 for `5.00`: two are started, 10.00. Then `minimum_amount`, ' +
      'which is charged without usage too, and `maximum_amount` apply. The cost is exact, and ' +
      'rounded half up once for each invoice line.',
    'A span is rated by itself: what the price sells in one period of the allowance. It ends ' +
      'with the period, with the subscription, or when another price or none comes into force; a ' +
      'change that keeps the price does not end it. What is past the limit at its end is on the ' +
      'next renewal invoice, and at the end of the subscription on a final one (`billing_reason` ' +
      'is `usage`). The invoice of a change bills what the span costs so far, less what was ' +
      'billed of it. The minimum is billed when the span ends, for the share of the period in ' +
      'which the price was in force. If the allowance is given more often than the product ' +
      'renews, each span is rated by itself, and they share one line. Late events are a ' +
      '`usage_adjustment` on the next invoice. Discounts do not cover usage. Top-ups and other ' +
      'grants are used before anything is charged.',
    'A feature without an entitlement includes nothing and has the periods of the ' +
      'subscription. An allowance must be limited, be given at least as often as each recurring ' +
      'price of the product renews (archived prices included), and at most 1,000 times until ' +
      'then (all allowances of a product together at most 5,000 times): else 409, whichever ' +
      'comes last. If two subscriptions of a customer price the same feature, the one whose ' +
      'entitlement has the lowest `priority` bills, and among equals the oldest.',
  ].join('\n\n'),
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'usage_price' },
  params,
  body: UsagePriceCreate,
  idempotent: true,
  answers: { 201: UsagePrice },
  refusals: ['not_found', 'conflict'],
} as const;

const LIST = {
  operationId: 'listUsagePrices',
  method: 'GET',
  path: '/products/{id}/usage-prices',
  client: 'products.listUsagePrices',
  summary: 'List the usage prices of a product, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  query: Body(PAGE),
  answers: { 200: ListOf(UsagePrice) },
  refusals: ['not_found'],
} as const;

const ARCHIVE = {
  operationId: 'archiveUsagePrice',
  method: 'POST',
  path: '/products/{id}/usage-prices/{usage_price_id}/archive',
  client: 'products.archiveUsagePrice',
  summary: 'Archive a usage price',
  description:
    'A subscription that has it keeps it until its period ends. Repeating the call changes ' +
    'nothing.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'usage_price' },
  params: { ...params, usage_price_id: 'The id of the usage price.' },
  answers: { 200: UsagePrice },
  refusals: ['not_found'],
} as const;

const notFound = (what: string) => refuse('not_found', `no such ${what}`);

export function usagePriceRoutes(deps: UsagePriceRoutesDeps): Route[] {
  return [createUsagePrice(deps), readUsagePrices(deps), retireUsagePrice(deps)];
}

function createUsagePrice(deps: UsagePriceRoutesDeps): Route {
  const { edge, sql, ids, orgClock } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(
    CREATE,
    async ({ principal, params: { id }, body, idempotencyKey: key }) => {
      const product = await findProduct(sql, principal, id);
      if (product === null) return notFound('product');
      const meter = await findActiveMeter(sql, principal, body.feature_key);
      if (meter === null) return notFound('feature');
      const price = toNewUsagePrice(body, { id: ids.next(), productId: product.id, meter });
      if ('issues' in price) return refuseInvalid(price.issues);
      const now = orgClock.now(principal);
      // The product is part of the request that a key is for.
      const request = { product_id: product.id, ...body };
      return once(
        { sql, principal, operation: CREATE, key, body: request, now },
        async (transaction) => {
          const made = await insertUsagePrice(transaction, principal, { price, bounds, now });
          if (made === 'meter_deleted') return refusal('not_found', 'no such feature');
          if (made === 'taken') {
            const message = `the product has an active usage price for this feature in ${price.currency}`;
            return refusal('conflict', message);
          }
          if (made === 'boolean')
            return refusedField('feature_key', 'is a boolean feature of the product');
          if (made instanceof Full || made instanceof UsageConflict) {
            return refusal('conflict', made.message);
          }
          return answer(201, fromUsagePrice(made));
        },
      );
    },
  );
}

function readUsagePrices({ edge, sql, lists }: UsagePriceRoutesDeps): Route {
  return edge.organisation(LIST, async ({ principal, params: { id }, query }) => {
    const product = await findProduct(sql, principal, id);
    if (product === null) return notFound('product');
    const productId = product.id;
    return answerList(
      lists,
      { principal, query },
      {
        name: 'usagePrices',
        whose: { ...ofScope(principal), product_id: productId },
        rows: (own, page) => listUsagePrices(own, principal, { ...page, productId }),
        show: fromUsagePrice,
      },
    );
  });
}

function retireUsagePrice({ edge, sql }: UsagePriceRoutesDeps): Route {
  return edge.organisation(
    ARCHIVE,
    async ({ principal, params: { id: productId, usage_price_id: id } }) => {
      const price = await archiveUsagePrice(sql, principal, { productId, id });
      return price === null ? notFound('usage price') : Response.json(fromUsagePrice(price));
    },
  );
}
