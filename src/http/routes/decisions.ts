import { DAY_MS } from '../../../ledger/kernel/durations.ts';
import { INGEST_EVENTS_MAX, TRACK_BATCH_MAX } from '../../../ledger/limits.ts';
import type { Clock, Ids } from '../../../ledger/ports.ts';
import {
  countLeftOut,
  type DecisionRecord,
  findDecisionsOf,
  findDenialsOf,
  listDecisionsAround,
  merged,
} from '../../records/decisions.ts';
import type { CustomerRecord } from '../../records/customers.ts';
import { listGrantsThen, listSubscriptionsThen } from '../../records/grants-then.ts';
import { findMeterBySlug, listMeterIds } from '../../records/meters.ts';
import { findChangedObject, findObject, type NamedObject } from '../../records/named-object.ts';
import { isUuid } from '../../records/uuid.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { type Issue, refuse, refuseInvalid } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { findNamedCustomer, namingIssue } from '../named-customer.ts';
import { DecisionQuery, Decisions, fromDecision, fromState } from '../wire/decisions.ts';
import { keyedIds, timeOf } from '../wire/usage.ts';

const LIST = {
  operationId: 'listDecisions',
  method: 'GET',
  path: '/decisions',
  client: 'decisions.find',
  summary: 'Explain why usage was allowed or denied',
  description:
    'Give one of `request_id`, `event_id`, `idempotency_key` (with the customer) or `at` (with ' +
    'the customer). Answers the decisions and what was in force at that time. A denial is found ' +
    'one second after the call, for 30 days unless the operator has set another time; a check ' +
    'that was allowed is not stored. Ids and keys are found while the key counts once. ' +
    '`balance_before`, `balance_after` and `grants` are as of that time; fields that end in ' +
    '`_now` are current.',
  tag: 'Metering',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: DecisionQuery,
  answers: { 200: Decisions },
  refusals: ['not_found'],
} as const;

export type DecisionRoutesDeps = {
  readonly edge: Edge;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly hasFormerKeys: boolean;
};

/** Retention moves nothing that is younger. */
const OLD_MS = 35 * DAY_MS;
const LEFT_OUT_MS = 60_000;

export function decisionRoutes(deps: DecisionRoutesDeps): Route[] {
  return [decisionsRoute(deps)];
}

function decisionsRoute(deps: DecisionRoutesDeps): Route {
  return deps.edge.organisation(LIST, ({ principal, query }) => {
    const asked = askedOf(query);
    if ('length' in asked) return refuseInvalid(asked);
    return deps.lists.run(principal, async (sql) => {
      const look = { ...deps, sql, principal };
      if (asked.by === 'request_id') return byRequest(look, asked.requestId);
      if (asked.by === 'event_id') return byEvent(look, asked.eventId);
      const customer = await findNamedCustomer(sql, principal, query);
      if (customer === null) return refuse('not_found', 'no such customer');
      if (asked.by === 'idempotency_key') return byKey(look, customer, asked.key);
      return byTime(look, customer, { ...query, at: asked.at });
    });
  });
}

type Asked =
  | { readonly by: 'request_id'; readonly requestId: string }
  | { readonly by: 'event_id'; readonly eventId: string }
  | { readonly by: 'idempotency_key'; readonly key: string }
  | { readonly by: 'at'; readonly at: Date };

const NAMES = ['request_id', 'event_id', 'idempotency_key', 'at'] as const;

/** What is asked for, or what is wrong with the question. */
function askedOf(query: DecisionQuery): Asked | Issue[] {
  const given = NAMES.filter((name) => query[name] !== undefined);
  const { request_id: requestId, event_id: eventId, idempotency_key: key, at, ...rest } = query;
  if (given.length !== 1) {
    const message = `exactly one of ${NAMES.join(', ')} must be given`;
    return [{ path: [given[1] ?? 'at'], message }];
  }
  const timed = (['feature_key', 'only'] as const).filter((name) => rest[name] !== undefined);
  if (timed.length > 0 && at === undefined) {
    return timed.map((name) => ({ path: [name], message: 'goes with at' }));
  }
  if (requestId !== undefined || eventId !== undefined) {
    const named = (['customer_id', 'external_customer_id'] as const).filter(
      (name) => rest[name] !== undefined,
    );
    const message = 'goes with at, or with idempotency_key';
    if (named.length > 0) return named.map((name) => ({ path: [name], message }));
    if (requestId !== undefined) return { by: 'request_id', requestId };
  }
  if (eventId !== undefined) return { by: 'event_id', eventId: eventId.toLowerCase() };
  const issue = namingIssue(query);
  if (issue !== null) return [issue];
  if (key !== undefined) return { by: 'idempotency_key', key };
  const time = timeOf(at ?? '');
  if (time === null) return [{ path: ['at'], message: 'must be an ISO 8601 time with a zone' }];
  return { by: 'at', at: new Date(time) };
}

type Look = Omit<DecisionRoutesDeps, 'edge' | 'lists'> & {
  readonly sql: Sql;
  readonly principal: OrganisationPrincipal;
};

