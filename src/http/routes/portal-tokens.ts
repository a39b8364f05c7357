import type { Clock, Ids } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql, Transaction } from '../../platform/postgres/postgres.ts';
import type { Secrets } from '../../platform/crypto/secrets.ts';
import { endToKeep } from '../../records/api-keys.ts';
import { findCustomer } from '../../records/customers.ts';
import { roleToKeep } from '../../records/members.ts';
import {
  insertPortalToken,
  PORTAL_TTL_S_DEFAULT,
  type PortalTokenMaker,
  revokePortalToken,
} from '../../records/portal-tokens.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse } from '../edge/errors.ts';
import { type Answer, answer, once, refusal } from '../idempotency/idempotency.ts';
import { isStorableText } from '../edge/json.ts';
import { fromPortalToken, PortalToken, PortalTokenCreate } from '../wire/portal-tokens.ts';

export type PortalTokenRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly settings: Settings;
  readonly newToken: () => string;
};

const tag = 'Portal';

const CREATE = {
  operationId: 'createPortalToken',
  method: 'POST',
  path: '/customers/{id}/portal-tokens',
  client: 'portalTokens.create',
  summary: 'Create a portal link',
  description:
    'The answer has a URL that shows this customer its subscriptions, usage and invoices and ' +
    'lets it act on them, until it expires or is revoked. It ends when the key that made it is ' +
    'revoked or expires, or when the member who made it is removed or loses that right; after a ' +
    'rotation it ends with the new key. Anyone with the URL acts as the customer. Only a hash of ' +
    'the token is stored.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'portal_token', isRoutine: true },
  params: { id: "The id of the customer, or the merchant's own (external_customer_id)." },
  body: PortalTokenCreate,
  bodyOptional: true,
  idempotent: true,
  answers: { 201: PortalToken },
  refusals: ['not_found', 'conflict'],
} as const;

const REVOKE = {
  operationId: 'revokePortalToken',
  method: 'DELETE',
  path: '/portal-tokens/{id}',
  client: 'portalTokens.revoke',
  summary: 'Revoke a portal link',
  description: 'It stops working at once. Repeating the call changes nothing.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'portal_token' },
  params: { id: 'The id of the token, not the token itself.' },
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

export function portalTokenRoutes(deps: PortalTokenRoutesDeps): Route[] {
  return [createToken(deps), revokeToken(deps)];
}

function createToken(deps: PortalTokenRoutesDeps): Route {
  const { edge, sql, ids, clock, secrets, settings, newToken } = deps;
  return edge.organisation(
    CREATE,
    async ({ principal, params: { id }, body, idempotencyKey: key }) => {
      const customer = isStorableText(id) ? await findCustomer(sql, principal, id) : null;
      if (customer === null) return refuse('not_found', 'no such customer');
      const ttlS = body?.ttl_seconds ?? PORTAL_TTL_S_DEFAULT;
      // The customer is part of the request that a key is for.
      const request = { customer_id: customer.id, ...body };
      const now = clock.now();
      const attempt = { sql, principal, operation: CREATE, key, body: request, now, secrets };
      return once(attempt, async (transaction) => {
        const by = await holdMaker(deps, transaction, { principal, now });
        if ('status' in by) return by;
        const token = newToken();
        const { bounds } = settings;
        const of = { customerId: customer.id, token, ttlS, page: null, by };
        const wanted = { id: ids.next(), ...of, bounds, now };
        const made = await insertPortalToken(transaction, wanted);
        if (made === null) return refusal('not_found', 'no such customer');
        if (made instanceof Full) return refusal('conflict', made.message);
        return answer(201, fromPortalToken(made, { token, appUrl: settings.appUrl }));
      });
    },
  );
}

/**
 * Its right may be another than when the request began. It stays until the token is there to end
 * with it.
 */
async function holdMaker(
  { edge }: PortalTokenRoutesDeps,
  sql: Transaction,
  { principal, now }: { readonly principal: OrganisationPrincipal; readonly now: number },
): Promise<PortalTokenMaker | Answer> {
  const { organisationId, actor } = principal;
  const { id } = actor;
  if (actor.kind === 'user') {
    const role = await roleToKeep(sql, organisationId, id);
    const may = role !== null && edge.callers.may(role, CREATE.operationId);
    return may ? { kind: 'user', id } : { ...NOT_ANY_MORE, isKept: false };
  }
  const endsAt = await endToKeep(sql, principal, { id, now });
  return endsAt === 'ended' ? { ...ENDED, isKept: false } : { kind: 'key', id, endsAt };
}

const NOT_ANY_MORE = refusal('forbidden', 'you may not open the portal any more');
const ENDED = refusal('unauthorized', 'the API key has been revoked or has expired');

function revokeToken({ edge, sql, clock }: PortalTokenRoutesDeps): Route {
  return edge.organisation(REVOKE, async ({ principal, params: { id } }) => {
    const isKnown = await revokePortalToken(sql, principal, { id, now: clock.now() });
    return isKnown ? new Response(null, { status: 204 }) : refuse('not_found', 'no such token');
  });
}
