import type { Ledger } from '../../../ledger/ledger.ts';
import type { Ids } from '../../../ledger/ports.ts';
import type { Grant as LedgerGrant } from '../../../ledger/metering/grants.ts';
import { isLevel } from '../../../ledger/metering/meter.ts';
import { type BoundName, Full } from '../../platform/bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { type GrantRecord, findGrant } from '../../records/grants.ts';
import { keepMeters, type UsageMeter } from '../../records/meters.ts';
import { billingPolicyOf } from '../../records/organisations.ts';
import { type OrganisationPrincipal, tenantOf } from '../edge/auth.ts';
import type { Route } from '../edge/edge.ts';
import { type Issue, refuse, refuseInvalid } from '../edge/errors.ts';
import { writeInTurn } from '../edge/write-turns.ts';
import { earlierAnswer, refusedOnce } from '../idempotency/idempotency.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
import { listRoute } from './live-grants.ts';
import {
  type MeteringDeps,
  type Subject,
  findByReference,
  notRecorded,
  refusedResponse,
} from './metering.ts';
import { Grant, GrantCreate, fromGrant } from '../wire/grants.ts';
import { NO_ROLLOVER } from '../wire/rollover.ts';
import { quantityOf, timeOf } from '../wire/usage.ts';

export type GrantRoutesDeps = MeteringDeps & { readonly sql: Sql };

const tag = 'Grants';

const CREATE = {
  operationId: 'createGrant',
  method: 'POST',
  path: '/customers/{id}/grants',
  client: 'grants.create',
  summary: 'Grant a customer units of a feature',
  description:
    'A grant is a top-up by default. With `reset_interval` it is an allowance that is given ' +
    'again each interval, counted from `effective_at`, also a past one, in the time zone of the ' +
    'organization. The period of the feature is that of the allowance with the lowest priority, ' +
    'then of the oldest. Burn order: lowest priority, soonest expiry, rollover before fresh, ' +
    'oldest. An `idempotency_key`, or an `Idempotency-Key` header instead, counts once for its ' +
    'customer.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'grant' },
  params: { id: "The id of the customer, or the merchant's own (external_customer_id)." },
  body: GrantCreate,
  idempotent: 'ledger',
  answers: { 201: Grant },
  refusals: ['not_found', 'conflict', 'idempotency_key_reused'],
} as const;

const VOID = {
  operationId: 'voidGrant',
  method: 'POST',
  path: '/grants/{id}/void',
  client: 'grants.voidGrant',
  summary: 'Void a grant',
  description:
    'Takes back what is left of the grant. What was used stays used. Repeating the call gives ' +
    'the same answer.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'grant' },
  params: { id: 'The id of the grant.' },
  answers: { 200: Grant },
  refusals: ['not_found'],
} as const;

export function grantRoutes(deps: GrantRoutesDeps): Route[] {
  return [createRoute(deps), listRoute(deps), voidRoute(deps)];
}

const notFound = (what: string): Response => refuse('not_found', `no such ${what}`);

