import type { Clock } from '../../../ledger/ports.ts';
import type { Log } from '../../platform/log.ts';
import type { PortalPrincipal, Principal } from './auth.ts';
import { isUnavailable, refuse, refuseInvalid, TRY_AGAIN } from './errors.ts';
import { urlOf } from './url.ts';

/** Log lines for 503s in a second: during an outage, callers retry again and again. */
const UNAVAILABLE_LINES_MAX = 10;
export const REQUEST_ID = 'x-request-id';
const REQUEST_ID_SANE = /^[\w.:/+=-]{1,128}$/;

/** Who called and when the request began; null where that is unknown. */
export type RequestTrace = {
  readonly principal: Principal | PortalPrincipal | null;
  readonly began: number;
};

export type RequestIds = {
  /**
   * The caller's, or a new one. It is on a refusal, on a success where the caller sent one, and on
   * each answer for which it was asked for here.
   */
  idOf(request: Request): string;
};

/**
 * Request ids, and one log line for each request that failed (for every request at level debug).
 * Only a few 503s in each second have a line; the first line of the next second says how many had
 * none.
 */
export class RequestLog implements RequestIds {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #newRequestId: () => string;
  readonly #logsAll: boolean;
  /** Ids that were used before the response was finished: by a log line, or a record. */
  readonly #ids = new WeakMap<Request, string>();
  /** Why a request got a 503. */
  readonly #reasons = new WeakMap<Request, string>();
  #second = { began: Number.NEGATIVE_INFINITY, lines: 0 };
  #leftOut = 0;

  constructor(options: { clock: Clock; log: Log; newRequestId: () => string }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#newRequestId = options.newRequestId;
    this.#logsAll = options.log.isLevelEnabled('debug');
  }

  finish(request: Request, response: Response, trace: RequestTrace | null): Response {
    const given = request.headers.get(REQUEST_ID);
    const { status } = response;
    const isNamed = given !== null || status >= 400 || this.#ids.has(request);
    if (!isNamed && !this.#logsAll) return response;
    const id = this.#idOf(request, given);
    if (isNamed) response.headers.set(REQUEST_ID, id);
    if (status >= 500 || this.#logsAll) this.#write(request, { id, status, trace });
    return response;
  }

  /** The response for an error that was thrown. Its text is logged and not sent. */
  failed(request: Request, error: unknown): Response {
    if (hasLeft(error)) {
      this.#log.debug({ method: request.method }, 'the caller left before the body had come');
      return refuseInvalid([{ path: [], message: 'ended before it was complete' }]);
    }
    if (isUnavailable(error)) {
      this.#reasons.set(request, String(error));
      return refuse('service_unavailable', TRY_AGAIN);
    }
    const requestId = this.idOf(request);
    this.#log.error({ requestId, err: error }, 'request failed');
    return refuse(
      'internal_error',
      'an internal error occurred; the request id finds it in the log',
    );
  }

  /** The id that the log and the answer name it by. */
  idOf(request: Request): string {
    return this.#idOf(request, request.headers.get(REQUEST_ID));
  }

  #idOf(request: Request, given: string | null): string {
    if (given !== null && REQUEST_ID_SANE.test(given)) return given;
    const known = this.#ids.get(request);
    if (known !== undefined) return known;
    const id = this.#newRequestId();
    this.#ids.set(request, id);
    return id;
  }

  #write(
    request: Request,
    { id, status, trace }: { id: string; status: number; trace: RequestTrace | null },
  ): void {
    if (status === 503 && !this.#logsAll && !this.#hasRoom()) return;
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    const why = this.#reasons.get(request);
    const principal = trace?.principal ?? null;
    const fields = {
      requestId: id,
      method: request.method,
      // Without the query, which may hold e-mail addresses.
      path: withoutToken(urlOf(request).pathname),
      status,
      ...(trace !== null && {
        ms: Math.round((this.#clock.monotonic() - trace.began) * 1e3) / 1e3,
      }),
      ...((principal?.kind === 'organisation' || principal?.kind === 'portal') && {
        organisation: principal.organisationId,
        mode: principal.mode,
      }),
      ...(principal?.kind === 'group' && { group: principal.groupId, mode: principal.mode }),
      ...(why !== undefined && { why }),
      ...(leftOut > 0 && { leftOut }),
    };
    if (why !== undefined) this.#log.warn(fields, 'request');
    else if (status >= 500) this.#log.info(fields, 'request');
    else this.#log.debug(fields, 'request');
  }

  /** Whether another line of a 503 may be written in this second. */
  #hasRoom(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#second.began >= 1000) this.#second = { began: now, lines: 0 };
    this.#second.lines += 1;
    if (this.#second.lines <= UNAVAILABLE_LINES_MAX) return true;
    this.#leftOut += 1;
    return false;
  }
}

/** The end of a hosted page's address is a credential: a reader of the log could use it. */
function withoutToken(path: string): string {
  const hosted = path.replace(
    /^\/(pay|portal|sandbox\/challenges|api\/invoices\/links\/open)\/[^/]+/,
    '/$1/*',
  );
  // Whole tokens, too, in an address that was not copied right.
  return hosted.replaceAll(/[0-9A-Za-z]{43,}/g, '*');
}

/** What reading a body throws when the client has disconnected: no failure of ours. */
function hasLeft(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
