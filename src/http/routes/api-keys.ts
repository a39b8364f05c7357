// The keys of an organisation, made, replaced and revoked by its keys.
//
// Holds: a key acts on keys only while it is live, judged in the transaction of what it does. So a
// key that is being revoked makes no successor, and of two keys that revoke each other one stays.
// A revocation is known on every node that answers before its own answer is sent.
// An admin comes to no live key that may do what an owner may.
// What a revoked key has let in, by invitations or links to the portal, ends with it.
// Does not: revoke the keys that a revoked key has made.
import { assert } from '../../../ledger/kernel/assert.ts';
import type { Clock, Ids } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Secrets } from '../../platform/crypto/secrets.ts';
import type { Changes } from '../../platform/postgres/changes.ts';
import type { Sql, Transaction } from '../../platform/postgres/postgres.ts';
import type { RateLimit, RateLimiter } from '../../platform/redis/rate-limit.ts';
import {
  addKey,
  holdKeys,
  isLive,
  type KeyRecord,
  type KeyScope,
  listKeysOf,
  type NewKey,
  replaceKey,
  revokeKey,
} from '../../records/api-keys.ts';
import { ofScope } from '../../records/page.ts';
import { isUuid } from '../../records/uuid.ts';
import { type OrganisationPrincipal, tenantOf } from '../edge/auth.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { type Issue, refuse, refuseInvalid } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuseRate } from '../edge/rate-limit.ts';
import { writeInTurn } from '../edge/write-turns.ts';
import {
  type Answer,
  answer,
  type Attempt,
  once,
  refusal,
  refusedField,
} from '../idempotency/idempotency.ts';
import { answerList, PAGE } from '../list.ts';
import {
  ApiKey,
  ApiKeyCreate,
  ApiKeyRotate,
  ApiKeyWithText,
  fromKey,
  OVERLAP_S_DEFAULT,
  toScope,
} from '../wire/api-keys.ts';
import { timeOf } from '../wire/usage.ts';
import { Body, ListOf } from '../wire/values.ts';

export type ApiKeyRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly changes: Changes;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly limiter: RateLimiter;
};

type Deps = ApiKeyRoutesDeps & { readonly limit: RateLimit };

const tag = 'API keys';

const KEY_ID = { id: 'The id of the key, not the key itself.' };
const KEY_ONCE = 'The key is in this answer only; only a hash of it is stored.';

const CREATE = {
  operationId: 'createApiKey',
  method: 'POST',
  path: '/api-keys',
  client: 'apiKeys.create',
  summary: 'Create an API key',
  description:
    'For the organization and the mode of the calling key. In the dashboard an admin ' +
    'cannot create a live key with the scope `all`. ' +
    KEY_ONCE,
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'api_key' },
  body: ApiKeyCreate,
  bodyOptional: true,
  idempotent: true,
  answers: { 201: ApiKeyWithText },
  refusals: ['conflict', 'rate_limited'],
} as const;

const LIST = {
  operationId: 'listApiKeys',
  method: 'GET',
  path: '/api-keys',
  client: 'apiKeys.list',
  summary: 'List API keys, newest first',
  description: 'All live keys, and the last 1,000 that were revoked or have expired.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body(PAGE),
  answers: { 200: ListOf(ApiKey) },
} as const;

const REVOKE = {
  operationId: 'revokeApiKey',
  method: 'DELETE',
  path: '/api-keys/{id}',
  client: 'apiKeys.revoke',
  summary: 'Revoke an API key',
  description:
    'It stops working at once; open streams end within a second. Open invitations and portal ' +
    'links that it created end. Repeating the call changes nothing. A key cannot revoke itself.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'api_key' },
  params: KEY_ID,
  answers: { 204: null },
  refusals: ['not_found', 'conflict'],
} as const;

