// The edge: what happens to a request before its handler, and to its response after it.
//
//     route ─▶ who calls, and may it (401, 403) ─▶ body: type, size (415, 413), JSON or form, schema (400) ─▶ handler
//
// Who calls: every route, through `organisation`, `group`, `portal` or `open`. Each returns what
// Elysia's route methods take after the path.
// Holds: authentication comes before anything in the request is judged. Elysia parses and validates
// first, so its `body` and `query` schemas are not used; it only routes. A handler gets values that
// fit their schema, or is not called. Every 4xx and 5xx has the contract's body and an
// x-request-id. A bug is a 500 whose body does not describe it.
// Costs: for a cached key, only the body is waited for: what is there already is not awaited, which
// would cost a turn of the microtask queue each time. Every refusal has a request id, a success
// only where the caller sent one: an id on each success cost 3.4 % of the rate.
import { breathe, type Clock, type Timers } from '../../../ledger/ports.ts';
import type { Log } from '../../platform/log.ts';
import type {
  Authenticate,
  GroupPrincipal,
  OrganisationPrincipal,
  PortalPrincipal,
  Principal,
} from './auth.ts';
import { Admission } from './admission.ts';
import type { AuditedRoutes } from './audited.ts';
import { takeBody } from './body.ts';
import { isCrossSite } from './cross-site.ts';
import { hasKey, type Described } from '../openapi/document.ts';
import { refuse } from './errors.ts';
import type { Keyed } from '../idempotency/keyed.ts';
import type { Access, Call, Handler, Operation } from '../operation.ts';
import type { AdmitPortal } from '../portal/visitor.ts';
import { type RequestIds, type RequestTrace, RequestLog } from './request-log.ts';
import { mayCall } from './scopes.ts';

/** What follows the path in `app.post(path, ...route)`. */
export type Route = readonly [
  handler: (context: Incoming) => Promise<Response>,
  hook: { readonly detail: Described },
];

type Incoming = { readonly request: Request; readonly params?: Readonly<Record<string, string>> };

export type Edge = {
  /** For an organisation's key. */
  organisation<const O extends Operation>(
    operation: O,
    handler: Handler<O, OrganisationPrincipal>,
  ): Route;
  /** For a group's key. */
  group<const O extends Operation>(operation: O, handler: Handler<O, GroupPrincipal>): Route;
  /** For a customer with a portal token, which is the parameter `token`. */
  portal<const O extends Operation>(operation: O, handler: Handler<O, PortalPrincipal>): Route;
  /** Without authentication: the address is the credential, or there is nothing to protect. */
  open<const O extends Operation>(operation: O, handler: Handler<O, null>): Route;
  readonly requestIds: RequestIds;
  /** Adds the request id to a response that no route made, and logs it. */
  finish(request: Request, response: Response): Response;
  /** The response for an error that was thrown. */
  failed(request: Request, error: unknown): Response;
  /** From now on each response closes its connection. Returns a count of the responses since. */
  leave(): () => number;
};

export type EdgeOptions = {
  readonly authenticate: Authenticate;
  readonly admitPortal: AdmitPortal;
  readonly keyed: Keyed;
  readonly audited: Pick<AuditedRoutes, 'of'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly newRequestId: () => string;
};

/** A longer body is read in a step of its own: other requests are answered before it goes on. */
const STEP_LENGTH_MIN = 64 * 1024;

const NO_PARAMS: Readonly<Record<string, string>> = {};

export function createEdge(options: EdgeOptions): Edge {
  const { authenticate, admitPortal, keyed, audited, clock, timers } = options;
  const requests = new RequestLog(options);
  const leaving = new Leaving();

  function finish(request: Request, response: Response, trace: RequestTrace | null): Response {
    leaving.mark(response);
    return requests.finish(request, response, trace);
  }

  function route<const O extends Operation, P extends Principal | PortalPrincipal | null>(
    access: Access,
    operation: O,
    handler: Handler<O, P>,
  ): Route {
    const admission = new Admission(operation, access);
    const act = keyed(operation, handler);
    const { byKeys, byUsers } = audited.of(operation, { access, act, requests });
    async function answer({ request, params = NO_PARAMS }: Incoming): Promise<Response> {
      const began = clock.monotonic();
      let principal: Principal | PortalPrincipal | null = null;
      let response: Response | undefined;
      let perform = byKeys;
      try {
        if (hasKey(access)) {
          const known = authenticate(request.headers.get('authorization'));
          principal = known instanceof Promise ? await known : known;
          if (principal?.kind !== access) response = refusePrincipal(access, principal);
          else if (principal.scope !== 'all') {
            response = refuseScope(principal, operation, request);
            if (principal.actor.kind === 'user') perform = byUsers;
          }
        } else if (access === 'portal') {
          const admitted = await admitPortal(request, params['token'] ?? '');
          if (admitted instanceof Response) response = admitted;
          else principal = admitted;
        }
        if (admission.isForm(request) && isCrossSite(request)) {
          response ??= refuse('forbidden', 'this form can be sent from its own page only');
        }
        if (response === undefined) {
          const text = await takeBody(request, admission.bodyBytesMax, admission.media);
          const call =
            text instanceof Response ? text : admission.admit({ request, params, principal, text });
          if (typeof text === 'string' && text.length >= STEP_LENGTH_MIN) await breathe(timers);
          // `admit` has checked the body against its schemas and `access` decides the principal:
          // the two types that are asserted here.
          const acted = call instanceof Response ? call : perform(call as unknown as Call<O, P>);
          response = acted instanceof Promise ? await acted : acted;
        }
      } catch (error) {
        response = requests.failed(request, error);
      }
      return finish(request, response, { principal, began });
    }
    return [answer, { detail: { operationId: operation.operationId, access, operation } }];
  }

  return {
    organisation: (operation, handler) => route('organisation', operation, handler),
    group: (operation, handler) => route('group', operation, handler),
    portal: (operation, handler) => route('portal', operation, handler),
    open: (operation, handler) => route('open', operation, handler),
    requestIds: requests,
    finish: (request, response) => finish(request, response, null),
    failed: (request, error) => requests.failed(request, error),
    leave: () => leaving.begin(),
  };
}

/** Ends the connections of callers, once it has begun. */
class Leaving {
  #hasBegun = false;
  #responses = 0;

  begin(): () => number {
    this.#hasBegun = true;
    return () => this.#responses;
  }

  mark(response: Response): void {
    if (!this.#hasBegun) return;
    this.#responses += 1;
    response.headers.set('connection', 'close');
  }
}

/** undefined where the key may call it. */
function refuseScope(
  { scope }: Principal,
  { operationId }: Operation,
  { method }: Request,
): Response | undefined {
  if (mayCall(scope, operationId, method)) return undefined;
  return refuse('forbidden', `a key with the scope ${scope} may not do this`);
}

function refusePrincipal(access: Access, principal: Principal | null): Response {
  if (principal === null) {
    return refuse('unauthorized', 'the API key is missing, malformed, revoked or expired');
  }
  const needed = access === 'group' ? "a group's key" : "an organisation's key";
  return refuse('forbidden', `this route takes ${needed}`);
}
