import type { Static } from '@sinclair/typebox';
import { unreachable } from '../../../ledger/kernel/assert.ts';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Changes } from '../../platform/postgres/changes.ts';
import type { Executor, Sql } from '../../platform/postgres/postgres.ts';
import { deleteMeter, findMeter, listMeters, type MeterRecord } from '../../records/meters.ts';
import type { RefusedCosts } from '../../metering/credit-costs.ts';
import { makeMeter, patchMeter } from '../../metering/write-meter.ts';
import { lockCreditCosts } from '../../records/credit-costs.ts';
import { putMeter } from '../../metering/put-meter.ts';
import { ofScope } from '../../records/page.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import {
  type Answer,
  answer,
  once,
  refusal,
  refusedFields,
  respond,
} from '../idempotency/idempotency.ts';
import { isStorableText } from '../edge/json.ts';
import { answerList, PAGE } from '../list.ts';
import {
  fromMeter,
  Meter,
  MeterChange,
  FIXED_NAMES,
  MeterCreate,
  MeterPut,
  slugFault,
  toFixed,
  toGivenCosts,
  toPutMeter,
  toMeterPatch,
  toNewMeter,
} from '../wire/meters.ts';
import { Body, ListOf } from '../wire/values.ts';

export type MeterRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly changes: Changes;
  readonly settings: Settings;
};

const tag = 'Meters';
const params = { id: 'The id of the meter, or its slug.' };

const CREATE = {
  operationId: 'createMeter',
  method: 'POST',
  path: '/meters',
  client: 'meters.create',
  summary: 'Create a meter',
  description: [
    'A `last` meter with `carry` begins each period with the level of the one before, without an ' +
      'event: seats or stored bytes that nobody reports anew. Usage that is sold bills the level ' +
      'of a period without events, too. A late event counts for all later periods that have none ' +
      'of their own. 400 with any other aggregation.',
    'With `credit_costs` the meter is a pool of credits that pays for other features. A ' +
      "customer's own allowance of such a feature is used first. Beyond it each unit costs " +
      'credits of the pool. Customers are granted the pool as any feature, by a product or by a ' +
      'grant.',
    'A pool has `aggregation` `sum`; the features that it pays for are `sum` or `count` ' +
      'meters. A feature is in one pool at most, former lists included, and is no pool itself. ' +
      'The decimals of a cost and of its feature together are at most those of the pool (400). ' +
      'The allowances of a pool and of its features have the same `reset_interval`, and such a ' +
      'feature has no usage price (409). A pool has at most 50 costs. The number of lists in an ' +
      'organization (`LIMIT_CREDIT_COST_LISTS`) and of features in the lists of a pool ' +
      '(`LIMIT_FEATURES_PER_POOL`) is bounded, former lists included (409).',
  ].join('\n\n'),
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'meter' },
  body: MeterCreate,
  idempotent: true,
  answers: { 201: Meter },
  refusals: ['conflict', 'not_found'],
} as const;

const LIST = {
  operationId: 'listMeters',
  method: 'GET',
  path: '/meters',
  client: 'meters.list',
  summary: 'List meters, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body(PAGE),
  answers: { 200: ListOf(Meter) },
} as const;

const READ = {
  operationId: 'getMeter',
  method: 'GET',
  path: '/meters/{id}',
  client: 'meters.retrieve',
  summary: 'Get a meter',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Meter },
  refusals: ['not_found'],
} as const;

const CHANGE = {
  operationId: 'updateMeter',
  method: 'PATCH',
  path: '/meters/{id}',
  client: 'meters.update',
  summary: 'Update a meter',
  description:
    'Metadata and the list of costs are each replaced as a whole. `null` clears a field.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'meter', before: READ },
  params,
  body: MeterChange,
  answers: { 200: Meter },
  refusals: ['not_found', 'conflict'],
} as const;

const PUT = {
  operationId: 'putMeter',
  method: 'PUT',
  path: '/meters/{id}',
  client: 'meters.put',
  summary: 'Create or update a meter',
  description:
    'The slug in the path names the meter. The call may be repeated, also concurrently: the ' +
    'first answers 201, the others 200. An omitted field keeps its value, `null` clears it, and ' +
    'metadata is replaced as a whole. A field that cannot change may be sent with its current ' +
    'value; another value is 400 with the path of the field. A slug in the body must be the slug ' +
    'of the path.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'meter', before: READ },
  params: { id: 'The slug of the meter, never its id.' },
  body: MeterPut,
  answers: { 200: Meter, 201: Meter },
  refusals: ['conflict', 'not_found'],
} as const;

const DELETE = {
  operationId: 'deleteMeter',
  method: 'DELETE',
  path: '/meters/{id}',
  client: 'meters.del',
  summary: 'Delete a meter',
  description:
    'The history is kept, and the slug can be used again. 409 while a product gives or sells the ' +
    'meter, a customer has an allowance or an automatic top-up of it, or a pool of credits pays ' +
    'for it, by a former list too. A pool that was ever granted is archived instead.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'meter', before: READ },
  params,
  answers: { 204: null },
  refusals: ['not_found', 'conflict'],
} as const;

const NO_PROPERTY = {
  path: ['unique_property'],
  message: 'is required where the aggregation is unique',
};

const NO_CARRY = {
  path: ['carry'],
  message: 'goes with a meter whose aggregation is last',
};

/** What a new meter lacks, or may not have; null for nothing. */
function faultOf({
  aggregation,
  unique_property: property,
  carry,
}: Pick<Static<typeof MeterCreate>, 'aggregation' | 'unique_property' | 'carry'>) {
  if (aggregation === 'unique' && property === undefined) return NO_PROPERTY;
  return carry === true && aggregation !== 'last' ? NO_CARRY : null;
}

