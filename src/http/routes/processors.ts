import { unreachable } from '../../../ledger/kernel/assert.ts';
import type { Settings } from '../../config.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import type { ConnectReply, ProcessorAccounts } from '../../processors/connecting.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse, refuseInvalid, Unavailable } from '../edge/errors.ts';
import { refuseRate } from '../edge/rate-limit.ts';
import { fromProcessorAccount, ProcessorAccount, ProcessorConnect } from '../wire/processors.ts';

export type ProcessorRoutesDeps = {
  readonly edge: Edge;
  readonly settings: Settings;
  readonly limiter: RateLimiter;
  readonly processorAccounts: ProcessorAccounts;
};

const tag = 'Organization';

const READ = {
  operationId: 'getProcessor',
  method: 'GET',
  path: '/organization/processor',
  client: 'organization.retrieveProcessor',
  summary: 'Get the connected Stripe account',
  description: 'In the mode of the API key. 404 without an account.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  answers: { 200: ProcessorAccount },
  refusals: ['not_found'],
} as const;

const PUT = {
  operationId: 'connectProcessor',
  method: 'PUT',
  path: '/organization/processor',
  client: 'organization.connectProcessor',
  summary: 'Connect a Stripe account, or replace its key',
  description:
    'In the mode of the API key. New payments go to this account from now on; until then the ' +
    'sandbox takes them in test mode. The key is checked with Stripe first. Another key of the ' +
    'same account replaces the first one without an interruption. Another account takes new ' +
    'payments: refunds, disputes and renewals of earlier payments stay with the account that ' +
    'took them. 503 if Stripe does not answer: nothing is changed.',
  tag,
  roles: ['owner'],
  scopes: ['all'],
  audit: { object: 'processor', before: READ },
  body: ProcessorConnect,
  answers: { 200: ProcessorAccount },
  refusals: ['rate_limited'],
} as const;

const REMOVE = {
  operationId: 'disconnectProcessor',
  method: 'DELETE',
  path: '/organization/processor',
  client: 'organization.disconnectProcessor',
  summary: 'Disconnect the Stripe account',
  description:
    'In the mode of the API key. New payments no longer go there. Its key stays stored, ' +
    'encrypted, for refunds, disputes and renewals of earlier payments: revoke it at Stripe when ' +
    'none of these are left.',
  tag,
  roles: ['owner'],
  scopes: ['all'],
  audit: { object: 'processor', before: READ },
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

/** In seconds: an outage of theirs is seldom over at once. */
const AWAY_RETRY_S = '5';

export function processorRoutes(deps: ProcessorRoutesDeps): Route[] {
  return [connectProcessor(deps), readProcessor(deps), disconnectProcessor(deps)];
}

function connectProcessor({
  edge,
  settings,
  limiter,
  processorAccounts,
}: ProcessorRoutesDeps): Route {
  const limit = limiter.limit('processor-keys', settings.limits.processorKeys);
  return edge.organisation(PUT, async ({ principal, body }) => {
    const taken = await limit.take(`${principal.organisationId} ${principal.mode}`);
    if (!taken.allowed) return refuseRate(taken);
    const reply = await processorAccounts.connect(principal, {
      secretKey: body.secret_key,
      webhookSecret: body.webhook_secret ?? null,
      actor: principal.actor.id,
    });
    return answerConnect(reply);
  });
}

function answerConnect(reply: ConnectReply): Response {
  switch (reply.kind) {
    case 'connected':
      return Response.json(fromProcessorAccount(reply.account));
    case 'refused':
      return refuseInvalid([{ path: [reply.field], message: reply.message }]);
    case 'away':
      return refuse('service_unavailable', 'Stripe does not answer; nothing was changed', {
        headers: { 'retry-after': AWAY_RETRY_S },
      });
    case 'busy':
      throw new Unavailable(BUSY);
    default:
      return unreachable(reply);
  }
}

const BUSY = 'the processor of this organisation is being changed';

function readProcessor({ edge, processorAccounts }: ProcessorRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal }) => {
    const account = await processorAccounts.find(principal);
    return account === null ? notConnected() : Response.json(fromProcessorAccount(account));
  });
}

function disconnectProcessor({ edge, processorAccounts }: ProcessorRoutesDeps): Route {
  return edge.organisation(REMOVE, async ({ principal }) => {
    const done = await processorAccounts.disconnect(principal, principal.actor.id);
    if (done === 'busy') throw new Unavailable(BUSY);
    return done === 'none' ? notConnected() : new Response(null, { status: 204 });
  });
}

const notConnected = () => refuse('not_found', 'no processor is connected');
