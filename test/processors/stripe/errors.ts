// Stripe's refusals: a status and the error object.
import type { ErrorBody, Intent } from './types.ts';

/** A call that Stripe refuses. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  /** Whether it had begun to execute: only then its answer is kept under its idempotency key. */
  readonly ran: boolean;

  constructor(status: number, body: ErrorBody, ran: boolean) {
    super(body.message);
    this.status = status;
    this.body = body;
    this.ran = ran;
  }
}

/** The connection ends without an answer; what the call did stays. */
export class Lost extends Error {}

type More = Partial<Omit<ErrorBody, 'type' | 'message'>>;

/** A parameter is not valid: nothing has executed. */
export function invalid(message: string, more: More = {}): Refusal {
  return new Refusal(400, { type: 'invalid_request_error', message, ...more }, false);
}

/** The call is well formed, but what it asks for cannot be done. */
export function refused(message: string, more: More = {}): Refusal {
  return new Refusal(400, { type: 'invalid_request_error', message, ...more }, true);
}

export function missing(what: string, id: string, param: string, status = 404): Refusal {
  const body: ErrorBody = {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${what}: '${id}'`,
    param,
  };
  return new Refusal(status, body, true);
}

export function unexpectedState(message: string, intent: Intent): Refusal {
  return refused(message, {
    code: 'payment_intent_unexpected_state',
    payment_intent: structuredClone(intent),
  });
}

export function rateLimited(): Refusal {
  const message = 'Request rate limit exceeded. You can learn more about rate limits in the docs.';
  return new Refusal(429, { type: 'invalid_request_error', code: 'rate_limit', message }, false);
}

export function lockTimeout(): Refusal {
  const message =
    'This object cannot be accessed right now because another request is currently accessing it.';
  return new Refusal(429, { type: 'invalid_request_error', code: 'lock_timeout', message }, false);
}

export function serverError(): Refusal {
  return new Refusal(500, { type: 'api_error', message: 'An unknown error occurred.' }, true);
}
