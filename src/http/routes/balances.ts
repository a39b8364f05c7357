import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import type { MeterBalance } from '../../../ledger/ledger.ts';
import { iso } from '../../../ledger/kernel/iso.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { listExistingMeters } from '../../records/meters.ts';
import type { Route } from '../edge/edge.ts';
import { refuse } from '../edge/errors.ts';
import { findByReference } from './metering.ts';
import { fromSnapshot, overageOf } from '../wire/metering.ts';
import { Balances } from '../wire/balances.ts';
import { Body } from '../wire/values.ts';
import type { GrantRoutesDeps } from './grants.ts';

const BALANCES = {
  operationId: 'listBalances',
  summary: 'What a customer has of each feature in the current period',
  tag: 'Metering',
  params: { id: "The id of the customer, or the merchant's own (external_customer_id)." },
  query: Body({ feature_key: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })) }),
  answers: { 200: Balances },
  refusals: ['not_found'],
} as const;

export function balanceRoutes(deps: GrantRoutesDeps) {
  return new Elysia().get('/customers/:id/balances', ...balancesRoute(deps));
}

function balancesRoute({ edge, ledger, sql }: GrantRoutesDeps): Route {
  return edge.organisation(BALANCES, async ({ principal, params: { id }, query }) => {
    const customer = await findByReference(ledger, principal, id);
    if (customer === null) return refuse('not_found', 'no such customer');
    const wanted = (await ledger.balances(customer)).filter(
      ({ meter }) => query.feature_key === undefined || meter.slug === query.feature_key,
    );
    // A deleted meter keeps its history but has no balance any more.
    const existing = await listExistingMeters(
      sql,
      wanted.map(({ meter }) => meter.id),
    );
    const data = wanted
      .filter(({ meter }) => existing.has(meter.id))
      .map((row) => ({
        customer_id: customer.id,
        external_customer_id: customer.customer.externalId,
        ...fromBalance(row),
      }))
      .sort((a, b) => (a.feature_key < b.feature_key ? -1 : 1));
    return Response.json({ data });
  });
}

function fromBalance({ meter, snapshot, breakdown, state }: MeterBalance) {
  const { scale } = meter;
  const number = (value: bigint | null): number | null =>
    value === null ? null : quantityNumber(value, scale);
  const periodEnd = iso(snapshot.periodEnd);
  return {
    meter_id: meter.id,
    feature_key: meter.slug,
    ...fromSnapshot(snapshot, scale),
    reserved: quantityNumber(snapshot.reserved, scale),
    overage: quantityNumber(overageOf(snapshot), scale),
    unlimited: snapshot.limit === null,
    period_start: iso(snapshot.periodStart),
    period_end: periodEnd,
    resets_at: periodEnd,
    updated_at: iso(Math.max(state.current.updatedAt, state.eventAt)),
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
  };
}
