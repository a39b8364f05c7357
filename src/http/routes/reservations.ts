import { DAY_MS } from '../../../ledger/kernel/durations.ts';
import type { Static } from '@sinclair/typebox';
import { must, unreachable } from '../../../ledger/kernel/assert.ts';
import type { Resolved } from '../../../ledger/ledger.ts';
import { RESERVATION_MS_MAX } from '../../../ledger/limits.ts';
import { balance } from '../../../ledger/metering/meter.ts';
import type { Resolution } from '../../../ledger/metering/reservation.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { Subscriptions } from '../../subscriptions/subscriptions.ts';
import { findReservation, type ReservationRecord } from '../../records/reservations.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Route } from '../edge/edge.ts';
import { type Issue, refuse, refuseInvalid } from '../edge/errors.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
import {
  EXPIRES_IN_DEFAULT,
  fromReservation,
  Reservation,
  ReservationCommit,
  ReservationCreate,
  ReservationExtend,
} from '../wire/reservations.ts';
import {
  findSubject,
  isRefused,
  type MeteringDeps,
  overLimit,
  refusedResponse,
  type Subject,
} from './metering.ts';
import { type Attempt, earlierAnswer, refusedOnce } from '../idempotency/idempotency.ts';
import { amountOf, reservationId, reserve, unitsOf } from './reserving.ts';

export type ReservationDeps = MeteringDeps & {
  readonly sql: Sql;
  readonly subscriptions: Pick<Subscriptions, 'carryOutOf'>;
};

const tag = 'Metering';
const params = { id: 'The id of the reservation.' };

const CREATE = {
  operationId: 'createReservation',
  method: 'POST',
  path: '/reservations',
  client: 'reservations.create',
  summary: 'Hold units of a feature',
  description: [
    'For work whose cost is known only afterwards. Held units are taken off `balance`, so ' +
      'nobody else can use them. Then `/commit` what was used: the rest is released. Uncommitted ' +
      'units are released at expiry. 402 if `/check` for that amount would deny.',
    'A reservation belongs to the period in which it is made, and so does what is committed of ' +
      'it, up to its amount. What is released after that period rolls over then, as far as the ' +
      'rollover of that period has room. A grant that ends meanwhile still covers what is ' +
      'committed; what is released of it is lost.',
    'An `idempotency_key` counts once for its customer: a repeated call answers the ' +
      'reservation as it is now, or the first refusal. `sum` and `count` meters only; on a ' +
      '`count` meter in whole units. A customer has at most 1,000 open reservations of a feature ' +
      '(409).',
  ].join('\n\n'),
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all', 'metering'],
  audit: { object: 'reservation', isRoutine: true },
  body: ReservationCreate,
  idempotent: 'ledger',
  answers: { 201: Reservation },
  refusals: ['not_found', 'conflict', 'insufficient_balance', 'idempotency_key_reused'],
} as const;

const READ = {
  operationId: 'getReservation',
  method: 'GET',
  path: '/reservations/{id}',
  client: 'reservations.retrieve',
  summary: 'Get a reservation',
  description: 'With the current balance of its feature.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read', 'metering'],
  audit: 'nothing',
  params,
  answers: { 200: Reservation },
  refusals: ['not_found'],
} as const;

const COMMIT = {
  operationId: 'commitReservation',
  method: 'POST',
  path: '/reservations/{id}/commit',
  client: 'reservations.commit',
  summary: 'Commit a reservation',
  description:
    'Records what was used. Less than the hold releases the rest. More than the hold is usage of ' +
    'now for the excess, as by `/track`. After the expiry all of it is usage of now, and `late` ' +
    'is true. If the subscription that sold the held units has ended, one more final invoice ' +
    'bills it. The same value again gets the first answer; another value, or a released ' +
    'reservation, is `invalid_state`.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all', 'metering'],
  audit: { object: 'reservation', isRoutine: true },
  params,
  body: ReservationCommit,
  answers: { 200: Reservation },
  refusals: ['not_found', 'invalid_state'],
} as const;