const notFound = () => refuse('not_found', 'no such meter');

export function meterRoutes(deps: MeterRoutesDeps): Route[] {
  return [
    createMeter(deps),
    readMeters(deps),
    readMeter(deps),
    putOneMeter(deps),
    changeMeter(deps),
    removeMeter(deps),
  ];
}

function createMeter(deps: MeterRoutesDeps): Route {
  const { edge, sql, ids, orgClock, changes } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(CREATE, async ({ principal, body, idempotencyKey: key }) => {
    const fault = faultOf(body);
    if (fault !== null) return refuseInvalid([fault]);
    const now = orgClock.now(principal);
    const attempt = { sql, principal, operation: CREATE, key, body, now };
    const response = await once(attempt, async (transaction) => {
      const costs = toGivenCosts(body);
      if (costs !== undefined) await lockCreditCosts(transaction, principal);
      const meter = toNewMeter(body, ids.next());
      const made = await makeMeter(transaction, principal, { meter, costs, bounds, now });
      if (made === 'slug_taken') return refusal('conflict', `a meter "${body.slug}" exists`);
      if (made instanceof Full) return refusal('conflict', made.message);
      if ('kind' in made) return refusedCosts(made);
      return answer(201, fromMeter(made));
    });
    await changes.publish('meter', principal.organisationId);
    return response;
  });
}

function readMeters({ edge, lists }: MeterRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'meters',
        whose: ofScope(principal),
        rows: (sql, page) => listMeters(sql, principal, page),
        show: fromMeter,
      },
    ),
  );
}

function readMeter({ edge, sql }: MeterRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const meter = await find(sql, principal, id);
    return meter === null ? notFound() : Response.json(fromMeter(meter));
  });
}

function changeMeter({ edge, sql, orgClock, changes, settings }: MeterRoutesDeps): Route {
  const { bounds } = settings;
  return edge.organisation(CHANGE, async ({ principal, params: { id }, body }) => {
    const response = await sql.begin(async (transaction) => {
      const costs = toGivenCosts(body);
      if (costs !== undefined) await lockCreditCosts(transaction, principal);
      const meter = await find(transaction, principal, id);
      if (meter === null) return notFound();
      const now = orgClock.now(principal);
      const change = { meter, patch: toMeterPatch(body), costs, bounds, now };
      const changed = await patchMeter(transaction, principal, change);
      if (changed === null) return notFound();
      if ('kind' in changed) return respond(refusedCosts(changed));
      return Response.json(fromMeter(changed));
    });
    await changes.publish('meter', principal.organisationId);
    return response;
  });
}

function putOneMeter(deps: MeterRoutesDeps): Route {
  const { edge, sql, ids, orgClock, changes } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(PUT, async ({ principal, params: { id: slug }, body }) => {
    const fault = slugFault(slug);
    if (fault !== null) return refuseInvalid([{ path: ['slug'], message: fault }]);
    if (body.slug !== undefined && body.slug !== slug) {
      return refuseInvalid([{ path: ['slug'], message: 'is not that of the path' }]);
    }
    const unmade = faultOf(body);
    const meter = toPutMeter(body, slug, ids.next());
    const put = await sql.begin((transaction) =>
      putMeter(transaction, principal, {
        meter,
        patch: toMeterPatch(body),
        fixed: toFixed(body),
        costs: toGivenCosts(body),
        mayMake: unmade === null,
        bounds,
        now: orgClock.now(principal),
      }),
    );
    if (put.kind === 'not_made') return refuseInvalid(unmade === null ? [] : [unmade]);
    if (put.kind === 'full') return refuse('conflict', put.why);
    if (put.kind === 'fixed') {
      const message = 'cannot be changed';
      return refuseInvalid(put.fields.map((field) => ({ path: [FIXED_NAMES[field]], message })));
    }
    if (put.kind !== 'made' && put.kind !== 'there') return respond(refusedCosts(put));
    await changes.publish('meter', principal.organisationId);
    return Response.json(fromMeter(put.meter), { status: put.kind === 'made' ? 201 : 200 });
  });
}

function removeMeter({ edge, sql, orgClock, changes }: MeterRoutesDeps): Route {
  return edge.organisation(DELETE, async ({ principal, params: { id } }) => {
    const response = await sql.begin(async (transaction) => {
      const meter = await find(transaction, principal, id);
      if (meter === null) return notFound();
      const removal = { id: meter.id, now: orgClock.now(principal) };
      const outcome = await deleteMeter(transaction, principal, removal);
      if (outcome === 'is_member') return refuse('conflict', 'a pool of credits pays for it');
      if (outcome === 'has_paid')
        return refuse('conflict', 'customers were granted this pool: archive it');
      if (outcome === 'in_use')
        return refuse(
          'conflict',
          'a product gives or sells it, or a customer has an allowance or an automatic top-up of it',
        );
      return outcome === 'not_found' ? notFound() : new Response(null, { status: 204 });
    });
    await changes.publish('meter', principal.organisationId);
    return response;
  });
}

function refusedCosts(refused: RefusedCosts): Answer {
  switch (refused.kind) {
    case 'costs_invalid':
      return refusedFields(refused.faults);
    case 'costs_unknown':
      return refusal('not_found', `no such feature "${refused.featureKey}"`);
    case 'costs_conflict':
      return refusal('conflict', refused.why);
    default:
      return unreachable(refused);
  }
}

/** A reference that PostgreSQL cannot store names no meter. */
async function find(sql: Executor, scope: Tenant, reference: string): Promise<MeterRecord | null> {
  return isStorableText(reference) ? findMeter(sql, scope, reference) : null;
}
