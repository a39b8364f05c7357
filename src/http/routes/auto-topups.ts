import type { Found, Ledger } from '../../../ledger/ledger.ts';
import type { CustomerTopUp } from '../../../ledger/ledger.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { MeterCatalogue } from '../../metering/meter-catalogue.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { keepMeters } from '../../records/meters.ts';
import { billingPolicyOf } from '../../records/organisations.ts';
import type { Processors } from '../../processors/processor.ts';
import { findProductOfPrice, type PriceRecord } from '../../records/products.ts';
import type { Settings } from '../../config.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { type Issue, refuse, refuseInvalid } from '../edge/errors.ts';
import { AutoTopup, AutoTopupPut, AutoTopups, fromTopUp, toTopUp } from '../wire/auto-topups.ts';
import { slugFault } from '../wire/meters.ts';
import { findByReference } from './metering.ts';

export type AutoTopupRoutesDeps = {
  readonly edge: Edge;
  readonly ledger: Ledger;
  readonly meters: MeterCatalogue;
  readonly sql: Sql;
  readonly settings: Pick<Settings, 'bounds'>;
  readonly processors: Processors;
};

const tag = 'Customers';
const customer = { id: "The id of the customer, or the merchant's own (external_customer_id)." };
const params = { ...customer, feature_key: 'The slug of the meter.' };

export const READ_AUTO_TOPUP = {
  operationId: 'getAutoTopup',
  method: 'GET',
  path: '/customers/{id}/auto-topups/{feature_key}',
  client: 'customers.retrieveAutoTopup',
  summary: 'Get the automatic top-up of a feature',
  description: 'Also of an archived feature. 404 without one.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: AutoTopup },
  refusals: ['not_found'],
} as const;

const PUT = {
  operationId: 'putAutoTopup',
  method: 'PUT',
  path: '/customers/{id}/auto-topups/{feature_key}',
  client: 'customers.putAutoTopup',
  summary: 'Set an automatic top-up',
  description: [
    "When the balance of the feature is below `threshold`, the customer's newest payment " +
      'method is charged the price, and `amount` is granted in the commit that records the ' +
      'capture (the grant has `source` `top_up` and the id of the payment). The balance is ' +
      'checked after everything that changes it, and when this is set. If it is still too low, ' +
      'the next charge follows, within `limit`: the captures of a calendar day, week from ' +
      "Monday, or month in the organization's time zone. There is at most one charge at a time.",
    'After `insufficient_funds`, `processing_error` or an attempt that was not made (except ' +
      '`amount_refused`), the charge is retried after 1, 6 and 24 hours, each counted from the ' +
      'decline before. After the fourth decline, and after any other decline, the top-up is ' +
      'suspended until the customer stores another payment method. Setting the same values ' +
      'changes nothing. Other values apply from now on and lift a suspension only if it is that ' +
      'of the limit. A charge under way grants what it was ordered for.',
    'The payment is a `PURCHASE` with an invoice (`billing_reason` is `auto_topup`) and a ' +
      'receipt. A refund does not take units back. `sum` and `count` meters only.',
  ].join('\n\n'),
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'auto_topup', id: 'whole_path', before: READ_AUTO_TOPUP },
  params,
  body: AutoTopupPut,
  answers: { 200: AutoTopup },
  refusals: ['not_found', 'conflict'],
} as const;

const LIST = {
  operationId: 'listAutoTopups',
  method: 'GET',
  path: '/customers/{id}/auto-topups',
  client: 'customers.listAutoTopups',
  summary: 'List the automatic top-ups of a customer',
  description: 'At most one for each feature.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: customer,
  answers: { 200: AutoTopups },
  refusals: ['not_found'],
} as const;