const RELEASE = {
  operationId: 'releaseReservation',
  method: 'POST',
  path: '/reservations/{id}/release',
  client: 'reservations.release',
  summary: 'Release a reservation',
  description:
    'Nothing is recorded. A repeated call gets the first answer, and an expired reservation ' +
    'stays as it is. After a commit: `invalid_state`.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all', 'metering'],
  audit: { object: 'reservation', isRoutine: true },
  params,
  answers: { 200: Reservation },
  refusals: ['not_found', 'invalid_state'],
} as const;

const EXTEND = {
  operationId: 'extendReservation',
  method: 'POST',
  path: '/reservations/{id}/extend',
  client: 'reservations.extend',
  summary: 'Extend a reservation',
  description:
    '`amount` is the new total, at least what is held. Past the balance it is 402 and nothing ' +
    'changes. `expires_in` counts from now. A reservation is open for at most 30 days. A ' +
    'reservation that is not open, and a larger amount after its period has ended, is ' +
    '`invalid_state`.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all', 'metering'],
  audit: { object: 'reservation', isRoutine: true },
  params,
  body: ReservationExtend,
  answers: { 200: Reservation },
  refusals: ['not_found', 'invalid_state', 'insufficient_balance'],
} as const;

export function reservationRoutes(deps: ReservationDeps): Route[] {
  return [
    createRoute(deps),
    readRoute(deps),
    commitRoute(deps),
    releaseRoute(deps),
    extendRoute(deps),
  ];
}

const notFound = (): Response => refuse('not_found', 'no such reservation');

function createRoute(deps: ReservationDeps): Route {
  return deps.edge.organisation(CREATE, async (call) => {
    const { principal, body, idempotencyKey } = call;
    const { amount, expires_in: expiresIn } = body;
    const key = body.idempotency_key ?? idempotencyKey;
    const subject = await findSubject(deps, principal, body);
    if (isRefused(subject)) return refusedResponse(subject);
    const attempt = attemptOf(deps, call, { subject, key });
    const earlier = await refusedBefore(deps, attempt, subject);
    if (earlier !== null) return earlier;
    const asked = { subject, amount, field: 'amount', expiresIn };
    const held = await reserve(deps, call, { ...asked, key: key === null ? null : [key] });
    if (isRefused(held)) return refusedOnce(attempt, refusedResponse(held));
    const { reservation, answer, replayed } = held;
    if (reservation !== null) {
      return Response.json(reservation, { status: 201, ...(replayed && REPLAYED) });
    }
    return refusedOnce(attempt, refuse('insufficient_balance', overLimit(answer.reason)));
  });
}

/** A key counts once for its customer, whichever of its names is given. */
function attemptOf(
  { sql, orgClock }: ReservationDeps,
  { principal, body }: { principal: OrganisationPrincipal; body: Static<typeof ReservationCreate> },
  { subject: { customer, meter }, key }: { subject: Subject; key: string | null },
): Attempt & { readonly principal: OrganisationPrincipal } {
  const { amount, expires_in: expiresIn = EXPIRES_IN_DEFAULT } = body;
  const units = amountOf(amount, meter, ['amount']);
  const asked = {
    meter: meter.id,
    units: typeof units === 'bigint' ? String(units) : null,
    expiresIn,
  };
  return {
    sql,
    principal,
    operation: CREATE,
    of: customer.id,
    key,
    body: asked,
    now: orgClock.now(principal),
  };
}

/** The refusal of an earlier call with the key, unless another one has held its units since. */
async function refusedBefore(
  { sql, ids }: ReservationDeps,
  attempt: Attempt & { readonly principal: OrganisationPrincipal },
  { customer }: Subject,
): Promise<Response | null> {
  const { key, principal } = attempt;
  const earlier = await earlierAnswer(attempt);
  if (earlier === null || key === null) return null;
  const id = reservationId(ids, principal, customer.id, [key]);
  return (await findReservation(sql, principal, id)) === null ? earlier : null;
}

