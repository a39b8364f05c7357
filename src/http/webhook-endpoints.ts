// What the endpoint routes of an organisation and of a group share: everything but authentication
// and the wire schemas.
//
// Holds: a secret is sent once, in the answer that created it. Where that answer is stored for a
// retry, it is encrypted.
import type { Clock, Ids } from '../../ledger/ports.ts';
import type { Settings } from '../config.ts';
import { Full } from '../platform/bounds.ts';
import type { Changes } from '../platform/postgres/changes.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { type Resolve, vetUrl } from '../platform/net/public-url.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import { reconcileDeliveries } from '../records/delivery-reconciliation.ts';
import {
  deleteEndpoint,
  type EndpointPatch,
  type EndpointRecord,
  type EndpointStatus,
  findEndpoint,
  insertEndpoint,
  replaceSecret,
  type Subscription,
  updateEndpoint,
} from '../records/webhook-endpoints.ts';
import type { Principal } from './edge/auth.ts';
import type { Edge } from './edge/edge.ts';
import { errorText, type Issue, refuse, refuseInvalid } from './edge/errors.ts';
import type { FairSql } from './edge/fair-sql.ts';
import { type Answer, answer, once, refusal } from './idempotency/idempotency.ts';
import type { Operation } from './operation.ts';

export type EndpointDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly replays: FairSql;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly changes: Changes;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly newSigningSecret: () => string;
  readonly resolve: Resolve;
};

/**
 * Batches of deliveries that a request updates before it answers. The workers' sweep does the rest.
 */
const BATCHES_MAX = 5;

export const noSuchEndpoint = () => refuse('not_found', 'no such webhook endpoint');

export async function register(
  deps: EndpointDeps,
  call: {
    readonly principal: Principal;
    readonly operation: Operation;
    readonly key: string | null;
    readonly body: {
      readonly url: string;
      readonly event_types?: Subscription;
      readonly description?: string;
      readonly status?: EndpointStatus;
    };
    readonly byDefault: Subscription;
    readonly wire: (endpoint: EndpointRecord) => object;
  },
): Promise<Response> {
  const { sql, ids, clock, secrets, newSigningSecret } = deps;
  const { principal, operation, key, body, byDefault, wire } = call;
  const { bounds } = deps.settings;
  // Judged within the attempt, so that a retry gets its first answer whatever the name resolves to
  // by then. Resolved before it, so that no transaction waits for DNS.
  const issue = await urlIssue(deps, principal, body.url);
  const id = ids.next();
  const now = clock.now();
  const attempt = { sql, principal, operation, key, body, now, secrets };
  const response = await once(attempt, async (transaction) => {
    if (issue !== null) return refusedUrl(issue);
    const secret = newSigningSecret();
    const endpoint = {
      id,
      url: body.url,
      eventTypes: body.event_types ?? byDefault,
      description: body.description ?? null,
      status: body.status ?? 'enabled',
      secret: secrets.seal(secret, id),
    };
    const made = await insertEndpoint(transaction, principal, { endpoint, bounds, now });
    if (made instanceof Full) return refusal('conflict', made.message);
    return answer(201, { ...wire(made), secret });
  });
  await announceChange(deps, id);
  return response;
}

/** Changes an endpoint and its pending deliveries, or returns the refusal. */
export async function change(
  deps: EndpointDeps,
  principal: Principal,
  { id, patch }: { readonly id: string; readonly patch: EndpointPatch },
): Promise<EndpointRecord | Response> {
  const { sql, clock } = deps;
  const found = await findEndpoint(sql, principal, id);
  if (found === null) return noSuchEndpoint();
  if (Object.values(patch).every((value) => value === undefined)) return found;
  const issue = patch.url === undefined ? null : await urlIssue(deps, principal, patch.url);
  if (issue !== null) return refuseInvalid([issue]);
  const now = clock.now();
  const changed = await updateEndpoint(sql, principal, { id, patch, now });
  if (changed === null) return noSuchEndpoint();
  if (patch.status !== undefined) await reconcile(deps, id);
  await announceChange(deps, id);
  return changed;
}

export async function remove(deps: EndpointDeps, principal: Principal, id: string) {
  const { sql, clock } = deps;
  const isDeleted = await deleteEndpoint(sql, principal, { id, now: clock.now() });
  if (!isDeleted) return noSuchEndpoint();
  await reconcile(deps, id);
  await announceChange(deps, id);
  return new Response(null, { status: 204 });
}

export async function rotate(
  deps: EndpointDeps,
  call: {
    readonly principal: Principal;
    readonly operation: Operation;
    readonly key: string | null;
    readonly id: string;
  },
): Promise<Response> {
  const { sql, clock, secrets, newSigningSecret } = deps;
  const { principal, operation, key } = call;
  const found = await findEndpoint(sql, principal, call.id);
  if (found === null) return noSuchEndpoint();
  const { id } = found;
  const now = clock.now();
  // The endpoint is part of the request that a key is for.
  const attempt = { sql, principal, operation, key, body: { id }, now, secrets };
  const response = await once(attempt, async (transaction): Promise<Answer> => {
    const secret = newSigningSecret();
    const sealed = secrets.seal(secret, id);
    const until = await replaceSecret(transaction, principal, { id, secret: sealed, now });
    if (until === null) return refusal('not_found', 'no such webhook endpoint');
    return answer(200, { secret, previous_secret_until: until.toISOString() });
  });
  await announceChange(deps, id);
  return response;
}

async function urlIssue(
  { settings, resolve }: EndpointDeps,
  { mode }: Principal,
  url: string,
): Promise<Issue | null> {
  const loopback = mode === 'test' && settings.allowLoopbackUrls;
  const vetted = await vetUrl(url, { loopback, resolve });
  // A name that does not resolve yet may resolve by the time of a delivery, which checks it again.
  return vetted.kind === 'refused' ? { path: ['url'], message: vetted.issue } : null;
}

function refusedUrl(issue: Issue): Answer {
  return { status: 400, body: errorText('invalid_request', `url ${issue.message}`, [issue]) };
}

async function reconcile({ sql, clock }: EndpointDeps, endpointId: string): Promise<void> {
  let mayBeMore = true;
  for (let batch = 0; mayBeMore && batch < BATCHES_MAX; batch += 1) {
    mayBeMore = await reconcileDeliveries(sql, { endpointId, now: clock.now() });
  }
}

/** The next request, on any node, has to see the change. */
async function announceChange({ changes }: EndpointDeps, id: string): Promise<void> {
  await changes.publish('webhook_endpoint', id);
}