async function byRequest(look: Look, requestId: string): Promise<Response> {
  const { sql, principal } = look;
  const found = await findDenialsOf(sql, principal, requestId);
  const object =
    (await findChangedObject(sql, principal, requestId)) ??
    (isUuid(requestId) ? await findObject(sql, principal, requestId) : null);
  return answer(look, found, { object });
}

async function byEvent(look: Look, eventId: string): Promise<Response> {
  const { sql, principal } = look;
  const found = await findDecisionsOf(sql, principal, await eventIds(look, eventId));
  const object = found.length > 0 ? null : await findObject(sql, principal, eventId);
  return answer(look, found, { object });
}

async function byKey(look: Look, { id }: CustomerRecord, key: string): Promise<Response> {
  const { sql, principal } = look;
  const derived = (body: string | undefined, operation: string): string[] => {
    const header = body === undefined ? key : null;
    const keyed = keyedIds(look, principal, { customerId: id, key: { body, header, operation } });
    return [keyed.keyId, keyed.formerKeyId].filter((one) => one !== null);
  };
  const numbered = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => derived(undefined, `${name} ${index}`)).flat();
  const [event = '', ...former] = derived(key, '');
  const found = await findDecisionsOf(sql, principal, [
    ...(await eventIds(look, event)),
    ...former,
    ...['track', 'check'].flatMap((operation) => derived(undefined, operation)),
    ...numbered('track/batch', TRACK_BATCH_MAX),
    ...numbered('ingest', INGEST_EVENTS_MAX),
  ]);
  // A key of before was its organisation's.
  return answer(
    look,
    found.filter(({ customerId }) => customerId === id),
    { object: null },
  );
}

/** An event that feeds several meters has an id for each. */
async function eventIds({ sql, principal, ids }: Look, eventId: string): Promise<string[]> {
  const meters = await listMeterIds(sql, principal);
  return [eventId, ...meters.map((meterId) => ids.derive(eventId, meterId))];
}

async function byTime(
  look: Look,
  { id: customerId }: CustomerRecord,
  {
    at,
    feature_key: featureKey,
    only,
    limit = 20,
  }: Pick<DecisionQuery, 'feature_key' | 'only' | 'limit'> & { at: Date },
): Promise<Response> {
  const { sql, principal, clock } = look;
  const meter =
    featureKey === undefined ? undefined : await findMeterBySlug(sql, principal, featureKey);
  if (meter === null) return refuse('not_found', 'no meter has this feature_key');
  const found = await listDecisionsAround(sql, principal, {
    customerId,
    meterId: meter?.id ?? null,
    at,
    limit,
    only: only ?? null,
    isOld: at.getTime() < clock.now() - OLD_MS,
  });
  const decisions = merged(found);
  const after = decisions.filter((decision) => decision.at > at).slice(-limit);
  const before = decisions.filter((decision) => decision.at <= at).slice(0, limit);
  const asked =
    meter === undefined
      ? null
      : { at, customerId, meter: { ...meter, featureKey: meter.slug }, decisionId: null };
  return answer(look, [...after, ...before], { object: null, at, asked });
}

type Instant = {
  readonly at: Date;
  readonly customerId: string;
  readonly meter: { readonly id: string; readonly featureKey: string; readonly scale: number };
  readonly decisionId: string | null;
};

/**
 * @param about `at`: the instant that was asked for; `asked`: what to explain without a decision
 */
async function answer(
  look: Look,
  found: readonly DecisionRecord[],
  about: { object: NamedObject | null; at?: Date; asked?: Instant | null },
): Promise<Response> {
  const decisions = merged(found);
  const nearest = nearestTo(decisions, about.at);
  const instant = nearest === null ? (about.asked ?? null) : instantOf(nearest);
  return Response.json({
    data: decisions.map(fromDecision),
    state: instant === null ? null : await stateOf(look, instant),
    object: about.object,
  });
}

function instantOf({ id, at, customerId, ...of }: DecisionRecord): Instant {
  const meter = { id: of.meterId, featureKey: of.featureKey, scale: of.scale };
  return { at, customerId, meter, decisionId: id };
}

/** The denial that is nearest to the instant; where none was denied, the decision. */
function nearestTo(decisions: readonly DecisionRecord[], at?: Date): DecisionRecord | null {
  const denied = decisions.filter(({ isDenied }) => isDenied);
  const among = denied.length > 0 ? denied : decisions;
  if (at === undefined) return among[0] ?? null;
  const farness = (one: DecisionRecord) => Math.abs(one.at.getTime() - at.getTime());
  return among.toSorted((a, b) => farness(a) - farness(b))[0] ?? null;
}

async function stateOf({ sql, principal }: Look, instant: Instant) {
  const { at, customerId, meter } = instant;
  const [grants, leftOut] = await Promise.all([
    listGrantsThen(sql, { customerId, meterId: meter.id, at }),
    countLeftOut(sql, principal, {
      meterId: meter.id,
      from: new Date(at.getTime() - LEFT_OUT_MS),
      to: new Date(at.getTime() + LEFT_OUT_MS),
    }),
  ]);
  const given = new Set(grants.map(({ subscriptionId }) => subscriptionId));
  given.delete(null);
  const subscriptions = await listSubscriptionsThen(
    sql,
    [...given].filter((id) => id !== null),
    at,
  );
  return fromState({ ...instant, grants, subscriptions, leftOut });
}
