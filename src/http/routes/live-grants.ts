// The grants behind a customer's balances.
import { Type } from '@sinclair/typebox';
import type { MeterBalance } from '../../../ledger/ledger.ts';
import { listExistingMeters } from '../../records/meters.ts';
import type { Route } from '../edge/edge.ts';
import { refuse } from '../edge/errors.ts';
import { fromLiveGrant, LiveGrants } from '../wire/grants.ts';
import { Body } from '../wire/values.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findByReference, type MeteringDeps } from './metering.ts';

const LIST = {
  operationId: 'listGrants',
  summary: 'What a customer may use of each feature, grant by grant',
  description:
    'By feature, and in the order in which they are used up: the first that is active, not suspended and has something left pays ' +
    'for what is used next. Those that begin later are there too, those that have ended are not.',
  tag: 'Grants',
  params: { id: "The id of the customer, or the merchant's own (external_customer_id)." },
  query: Body({ feature_key: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })) }),
  answers: { 200: LiveGrants },
  refusals: ['not_found'],
} as const;

export function listRoute({ edge, ledger, sql }: MeteringDeps & { readonly sql: Sql }): Route {
  return edge.organisation(LIST, async ({ principal, params: { id }, query }) => {
    const customer = await findByReference(ledger, principal, id);
    if (customer === null) return refuse('not_found', 'no such customer');
    const wanted = (await ledger.balances(customer)).filter(
      ({ meter }) => query.feature_key === undefined || meter.slug === query.feature_key,
    );
    const existing = await listExistingMeters(
      sql,
      wanted.map(({ meter }) => meter.id),
    );
    const data = wanted
      .filter(({ meter }) => existing.has(meter.id))
      .sort((a, b) => (a.meter.slug < b.meter.slug ? -1 : 1))
      .flatMap(grantsOf);
    return Response.json({ data });
  });
}

function grantsOf({ meter, breakdown, state }: MeterBalance) {
  const begun = breakdown.map(({ grant, remaining }) => fromLiveGrant(grant, { meter, remaining }));
  const later = state.grants
    .filter(({ started }) => !started)
    .sort((a, b) => a.effectiveAt - b.effectiveAt)
    .map((grant) => fromLiveGrant(grant, { meter, remaining: grant.amount }));
  return [...begun, ...later];
}
