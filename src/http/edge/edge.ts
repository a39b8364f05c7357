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
import { Turns } from '../../../ledger/kernel/turns.ts';
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
import { Entrance } from './entrance.ts';
import { isCrossSite } from './cross-site.ts';
import { hasKey, type Described } from '../openapi/document.ts';
import { refuse } from './errors.ts';
import type { Keyed } from '../idempotency/keyed.ts';
import type { Call, Handler, Operation } from '../operation.ts';
import {
  Callers,
  type Guarded,
  type KeyedOperation,
  type PortalOperation,
  type Scope,
} from '../policy.ts';
import type { AdmitPortal } from '../portal/visitor.ts';
import { type RequestIds, type RequestTrace, RequestLog } from './request-log.ts';

/** An operation with its handler, as the app mounts it. */
export type Route = readonly [
  handler: (context: Incoming) => Promise<Response>,
  hook: { readonly detail: Described },
];

type Incoming = { readonly request: Request; readonly params?: Readonly<Record<string, string>> };

export type Edge = {
  /** For an organisation's key. */
  organisation<const O extends KeyedOperation>(
    operation: O,
    handler: Handler<O, OrganisationPrincipal>,
  ): Route;
  /** For a group's key. */
  group<const O extends KeyedOperation>(operation: O, handler: Handler<O, GroupPrincipal>): Route;
  /** For a customer with a portal token, which is the parameter `token`. */
  portal<const O extends PortalOperation>(
    operation: O,
    handler: Handler<O, PortalPrincipal>,
  ): Route;
  /** Without authentication: the address is the credential, or there is nothing to protect. */
  open<const O extends Operation>(operation: O, handler: Handler<O, null>): Route;
  readonly callers: Pick<Callers, 'may'>;
  readonly requestIds: RequestIds;
  /** For the long steps of calls. */
  readonly turns: Pick<Turns, 'next'>;
  /**
   * Before a request that no route takes: undefined where it may begin now, else it waits for that.
   */
  enter(): Promise<void> | undefined;
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

/**
 * A longer body is parsed in a turn of its own: other requests are answered before the next one is,
 * and before it goes on.
 */
const STEP_LENGTH_MIN = 64 * 1024;

const NO_PARAMS: Readonly<Record<string, string>> = {};

export function createEdge(options: EdgeOptions): Edge {
  const { authenticate, admitPortal, keyed, audited, clock, timers } = options;
  const requests = new RequestLog(options);
  const leaving = new Leaving();
  const turns = new Turns(timers);
  const entrance = new Entrance(timers);
  const callers = new Callers();
  const finish = finisher(requests, leaving);

  function route<const O extends Operation, P extends Principal | PortalPrincipal | null>(
    guarded: Guarded,
    operation: O,
    handler: Handler<O, P>,
  ): Route {
    const { access } = guarded;
    const admission = new Admission(operation, access);
    const { byKeys, byUsers } = audited.of<O, P>(guarded, keyed(operation, handler), requests);
    const allowed = callers.of(guarded);
    async function answer({ request, params = NO_PARAMS }: Incoming): Promise<Response> {
      const began = clock.monotonic();
      let principal: Principal | PortalPrincipal | null = null;
      let response: Response | undefined;
      let perform = byKeys;
      try {
        const turn = entrance.enter(began);
        if (turn !== undefined) await turn;
        if (hasKey(access)) {
          const known = authenticate(request.headers.get('authorization'));
          principal = known instanceof Promise ? await known : known;
          response = refuseCaller(access, principal, allowed);
          if (principal?.actor.kind === 'user') perform = byUsers;
        } else if (guarded.access === 'portal') {
          const admitted = await admitPortal(request, params['token'] ?? '', guarded.operation);
          if (admitted instanceof Response) response = admitted;
          else principal = admitted;
        }
        response ??= refuseForm(admission, request);
        if (response === undefined) {
          const text = await takeBody(request, admission.bodyMax.bytes, admission.media);
          if (isLong(text)) await turns.next();
          const call =
            text instanceof Response ? text : admission.admit({ request, params, principal, text });
          if (isLong(text)) await breathe(timers);
          // `admit` has checked the body, and `access` decides the principal: two asserted types.
          const acted = call instanceof Response ? call : perform(call as unknown as Call<O, P>);
          response = acted instanceof Promise ? await acted : acted;
        }
      } catch (error) {
        response = requests.failed(request, error);
      }
      return finish(request, response, { principal, began });
    }
    return [answer, { detail: { operationId: operation.operationId, ...guarded } }];
  }

  return {
    organisation: (operation, handler) =>
      route({ access: 'organisation', operation }, operation, handler),
    group: (operation, handler) => route({ access: 'group', operation }, operation, handler),
    portal: (operation, handler) => route({ access: 'portal', operation }, operation, handler),
    open: (operation, handler) => route({ access: 'open', operation }, operation, handler),
    callers,
    requestIds: requests,
    turns,
    enter: () => entrance.enter(clock.monotonic()),
    finish: (request, response) => finish(request, response, null),
    failed: (request, error) => requests.failed(request, error),
    leave: () => leaving.begin(),
  };
}

/** What each response passes. */
function finisher(requests: RequestLog, leaving: Leaving) {
  return (request: Request, response: Response, trace: RequestTrace | null): Response => {
    leaving.mark(response);
    return requests.finish(request, response, trace);
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

const isLong = (text: string | Response): boolean =>
  typeof text === 'string' && text.length >= STEP_LENGTH_MIN;

/** undefined where the page of the form sends it. */
function refuseForm(admission: Admission, request: Request): Response | undefined {
  return admission.isForm(request) && isCrossSite(request)
    ? refuse('forbidden', 'this form can be sent from its own page only')
    : undefined;
}

/** undefined where it may call. */
function refuseCaller(
  access: 'organisation' | 'group',
  principal: Principal | null,
  allowed: ReadonlySet<Scope>,
): Response | undefined {
  if (principal === null) {
    return refuse('unauthorized', 'the API key is missing, malformed, revoked or expired');
  }
  const { kind, scope } = principal;
  if (kind === access) {
    if (allowed.has(scope)) return undefined;
    return refuse('forbidden', `a key with the scope ${scope} may not do this`);
  }
  const needed = access === 'group' ? "a group's key" : "an organisation's key";
  return refuse('forbidden', `this route takes ${needed}`);
}
