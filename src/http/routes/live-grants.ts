// The grants behind a customer's balances.
import { type Static, Type } from '@sinclair/typebox';
import { GRANT_SOURCES, placed } from '../../../ledger/metering/grants.ts';
import type { Found } from '../../../ledger/ledger.ts';
import { CUSTOMER_ROWS_MAX } from '../../platform/answer-bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { listExistingMeters } from '../../records/meters.ts';
import { cursors, NOT_A_CURSOR } from '../cursor.ts';
import type { Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { PageText } from '../page-text.ts';
import { CUSTOMER_PAGE } from '../wire/customer-page.ts';
import { fromLiveGrant, LiveGrants } from '../wire/grants.ts';
import { Body, Nullable, oneOf, Uuid } from '../wire/values.ts';
import { findByReference, type MeteringDeps } from './metering.ts';

const LIST = {
  operationId: 'listGrants',
  method: 'GET',
  path: '/customers/{id}/grants',
  client: 'grants.list',
  summary: 'List the live grants of a customer',
  description:
    'By feature, then in burn order: the first grant that is active, not suspended and has ' +
    'something left pays for the next use. Scheduled grants come after these; ended ones are not ' +
    'listed. `next_cursor` is set while there are more.',
  tag: 'Grants',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: { id: "The id of the customer, or the merchant's own (external_customer_id)." },
  query: Body(CUSTOMER_PAGE),
  answers: { 200: LiveGrants },
  refusals: ['not_found'],
} as const;

const Time = Type.Integer();
/** What its order depends on: so it is a place also when the grant has ended. */
const Place = Type.Object({
  slug: Type.String(),
  meterId: Uuid,
  grant: Type.Object({
    id: Uuid,
    source: oneOf(GRANT_SOURCES),
    priority: Type.Integer(),
    expiresAt: Nullable(Time),
    createdAt: Time,
    suspended: Nullable(oneOf(['paused', 'blocked'])),
    started: Type.Boolean(),
    effectiveAt: Time,
  }),
});
const PLACES = cursors(Place);

/** Grants that are asked for at once. */
const PORTION = 500;

type ListDeps = MeteringDeps & { readonly sql: Sql };

type Asked = {
  readonly slug: string | null;
  readonly after: Static<typeof Place> | null;
  readonly limit: number;
};

export function listRoute(deps: ListDeps): Route {
  return deps.edge.organisation(LIST, async ({ principal, params: { id }, query }) => {
    const after = PLACES.read(query.cursor);
    if (after === 'none') return refuseInvalid([NOT_A_CURSOR]);
    const customer = await findByReference(deps.ledger, principal, id);
    if (customer === null) return refuse('not_found', 'no such customer');
    const { feature_key: slug = null, limit = CUSTOMER_ROWS_MAX } = query;
    return answerGrants(deps, customer, { slug, after, limit });
  });
}

async function answerGrants(
  { ledger, sql, edge }: ListDeps,
  customer: Found,
  { slug, after, limit }: Asked,
): Promise<Response> {
  const page = new PageText();
  let place = after;
  for (;;) {
    const asked = { slug, after: place, max: PORTION };
    const { grants, next } = await ledger.grants(customer, asked);
    const existing = await listExistingMeters(sql, [
      ...new Set(grants.map(({ meter }) => meter.id)),
    ]);
    // Others have turns between portions.
    if (grants.length === PORTION) await edge.turns.next();
    for (const { meter, grant, remaining } of grants) {
      if (existing.has(meter.id)) {
        const isOnIt = page.rows < limit && page.add(fromLiveGrant(grant, { meter, remaining }));
        if (!isOnIt) return page.answer({ next_cursor: PLACES.write(place) });
      }
      place = { slug: meter.slug, meterId: meter.id, grant: placed(grant) };
    }
    if (next === null) return page.answer({ next_cursor: null });
    place = next;
  }
}
