import { type Static, Type } from '@sinclair/typebox';
import { iso } from '../../../ledger/kernel/iso.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import type { Found, MeterBalance } from '../../../ledger/ledger.ts';
import { BREAKDOWN_MAX, CUSTOMER_ROWS_MAX } from '../../platform/answer-bounds.ts';
import { listExistingMeters } from '../../records/meters.ts';
import { cursors, NOT_A_CURSOR } from '../cursor.ts';
import type { Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { PageText } from '../page-text.ts';
import { findByReference } from './metering.ts';
import { billedOf, fromSnapshot, overageOf } from '../wire/metering.ts';
import { Balances, BalancesQuery } from '../wire/balances.ts';
import { Uuid } from '../wire/values.ts';
import type { GrantRoutesDeps } from './grants.ts';

const BALANCES = {
  operationId: 'listBalances',
  method: 'GET',
  path: '/customers/{id}/balances',
  client: 'customers.listBalances',
  summary: 'List the balances of a customer',
  description:
    'By feature. With `next_cursor` there are more. A balance shows the first ' +
    `${BREAKDOWN_MAX} of its grants in the order in which they are used up: \`GET /customers/{id}/grants\` has them all.`,
  tag: 'Metering',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read', 'metering'],
  audit: 'nothing',
  params: { id: "The id of the customer, or the merchant's own (external_customer_id)." },
  query: BalancesQuery,
  answers: { 200: Balances },
  refusals: ['not_found'],
} as const;

/** Grants that are shown before other requests get a turn. */
const STEP_GRANTS = 250;

const PLACES = cursors(Type.Object({ slug: Type.String(), meterId: Uuid }));

export function balanceRoutes(deps: GrantRoutesDeps): Route[] {
  return [balancesRoute(deps)];
}

function balancesRoute(deps: GrantRoutesDeps): Route {
  return deps.edge.organisation(BALANCES, async ({ principal, params: { id }, query }) => {
    const after = PLACES.read(query.cursor);
    if (after === 'none') return refuseInvalid([NOT_A_CURSOR]);
    const customer = await findByReference(deps.ledger, principal, id);
    if (customer === null) return refuse('not_found', 'no such customer');
    return answerBalances(deps, customer, { query, after });
  });
}

async function answerBalances(
  { ledger, sql, edge }: GrantRoutesDeps,
  customer: Found,
  {
    query,
    after,
  }: { query: BalancesQuery; after: Exclude<ReturnType<typeof PLACES.read>, 'none'> },
): Promise<Response> {
  const { feature_key: slug = null, limit = CUSTOMER_ROWS_MAX } = query;
  const page = new PageText();
  let place = after;
  for (;;) {
    const asked = { slug, after: place, grantsMax: BREAKDOWN_MAX };
    const { balances, next } = await ledger.balances(customer, asked);
    // A deleted meter keeps its history but has no balance any more.
    const existing = await listExistingMeters(
      sql,
      balances.map(({ meter }) => meter.id),
    );
    // Few are shown at once. Of many, also the first step is a turn of its own.
    const all = balances.reduce((sum, { breakdown }) => sum + breakdown.length, 0);
    let left = all > STEP_GRANTS ? 0 : all;
    for (const balance of balances) {
      const { meter, breakdown } = balance;
      if (breakdown.length > left) {
        await edge.turns.next();
        left = STEP_GRANTS;
      }
      left -= breakdown.length;
      if (existing.has(meter.id)) {
        const isOnIt = page.rows < limit && page.add(fromBalance(customer, balance));
        if (!isOnIt) return page.answer({ next_cursor: PLACES.write(place) });
      }
      place = { slug: meter.slug, meterId: meter.id };
    }
    if (next === null) return page.answer({ next_cursor: null });
  }
}

function fromBalance(
  { id, customer: { externalId } }: Found,
  { meter, snapshot, breakdown, started, updatedAt }: MeterBalance,
): Static<typeof Balances>['data'][number] {
  const { scale } = meter;
  const number = (value: bigint | null): number | null =>
    value === null ? null : quantityNumber(value, scale);
  const periodEnd = iso(snapshot.periodEnd);
  return {
    customer_id: id,
    external_customer_id: externalId,
    meter_id: meter.id,
    feature_key: meter.slug,
    ...fromSnapshot(snapshot, scale),
    ...billedOf(snapshot, scale),
    reserved: quantityNumber(snapshot.reserved, scale),
    overage: quantityNumber(overageOf(snapshot), scale),
    unlimited: snapshot.limit === null,
    period_start: iso(snapshot.periodStart),
    period_end: periodEnd,
    resets_at: periodEnd,
    updated_at: new Date(updatedAt).toISOString(),
    breakdown: breakdown.map(({ grant, remaining }) => ({
      grant_id: grant.id,
      source: grant.source,
      product_id: grant.productId,
      subscription_id: grant.subscriptionId,
      granted: number(grant.amount),
      remaining: number(remaining),
      priority: grant.priority,
      expires_at: iso(grant.expiresAt),
    })),
    breakdown_has_more: started > breakdown.length,
  };
}