function readRoute({ edge, sql, ledger, orgClock }: ReservationDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const record = await findReservation(sql, principal, id);
    if (record === null) return notFound();
    const found = await ledger.find(principal, { id: record.customerId });
    if (found === null) return notFound();
    const { meter } = record;
    const { balances } = await ledger.balances(found, { slug: meter.slug });
    const { snapshot } = must(
      balances.find((one) => one.meter.id === meter.id),
      'a meter of which units were held has a balance',
    );
    // Its alarm may be a second late.
    const isOver = record.status === 'open' && record.expiresAt <= orgClock.now(principal);
    const shown = isOver ? { ...record, status: 'expired' as const } : record;
    const of = { customer: found.customer, meter, balance: balance(snapshot) };
    return Response.json(fromReservation(shown, of));
  });
}

function commitRoute(deps: ReservationDeps): Route {
  return deps.edge.organisation(COMMIT, (call) =>
    resolve(deps, call, ({ meter }) => {
      const value = unitsOf(call.body.value, meter, ['value']);
      return typeof value === 'bigint' ? { kind: 'commit', value } : value;
    }),
  );
}

function releaseRoute(deps: ReservationDeps): Route {
  return deps.edge.organisation(RELEASE, (call) =>
    resolve(deps, call, () => ({ kind: 'release' })),
  );
}

function extendRoute(deps: ReservationDeps): Route {
  return deps.edge.organisation(EXTEND, (call) =>
    resolve(deps, call, ({ meter }) => {
      const { amount: wanted, expires_in: seconds } = call.body;
      if (wanted === undefined && seconds === undefined) {
        return { path: [], message: 'needs an amount or expires_in' };
      }
      const amount = wanted === undefined ? null : amountOf(wanted, meter, ['amount']);
      if (amount !== null && typeof amount !== 'bigint') return amount;
      const expiresInMs = seconds === undefined ? null : seconds * 1000;
      return { kind: 'extend', amount, expiresInMs };
    }),
  );
}

async function resolve(
  { sql, ledger, subscriptions }: ReservationDeps,
  { principal, params: { id } }: ById,
  actOf: (record: ReservationRecord) => Resolution | Issue,
): Promise<Response> {
  const record = await findReservation(sql, principal, id);
  if (record === null) return notFound();
  const act = actOf(record);
  if ('path' in act) return refuseInvalid([act]);
  const { meter } = record;
  const customer = await ledger.find(principal, { id: record.customerId });
  if (customer === null) return notFound();
  const outcome = await ledger.resolve(customer, meter, { id: record.id, act });
  if (outcome === null) return notFound();
  if (outcome.kind !== 'done') return refusedAct(outcome);
  const { reservation, balance: rest, owing = [] } = outcome;
  for (const one of owing) await subscriptions.carryOutOf(one);
  const of = { customer: customer.customer, meter, balance: rest };
  return Response.json(fromReservation(reservation, of));
}

type ById = {
  readonly principal: OrganisationPrincipal;
  readonly params: { readonly id: string };
};

const DAYS_MAX = RESERVATION_MS_MAX / DAY_MS;

function refusedAct(outcome: Exclude<Resolved, { kind: 'done' }>): Response {
  switch (outcome.kind) {
    case 'not_open':
      return refuse('invalid_state', `the reservation is ${outcome.status}`);
    case 'period_over':
      return refuse('invalid_state', 'its period has ended: the hold cannot grow');
    case 'denied':
      return refuse('insufficient_balance', overLimit(outcome.reason));
    case 'out_of_range':
      return refuseInvalid([{ path: ['value'], message: 'would take the total out of range' }]);
    case 'less_than_held':
      return refuseInvalid([{ path: ['amount'], message: 'must be at least what is held' }]);
    case 'too_long': {
      const message = `would keep it open for more than ${DAYS_MAX} days`;
      return refuseInvalid([{ path: ['expires_in'], message }]);
    }
    default:
      return unreachable(outcome);
  }
}
