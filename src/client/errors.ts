// The errors of the client: a class for each kind, and a table from the contract's `type` to it.
//
// Every error is a `TollhouseError`. Those of an answer have its status; those without an answer
// have `status: null` and a `ClientType`.
import { STATUS_OF } from './operations.ts';
import type { ErrorType, Issue } from './types.ts';

/** Without an answer of the service. */
export type ClientType =
  | 'connection_failed'
  | 'deadline_exceeded'
  | 'queue_full'
  | 'client_closed'
  | 'webhook_not_verified';

export type ErrorDetails = {
  /** A type that this release does not know stays as it came. */
  readonly type: ErrorType | ClientType | (string & {});
  readonly status: number | null;
  readonly issues?: readonly Issue[] | undefined;
  readonly requestId?: string | null | undefined;
  readonly retryAfterMs?: number | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
  readonly cause?: unknown;
};

export class TollhouseError extends Error {
  override readonly name: string = 'TollhouseError';
  readonly type: ErrorDetails['type'];
  readonly status: number | null;
  readonly issues: readonly Issue[];
  /** For support; null without an answer. */
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  /**
   * The key under which the call may be made again: it counts once, whatever became of this one.
   */
  readonly idempotencyKey: string | null;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.type = details.type;
    this.status = details.status;
    this.issues = details.issues ?? [];
    this.requestId = details.requestId ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.idempotencyKey = details.idempotencyKey ?? null;
  }

  /** The same error for a call that has a key: calls of one batch share all else. */
  withKey(idempotencyKey: string): TollhouseError {
    return this.#with({ message: this.message, idempotencyKey });
  }

  /** The same error, for what its call was a part of. */
  saying(message: string): TollhouseError {
    return this.#with({ message, idempotencyKey: this.idempotencyKey });
  }

  #with(own: { readonly message: string; readonly idempotencyKey: string | null }): TollhouseError {
    const { type, status, issues, requestId, retryAfterMs, cause } = this;
    const { message, idempotencyKey } = own;
    const details = { type, status, issues, requestId, retryAfterMs, cause, idempotencyKey };
    return new (this.constructor as ErrorClass)(message, details);
  }
}

/** 400, 405, 413, 415: the request itself is wrong; `issues` says where. */
export class InvalidRequestError extends TollhouseError {
  override readonly name = 'InvalidRequestError';
}
/** 401: the key is missing, wrong, revoked or expired. */
export class AuthenticationError extends TollhouseError {
  override readonly name = 'AuthenticationError';
}
/** 402 `insufficient_balance`. */
export class InsufficientBalanceError extends TollhouseError {
  override readonly name = 'InsufficientBalanceError';
}
/** 402 `payment_failed`. */
export class PaymentFailedError extends TollhouseError {
  override readonly name = 'PaymentFailedError';
}
/** 403: the key is valid and may not do this. */
export class PermissionError extends TollhouseError {
  override readonly name = 'PermissionError';
}
/** 404: absent, or another organisation's. */
export class NotFoundError extends TollhouseError {
  override readonly name = 'NotFoundError';
}
/** 409 `conflict` and `invalid_state`. */
export class ConflictError extends TollhouseError {
  override readonly name = 'ConflictError';
}
/** 409 `idempotency_in_progress` and 422 `idempotency_key_reused`. */
export class IdempotencyError extends TollhouseError {
  override readonly name = 'IdempotencyError';
}
/** 429. */
export class RateLimitedError extends TollhouseError {
  override readonly name = 'RateLimitedError';
}
/** 500 and every other 5xx but 503: a bug of the service, or of what is before it. */
export class ServerError extends TollhouseError {
  override readonly name = 'ServerError';
}
/** 502, 503, 504: the service cannot answer now. */
export class UnavailableError extends TollhouseError {
  override readonly name = 'UnavailableError';
}
/** No answer, or a broken one. Without a key it is unknown whether the call was done. */
export class ConnectionError extends TollhouseError {
  override readonly name = 'ConnectionError';