const ROTATE = {
  operationId: 'rotateApiKey',
  method: 'POST',
  path: '/api-keys/{id}/rotate',
  client: 'apiKeys.rotate',
  summary: 'Rotate an API key',
  description:
    'Creates a key with the same name and scopes and without an expiry. The old key works ' +
    'for the overlap, or until its own expiry if that is sooner, and so do open ' +
    'invitations that it created; its portal links continue and end with the new key. A ' +
    'key may rotate itself. ' +
    KEY_ONCE,
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'api_key', id: 'path' },
  params: KEY_ID,
  body: ApiKeyRotate,
  bodyOptional: true,
  idempotent: true,
  answers: { 201: ApiKeyWithText },
  refusals: ['not_found', 'conflict', 'invalid_state', 'rate_limited'],
} as const;

export function apiKeyRoutes(given: ApiKeyRoutesDeps): Route[] {
  const limit = given.limiter.limit('api-key', given.settings.limits.apiKeys);
  const deps = { ...given, limit };
  return [createKey(deps), readKeys(deps), removeKey(deps), rotateKey(deps)];
}

function createKey(deps: Deps): Route {
  return deps.edge.organisation(CREATE, ({ principal, body = {}, idempotencyKey: key }) => {
    const { expires_at: expires, name = null } = body;
    const expiresAt = expires === undefined ? null : timeOf(expires);
    if (expires !== undefined && expiresAt === null) return refuseInvalid([NO_TIME]);
    const scope = toScope(body);
    if (!mayHold(principal, scope)) return refuse('forbidden', FOR_OWNERS);
    const made = { principal, operation: CREATE, key, body };
    return make(deps, made, [], (sql, { now }) => {
      // Judged within the attempt: a retry may come after the key, made in time, has expired.
      if (expiresAt !== null && expiresAt <= now) {
        return Promise.resolve(refusedField('expires_at', 'must be in the future'));
      }
      const wanted = { id: deps.ids.next(), name, scope, expiresAt };
      return add(deps, sql, { principal, wanted, now });
    });
  });
}

function readKeys({ edge, lists }: Deps): Route {
  return edge.organisation(LIST, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'apiKeys',
        whose: ofScope(principal),
        rows: (sql, page) => listKeysOf(sql, principal, page),
        show: fromKey,
      },
    ),
  );
}

function removeKey({ edge, sql, clock, changes }: Deps): Route {
  return edge.organisation(REVOKE, async ({ principal, params }) => {
    const id = idOf(params.id);
    if (id === null) return noSuchKey();
    if (id === principal.actor.id) {
      return refuse('conflict', 'a key cannot revoke itself: rotate it, or use another');
    }
    let isNew = false;
    const revoke = () =>
      sql.begin(async (transaction): Promise<Response> => {
        const held = await holdKeys(transaction, principal, [principal.actor.id, id]);
        // After the wait: what the key has made meanwhile it made before its end.
        const now = clock.now();
        if (!hasLive(held, principal, now)) return ended();
        const found = held.get(id);
        if (found === undefined) return noSuchKey();
        isNew = found.revokedAt === null;
        if (isNew) await revokeKey(transaction, { id, now });
        return new Response(null, { status: 204 });
      });
    const response = await writeInTurn(tenantOf(principal), revoke);
    // Caches of all callers hear of it: not again.
    if (isNew) await changes.publish('api_key', id);
    return response;
  });
}

function rotateKey(deps: Deps): Route {
  const { edge, changes } = deps;
  return edge.organisation(ROTATE, async ({ principal, params, body, idempotencyKey: key }) => {
    const id = idOf(params.id);
    if (id === null) return noSuchKey();
    const overlapS = body?.overlap_seconds ?? OVERLAP_S_DEFAULT;
    // The key that is replaced is part of the request that an Idempotency-Key is for.
    const request = { id, ...body };
    const made = { principal, operation: ROTATE, key, body: request };
    const response = await make(deps, made, [id], async (sql, { held, now }) => {
      const replaced = held.get(id);
      if (replaced === undefined) return refusal('not_found', NO_SUCH_KEY);
      if (!isLive(replaced, now)) return refusal('invalid_state', 'this key has ended');
      const { name, scope } = replaced;
      if (!mayHold(principal, scope)) return refusal('forbidden', FOR_OWNERS);
      const by = deps.ids.next();
      const terms = { id: by, name, scope, expiresAt: null };
      const wanted = { ...terms, ...(overlapS === 0 && { replaced: id }) };
      const answered = await add(deps, sql, { principal, wanted, now });
      if (answered.status === 201) await replaceKey(sql, { id, by, at: now + overlapS * 1000 });
      return answered;
    });
    if (response.ok) await changes.publish('api_key', id);
    return response;
  });
}