function createRoute(deps: GrantRoutesDeps): Route {
  const { edge, ids, orgClock, meters, sql, ledger } = deps;
  const { bounds } = deps.settings;
  const full = (bound: BoundName) => refuse('conflict', new Full(bound, bounds[bound]).message);
  return edge.organisation(CREATE, async ({ principal, params, body, idempotencyKey }) => {
    const customer = await findByReference(ledger, principal, params.id);
    if (customer === null) return notFound('customer');
    const meter = await meters.bySlug(principal, body.feature_key);
    if (meter === null) return notFound('feature');
    const now = orgClock.now(principal);
    const key = body.idempotency_key ?? idempotencyKey;
    const earlier = key === null ? null : await earlierGrant(deps, { principal, customer, key });
    const attempt = { sql, principal, operation: CREATE, of: customer.id, key, body, now };
    const refused = earlier === null ? await earlierAnswer(attempt) : null;
    if (refused !== null) return refused;
    const id = earlier?.id ?? (key === null ? ids.next() : keyId(ids, principal, customer.id, key));
    // A retry is judged at the time of the first call: a time that was in the future may be past
    // now.
    const first = earlier?.createdAt.getTime() ?? now;
    const zone =
      body.reset_interval === undefined ? 'UTC' : (await billingPolicyOf(sql, principal)).zone;
    const grant = grantOf(body, { id, now: first, meter, zone });
    if ('issues' in grant) return refuseInvalid(grant.issues);
    const give = () => ledger.grant(customer, meter, grant);
    const isPool = meter.creditCosts.length > 0;
    const outcome = await (isPool ? whileKept(sql, principal, meter.id, give) : give());
    if (outcome === null) return notFound('feature');
    switch (outcome.kind) {
      case 'granted':
      case 'duplicate':
        break;
      case 'too_many_grants':
        return refusedOnce(attempt, full('grantsPerCustomerMeter'));
      case 'too_many_grants_in_all':
        return refusedOnce(attempt, full('grantsPerCustomer'));
      case 'too_many_meters':
        return refusedOnce(attempt, refusedResponse(notRecorded(deps, outcome.kind)));
      case 'other_reset':
        return refusedOnce(attempt, refuse('conflict', OTHER_RESET));
      case 'out_of_range':
        return refuseInvalid([{ path: ['amount'], message: 'would take the total out of range' }]);
      default:
        return outcome satisfies never;
    }
    const stored = await findGrant(sql, principal, id);
    if (stored === null) return notFound('grant');
    const shown = { ...stored, endedAt: null, endedHow: null, started: grant.effectiveAt <= now };
    if (outcome.kind === 'granted') return Response.json(fromGrant(shown), { status: 201 });
    if (!isSame(stored, grant, { customerId: customer.id, meter, body })) {
      return refuse('idempotency_key_reused', 'this key was used for another grant');
    }
    // The answer of the first call, whatever happened to the grant since.
    const created = stored.effectiveAt.getTime() <= stored.createdAt.getTime();
    return Response.json(fromGrant({ ...shown, started: created }), { status: 201, ...REPLAYED });
  });
}

/** The id of a grant with a key. `scope`: the customer and the key. */
function keyId(
  ids: Ids,
  { organisationId, mode }: OrganisationPrincipal,
  ...scope: readonly string[]
): string {
  return ids.derive('grant-key', organisationId, mode, ...scope);
}

/** Of the key. One that was made while keys were the organisation's has the id of before. */
async function earlierGrant(
  { ids, sql }: GrantRoutesDeps,
  of: { principal: OrganisationPrincipal; customer: { readonly id: string }; key: string },
): Promise<GrantRecord | null> {
  const { principal, customer, key } = of;
  const own = await findGrant(sql, principal, keyId(ids, principal, customer.id, key));
  if (own !== null) return own;
  const former = await findGrant(sql, principal, keyId(ids, principal, key));
  return former?.customerId === customer.id ? former : null;
}

type Granted = Awaited<ReturnType<Ledger['grant']>>;

/**
 * A pool is not deleted while it is granted: whoever deletes it sees the grant then, or is seen.
 * What a pool has begun to pay for goes on with it. null where it is deleted.
 */
function whileKept(
  sql: Sql,
  principal: OrganisationPrincipal,
  meterId: string,
  give: () => Promise<Granted>,
): Promise<Granted | null> {
  return writeInTurn(tenantOf(principal), () =>
    sql.begin(async (transaction) => {
      const kept = await keepMeters(transaction, [meterId]);
      return kept.has(meterId) ? give() : null;
    }),
  );
}

const OTHER_RESET =
  'a pool of credits and its members are given with the same reset_interval: this customer has another';

function voidRoute(deps: GrantRoutesDeps): Route {
  const { edge, ledger, sql } = deps;
  return edge.organisation(VOID, async ({ principal, params }) => {
    const grant = await findGrant(sql, principal, params.id);
    if (grant === null) return notFound('grant');
    const customer = await ledger.find(principal, { id: grant.customerId });
    if (customer === null) return notFound('grant');
    await ledger.voidGrant(customer, { meterId: grant.meterId, grantId: grant.id });
    const after = await findGrant(sql, principal, grant.id);
    return after === null ? notFound('grant') : Response.json(fromGrant(after));
  });
}

