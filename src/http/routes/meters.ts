import { Elysia } from 'elysia';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Changes } from '../../platform/changes.ts';
import type { Executor, Sql } from '../../platform/postgres.ts';
import {
  deleteMeter,
  findMeter,
  insertMeter,
  listMeters,
  type MeterRecord,
  updateMeter,
} from '../../records/meters.ts';
import { ofScope } from '../../records/page.ts';
import type { Scope } from '../../records/scope.ts';
import type { Edge, Route } from '../edge.ts';
import type { FairSql } from '../fair-sql.ts';
import { refuse, refuseInvalid } from '../errors.ts';
import { answer, once, refusal } from '../idempotency.ts';
import { isStorableText } from '../json.ts';
import { answerList, PAGE } from '../list.ts';
import {
  fromMeter,
  Meter,
  MeterChange,
  MeterCreate,
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
  summary: 'Create a meter',
  tag,
  body: MeterCreate,
  idempotent: true,
  answers: { 201: Meter },
  refusals: ['conflict'],
} as const;

const LIST = {
  operationId: 'listMeters',
  summary: 'List meters, newest first',
  tag,
  query: Body(PAGE),
  answers: { 200: ListOf(Meter) },
} as const;

const READ = {
  operationId: 'getMeter',
  summary: 'Get a meter',
  tag,
  params,
  answers: { 200: Meter },
  refusals: ['not_found'],
} as const;

const CHANGE = {
  operationId: 'updateMeter',
  summary: 'Change a meter',
  description: 'Metadata is replaced as a whole. `null` clears a field.',
  tag,
  params,
  body: MeterChange,
  answers: { 200: Meter },
  refusals: ['not_found'],
} as const;

const DELETE = {
  operationId: 'deleteMeter',
  summary: 'Delete a meter',
  description:
    'Its history stays, its slug becomes free. Refused while a product gives it, or a customer has an allowance on it.',
  tag,
  params,
  answers: { 204: null },
  refusals: ['not_found', 'conflict'],
} as const;

const notFound = () => refuse('not_found', 'no such meter');

export function meterRoutes(deps: MeterRoutesDeps) {
  return new Elysia()
    .post('/meters', ...createMeter(deps))
    .get('/meters', ...readMeters(deps))
    .get('/meters/:id', ...readMeter(deps))
    .patch('/meters/:id', ...changeMeter(deps))
    .delete('/meters/:id', ...removeMeter(deps));
}

function createMeter(deps: MeterRoutesDeps): Route {
  const { edge, sql, ids, orgClock, changes } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(CREATE, async ({ principal, body, idempotencyKey: key }) => {
    if (body.aggregation === 'unique' && body.unique_property === undefined) {
      const message = 'is required where the aggregation is unique';
      return refuseInvalid([{ path: ['unique_property'], message }]);
    }
    const now = orgClock.now(principal);
    const attempt = { sql, principal, operation: 'POST /meters', key, body, now };
    const response = await once(attempt, async (transaction) => {
      const meter = toNewMeter(body, ids.next());
      const made = await insertMeter(transaction, principal, { meter, bounds, now });
      if (made === 'slug_taken') return refusal('conflict', `a meter "${body.slug}" exists`);
      if (made instanceof Full) return refusal('conflict', made.message);
      return answer(201, fromMeter(made));
    });
    await changes.tell('meter', principal.organisationId);
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

function changeMeter({ edge, sql, orgClock, changes }: MeterRoutesDeps): Route {
  return edge.organisation(CHANGE, async ({ principal, params: { id }, body }) => {
    const response = await sql.begin(async (transaction) => {
      const meter = await find(transaction, principal, id);
      if (meter === null) return notFound();
      const change = { id: meter.id, patch: toMeterPatch(body), now: orgClock.now(principal) };
      const changed = await updateMeter(transaction, principal, change);
      return changed === null ? notFound() : Response.json(fromMeter(changed));
    });
    await changes.tell('meter', principal.organisationId);
    return response;
  });
}

function removeMeter({ edge, sql, orgClock, changes }: MeterRoutesDeps): Route {
  return edge.organisation(DELETE, async ({ principal, params: { id } }) => {
    const response = await sql.begin(async (transaction) => {
      const meter = await find(transaction, principal, id);
      if (meter === null) return notFound();
      const removal = { id: meter.id, now: orgClock.now(principal) };
      const outcome = await deleteMeter(transaction, principal, removal);
      if (outcome === 'in_use')
        return refuse('conflict', 'a product gives it, or a customer has an allowance on it');
      return outcome === 'not_found' ? notFound() : new Response(null, { status: 204 });
    });
    await changes.tell('meter', principal.organisationId);
    return response;
  });
}

/** What cannot be stored cannot be found. */
async function find(sql: Executor, scope: Scope, reference: string): Promise<MeterRecord | null> {
  return isStorableText(reference) ? findMeter(sql, scope, reference) : null;
}