type Held = ReadonlyMap<string, KeyRecord>;
type Making = Pick<Attempt, 'operation' | 'key' | 'body'> & {
  readonly principal: OrganisationPrincipal;
};

/** Runs `task` once, where the caller's key is live; that key and these are held meanwhile. */
async function make(
  { sql, clock, secrets, limit }: Deps,
  making: Making,
  ids: readonly string[],
  task: (sql: Transaction, at: { readonly held: Held; readonly now: number }) => Promise<Answer>,
): Promise<Response> {
  const { principal, body } = making;
  const now = clock.now();
  // The answer shows a key: only the key that asked first gets it again.
  const asked = { by: principal.actor.id, body };
  // Not stored, and sent with the headers that go with it.
  let refused: Response | null = null;
  const response = await once(
    { sql, secrets, now, ...making, body: asked },
    async (transaction) => {
      // Here, because a replay does not count.
      const taken = await limit.take(`${principal.organisationId} ${principal.mode}`);
      if (!taken.allowed) {
        refused = refuseRate(taken);
        return NOT_MADE;
      }
      const held = await holdKeys(transaction, principal, [principal.actor.id, ...ids]);
      // After the wait: what ended a key meanwhile may have begun later than this.
      const heldAt = clock.now();
      if (!hasLive(held, principal, heldAt)) {
        refused = ended();
        return NOT_MADE;
      }
      return task(transaction, { held, now: heldAt });
    },
  );
  return refused ?? response;
}

async function add(
  { settings: { bounds } }: Deps,
  sql: Transaction,
  options: {
    readonly principal: OrganisationPrincipal;
    readonly wanted: Required<Pick<NewKey, 'id' | 'name' | 'scope' | 'expiresAt'>> & {
      replaced?: string;
    };
    readonly now: number;
  },
): Promise<Answer> {
  const { principal, wanted, now } = options;
  const { organisationId, mode, actor } = principal;
  const createdBy = actor.kind === 'customer' ? null : { kind: actor.kind, id: actor.id };
  const owner = { kind: 'organisation', organisationId } as const;
  const { id } = wanted;
  const key = await addKey(sql, bounds, { ...wanted, owner, mode, createdBy, now });
  if (key instanceof Full) return refusal('conflict', key.message);
  const record = (await holdKeys(sql, principal, [id])).get(id);
  assert(record !== undefined, 'a key that was made is there');
  const { id: _id, ...shown } = fromKey(record);
  return answer(201, { id, key, ...shown });
}

const NO_TIME: Issue = { path: ['expires_at'], message: 'must be an ISO 8601 time with a zone' };

const NO_SUCH_KEY = 'no such API key';
const noSuchKey = () => refuse('not_found', NO_SUCH_KEY);

const ENDED = 'the API key has been revoked or has expired';
const ended = () => refuse('unauthorized', ENDED);

const NOT_MADE: Answer = { ...refusal('unauthorized', ENDED), isKept: false };

const FOR_OWNERS = 'an owner makes and rotates live keys with the scope all';

/**
 * Such a key makes owners and changes the processor, which an admin may not: nobody gets past its
 * role by a key.
 */
function mayHold({ scope: caller, mode }: OrganisationPrincipal, scope: KeyScope): boolean {
  return caller !== 'admin' || mode === 'test' || scope !== 'all';
}

/** A member's session was looked up for this request. */
function hasLive(held: Held, { actor }: OrganisationPrincipal, now: number): boolean {
  if (actor.kind === 'user') return true;
  const own = held.get(actor.id);
  return own !== undefined && isLive(own, now);
}

/** As it is stored; null where it is none. */
function idOf(text: string): string | null {
  return isUuid(text) ? text.toLowerCase() : null;
}