/** The body as a grant, or its issues. */
function grantOf(
  body: GrantCreate,
  about: { id: string; now: number; meter: UsageMeter; zone: string },
): LedgerGrant | { readonly issues: Issue[] } {
  const { id, now, meter, zone } = about;
  const issues: Issue[] = [];
  const issue = (field: string, message: string): void => {
    issues.push({ path: [field], message });
  };
  const positive = (input: number | string, path: string[]): bigint => {
    const units = quantityOf(input, meter.scale, path);
    if (typeof units !== 'bigint') issues.push(units);
    else if (units <= 0n) issues.push({ path, message: 'must be greater than zero' });
    return typeof units === 'bigint' ? units : 0n;
  };
  const time = (field: 'effective_at' | 'expires_at'): number | null => {
    const text = body[field];
    const at = text === undefined ? null : timeOf(text);
    if (text !== undefined && at === null) issue(field, 'must be an ISO 8601 time with a zone');
    return at;
  };
  const { amount: given, unlimited, rollover, reset_interval: interval } = body;
  if ((given === undefined) === (unlimited === undefined)) {
    issue('amount', given === undefined ? 'is required' : 'does not go with unlimited');
  }
  if (rollover !== undefined && interval === undefined) issue('rollover', 'needs a reset_interval');
  else if (rollover !== undefined && isLevel(meter)) issue('rollover', NO_ROLLOVER);
  const effectiveAt = time('effective_at') ?? now;
  const expiresAt = time('expires_at');
  if (expiresAt !== null && expiresAt <= Math.max(now, effectiveAt)) {
    issue('expires_at', 'must be in the future, and after effective_at');
  }
  const amount = given === undefined ? null : positive(given, ['amount']);
  const rolls = rollover === undefined ? null : rolloverOf(rollover, positive);
  if (issues.length > 0) return { issues };
  const cycle = { anchor: effectiveAt, count: 1, zone };
  return {
    id,
    source: interval === undefined ? 'top_up' : 'manual',
    amount,
    used: 0n,
    spent: 0n,
    grown: 0n,
    cut: [],
    rests: [],
    startedAt: null,
    endedIn: 0,
    cap: null,
    effectiveAt,
    expiresAt,
    priority: body.priority ?? 100,
    createdAt: now,
    overageAllowed: body.overage_allowed ?? false,
    price: null,
    charges: false,
    recurs: interval === undefined ? null : { cycle: { ...cycle, interval }, rollover: rolls },
    renewsAt: null,
    suspended: null,
    boolean: false,
    started: false,
    productId: null,
    subscriptionId: null,
    reason: body.reason ?? null,
    ended: null,
  };
}

function rolloverOf(
  { max, expires_after_periods }: NonNullable<GrantCreate['rollover']>,
  positive: (input: number | string, path: string[]) => bigint,
) {
  return { max: positive(max, ['rollover', 'max']), expiresAfterPeriods: expires_after_periods };
}

/**
 * Whether a stored grant is what this request asks for. Fields that were left out depend on the
 * clock and are not compared.
 */
function isSame(
  stored: GrantRecord,
  grant: LedgerGrant,
  request: { customerId: string; meter: Subject['meter']; body: GrantCreate },
): boolean {
  return (
    stored.customerId === request.customerId &&
    stored.meterId === request.meter.id &&
    stored.amount === grant.amount &&
    stored.priority === grant.priority &&
    stored.reason === grant.reason &&
    stored.overageAllowed === grant.overageAllowed &&
    stored.resetInterval === (grant.recurs?.cycle.interval ?? null) &&
    stored.rolloverMax === (grant.recurs?.rollover?.max ?? null) &&
    stored.rolloverPeriods === (grant.recurs?.rollover?.expiresAfterPeriods ?? null) &&
    (stored.expiresAt?.getTime() ?? null) === grant.expiresAt &&
    (request.body.effective_at === undefined || stored.effectiveAt.getTime() === grant.effectiveAt)
  );
}
