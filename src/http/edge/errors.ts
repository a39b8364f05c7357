// Every refusal, in the contract's body. Codes are stable; messages are for people and may change.
// Public text and internal cause never share a field: the text of an exception is logged, not sent.
import { mayPass } from '../../platform/postgres/may-pass.ts';

/** The closed list of codes, each with its status. */
export const STATUS_OF = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  invalid_request: 400,
  checkout_create_failed: 400,
  validation_error: 400,
  insufficient_balance: 402,
  payment_failed: 402,
  conflict: 409,
  invalid_state: 409,
  idempotency_in_progress: 409,
  idempotency_key_reused: 422,
  rate_limited: 429,
  payload_too_large: 413,
  unsupported_media_type: 415,
  method_not_allowed: 405,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;

export type Issue = { readonly path: readonly string[]; readonly message: string };

/**
 * A 503: the service knows that it cannot answer now. Any other exception is a bug or a lost
 * connection.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

export type RefusalOptions = {
  readonly issues?: readonly Issue[];
  readonly headers?: Readonly<Record<string, string>>;
};

/** Headers that a code always carries. */
const HEADERS_OF: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  unauthorized: { 'www-authenticate': 'Bearer' },
  idempotency_in_progress: { 'retry-after': '1' },
  service_unavailable: { 'retry-after': '1' },
};

export function refuse(code: ErrorCode, message: string, options: RefusalOptions = {}): Response {
  return new Response(errorText(code, message, options.issues), {
    status: STATUS_OF[code],
    headers: { 'content-type': 'application/json', ...HEADERS_OF[code], ...options.headers },
  });
}

/** The body alone, for answers that are stored or nested. */
export function errorText(code: ErrorCode, message: string, issues?: readonly Issue[]): string {
  return JSON.stringify({ error: { type: code, message, ...(issues && { issues }) } });
}

/** For a call whose Idempotency-Key is being executed, on this node or another. */
export function inProgress(): Response {
  return refuse('idempotency_in_progress', 'a request with this Idempotency-Key is being executed');
}

/** It is the only 409 that has Retry-After. */
export function isInProgress({ status, headers }: Response): boolean {
  return status === STATUS_OF.idempotency_in_progress && headers.has('retry-after');
}

export function refuseInvalid(issues: readonly Issue[]): Response {
  return refuse('invalid_request', messageOf(issues), { issues });
}

/** The first of the issues in words; `whole` is what has no path. */
export function messageOf(issues: readonly Issue[], whole = 'the body'): string {
  const first = issues[0];
  if (first === undefined) return 'invalid request';
  const where = first.path.length === 0 ? whole : first.path.join('.');
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return `${where} ${first.message}${more}`;
}

/** The refusal of one item of a call, beside the answers of the others. */
export type ItemRefusal = {
  readonly error: {
    readonly type: ErrorCode;
    readonly message: string;
    readonly issues?: readonly Issue[];
  };
};

export function refuseItem(type: ErrorCode, message: string): ItemRefusal {
  return { error: { type, message } };
}

/** The paths begin at the item. */
export function refuseInvalidItem(issues: readonly Issue[]): ItemRefusal {
  return { error: { type: 'invalid_request', message: messageOf(issues, 'the item'), issues } };
}

/** Of what could not be answered now, whole or in part. */
export const TRY_AGAIN = 'the service cannot answer now: try again';

/** Whether a retry may help. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Unavailable || mayPass(error);
}