  constructor(message: string, details: Partial<ErrorDetails> = {}) {
    super(message, { type: 'connection_failed', status: null, ...details });
  }
}
/** The call's own time is over; `cause` is what the last attempt came to, where there was one. */
export class DeadlineError extends TollhouseError {
  override readonly name = 'DeadlineError';

  constructor(message: string, details: Partial<ErrorDetails> = {}) {
    super(message, { type: 'deadline_exceeded', status: null, ...details });
  }
}
/** Too many calls are waiting in this client: await `ready()` before the next one. Not sent. */
export class QueueFullError extends TollhouseError {
  override readonly name = 'QueueFullError';

  constructor(message: string, details: Partial<ErrorDetails> = {}) {
    super(message, { type: 'queue_full', status: null, ...details });
  }
}
/** Called after `close()`. Not sent. */
export class ClosedError extends TollhouseError {
  override readonly name = 'ClosedError';

  constructor(message = 'the client is closed', details: Partial<ErrorDetails> = {}) {
    super(message, { type: 'client_closed', status: null, ...details });
  }
}
/** A webhook that must not be trusted. */
export class WebhookVerificationError extends TollhouseError {
  override readonly name = 'WebhookVerificationError';

  constructor(message: string, details: Partial<ErrorDetails> = {}) {
    super(message, { type: 'webhook_not_verified', status: null, ...details });
  }
}

type ErrorClass = new (message: string, details: ErrorDetails) => TollhouseError;

const CLASS_OF: Readonly<Record<ErrorType, ErrorClass>> = {
  unauthorized: AuthenticationError,
  forbidden: PermissionError,
  not_found: NotFoundError,
  invalid_request: InvalidRequestError,
  checkout_create_failed: InvalidRequestError,
  validation_error: InvalidRequestError,
  insufficient_balance: InsufficientBalanceError,
  payment_failed: PaymentFailedError,
  conflict: ConflictError,
  invalid_state: ConflictError,
  idempotency_in_progress: IdempotencyError,
  idempotency_key_reused: IdempotencyError,
  rate_limited: RateLimitedError,
  payload_too_large: InvalidRequestError,
  unsupported_media_type: InvalidRequestError,
  method_not_allowed: InvalidRequestError,
  internal_error: ServerError,
  service_unavailable: UnavailableError,
};

/** The type of an answer that has none: a load balancer's, say. */
function typeOfStatus(status: number): ErrorType {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not_found';
  if (status === 413) return 'payload_too_large';
  if (status === 429) return 'rate_limited';
  if (status === 502 || status === 503 || status === 504) return 'service_unavailable';
  return status >= 500 ? 'internal_error' : 'invalid_request';
}

/** The error of an answer; `body` is what was parsed of it, if anything. */
export function answerError(
  status: number,
  body: unknown,
  of: { readonly requestId: string | null; readonly retryAfterMs?: number | null },
): TollhouseError {
  const said = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const type = typeof said['type'] === 'string' ? said['type'] : typeOfStatus(status);
  const message = typeof said['message'] === 'string' ? said['message'] : `the answer is ${status}`;
  const issues = Array.isArray(said['issues']) ? (said['issues'] as Issue[]) : undefined;
  const known = Object.hasOwn(CLASS_OF, type) ? CLASS_OF[type as ErrorType] : null;
  const Class = known ?? CLASS_OF[typeOfStatus(status)];
  return new Class(message, { type, status, issues, ...of });
}

/** How a call ends whose time is over: with what the service said last, if it said anything. */
export function overdue(last?: TollhouseError): TollhouseError {
  if (last !== undefined && !(last instanceof ConnectionError)) return last;
  const why = last === undefined ? '' : `: ${last.message}`;
  return new DeadlineError(`no answer before the deadline${why}`, { cause: last });
}

/** The error of one item of a batch, which has no status of its own. */
export function itemError(error: unknown, requestId: string | null): TollhouseError {
  const type = isRecord(error) && typeof error['type'] === 'string' ? error['type'] : '';
  const status = Object.hasOwn(STATUS_OF, type) ? STATUS_OF[type as ErrorType] : 500;
  return answerError(status, { error }, { requestId });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