const REMOVE = {
  operationId: 'deleteAutoTopup',
  method: 'DELETE',
  path: '/customers/{id}/auto-topups/{feature_key}',
  client: 'customers.delAutoTopup',
  summary: 'Remove the automatic top-up of a feature',
  description:
    '204 also where there is none, and of an archived feature. A charge under way is not ' +
    'canceled: it is granted when it is captured.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'auto_topup', id: 'whole_path', before: READ_AUTO_TOPUP },
  params,
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

export function autoTopupRoutes(deps: AutoTopupRoutesDeps): Route[] {
  return [putRoute(deps), readRoute(deps), removeRoute(deps), listRoute(deps)];
}

const noCustomer = () => refuse('not_found', 'no such customer');
const noFeature = () => refuse('not_found', 'no such feature');
const noTopUp = () => refuse('not_found', 'the customer has no automatic top-up of this feature');

function putRoute(deps: AutoTopupRoutesDeps): Route {
  const { edge, ledger, meters, sql, processors } = deps;
  const { metersPerCustomer } = deps.settings.bounds;
  return edge.organisation(PUT, async ({ principal, params: { id, feature_key: key }, body }) => {
    const found = await findByReference(ledger, principal, id);
    if (found === null) return noCustomer();
    const meter = await meterNamed(meters, principal, key);
    if (meter === null) return noFeature();
    if (meter.aggregation !== 'sum' && meter.aggregation !== 'count') {
      return refuseInvalid([{ path: ['feature_key'], message: 'is not of a sum or count meter' }]);
    }
    const wanted = toTopUp(body, meter);
    if ('issues' in wanted) return refuseInvalid(wanted.issues);
    const current = await setTopUp(ledger, found, key);
    const isAgreed = current?.topUp.settings.priceId === body.price_id.toLowerCase();
    const price = await priceOf(sql, principal, { priceId: body.price_id, isAgreed });
    if (price === null) return refuse('not_found', 'no such price');
    if ('path' in price) return refuseInvalid([price]);
    const message = processors.taking(principal)?.refusalOf(price.amount, price.currency);
    if (typeof message === 'string') return refuseInvalid([{ path: ['price_id'], message }]);
    const { id: priceId, productId } = price;
    const { zone } = await billingPolicyOf(sql, principal);
    const settings = { ...wanted, priceId, productId };
    const topUp = await ledger.topUps.put(found.id, meter, { settings, zone });
    // A call that deletes the meter at the same time has seen no top-up of it.
    if (!(await keepMeters(sql, [meter.id])).has(meter.id)) {
      await ledger.topUps.change(found.id, meter.id, { kind: 'remove' });
      return noFeature();
    }
    if (topUp === 'too_many_meters') {
      return refuse('conflict', new Full('metersPerCustomer', metersPerCustomer).message);
    }
    return Response.json(fromTopUp({ meter, topUp: { ...topUp, settings } }, found.customer));
  });
}

function readRoute({ edge, ledger, meters }: AutoTopupRoutesDeps): Route {
  return edge.organisation(
    READ_AUTO_TOPUP,
    async ({ principal, params: { id, feature_key: key } }) => {
      const found = await findByReference(ledger, principal, id);
      if (found === null) return noCustomer();
      const set = await setTopUp(ledger, found, key);
      if (set !== null) return Response.json(fromTopUp(set, found.customer));
      const meter = await meterNamed(meters, principal, key);
      return meter === null ? noFeature() : noTopUp();
    },
  );
}

function listRoute({ edge, ledger }: AutoTopupRoutesDeps): Route {
  return edge.organisation(LIST, async ({ principal, params: { id } }) => {
    const found = await findByReference(ledger, principal, id);
    if (found === null) return noCustomer();
    const all = await ledger.topUps.of(found.id);
    const data = all
      .map((one) => fromTopUp(one, found.customer))
      .toSorted((a, b) => (a.feature_key < b.feature_key ? -1 : 1));
    return Response.json({ data });
  });
}

function removeRoute({ edge, ledger, meters }: AutoTopupRoutesDeps): Route {
  return edge.organisation(REMOVE, async ({ principal, params: { id, feature_key: key } }) => {
    const found = await findByReference(ledger, principal, id);
    if (found === null) return noCustomer();
    const set = await setTopUp(ledger, found, key);
    const meter = set?.meter ?? (await meterNamed(meters, principal, key));
    if (meter === null) return noFeature();
    await ledger.topUps.change(found.id, meter.id, { kind: 'remove' });
    return new Response(null, { status: 204 });
  });
}

/** A path may hold what no slug does, a NUL character too. */
const meterNamed = async (meters: MeterCatalogue, scope: Tenant, key: string) =>
  slugFault(key) === null ? meters.bySlug(scope, key) : null;

/** Of an archived meter too: it is there until it is removed. */
async function setTopUp(ledger: Ledger, { id }: Found, key: string): Promise<CustomerTopUp | null> {
  const all = await ledger.topUps.of(id);
  return all.find(({ meter }) => meter.slug === key) ?? null;
}

/** null where there is none. One that was agreed to may have been archived since. */
async function priceOf(
  sql: Sql,
  scope: Tenant,
  { priceId, isAgreed }: { readonly priceId: string; readonly isAgreed: boolean },
): Promise<PriceRecord | Issue | null> {
  const product = await findProductOfPrice(sql, scope, priceId);
  const price = product?.prices.find(({ id }) => id === priceId.toLowerCase());
  if (product === null || price === undefined) return null;
  const issue = (message: string): Issue => ({ path: ['price_id'], message });
  if (price.type !== 'one_time') return issue('is a recurring price');
  if (price.amount === 0n) return issue('costs nothing');
  const isForSale = price.status === 'active' && product.status === 'active';
  return isForSale || isAgreed ? price : issue('is archived, or of a product that is not for sale');
}
